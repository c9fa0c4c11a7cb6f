"""Result files of other tools, held to what the engines counted; those marked unverified, to the numbers written into them."""

import json
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from specbench.analysis.imported.imported_verdict import ArmNames, compare_imported
from specbench.imports.known_tools import runs_at
from specbench.model.imported import ImportedRun
from specbench.model.imported_result import ImportedComparison, ImportedMetric

FILES = Path("tests/golden/imports")
TRUTH: dict[str, dict[str, Any]] = json.loads((FILES / "truth.json").read_text())
VLLM, AIPERF = "vllm-bench-serve-0.32.0-{}.json", "aiperf-0.13.0-{}.profile_export.jsonl"
GUIDELLM = "guidellm-0.8.1-{}.benchmarks.json"
ARMS = ("baseline", "speculative")


def one_run(name: str) -> ImportedRun:
    """The only run in that file."""
    (run,) = runs_at(FILES / name)
    return run


def compared(baseline: list[str], speculative: list[str]) -> ImportedComparison:
    """The comparison of these files."""
    arms = [[run for name in names for run in runs_at(FILES / name)] for names in (baseline, speculative)]
    return compare_imported(arms[0], arms[1], ArmNames("A", "B", arms[0][0].tool, "a tool"))


def both(pattern: str) -> dict[str, ImportedMetric]:
    """The metrics of the two arms' files, by our name."""
    found = compared([pattern.format("baseline")], [pattern.format("speculative")])
    return {one.ours: one for one in found.cells[0].metrics}


def test_vllm_counts_are_those_of_the_engine() -> None:
    """Acceptance 2.762 and 44.06 %, tokens and requests as the engine counted them."""
    run, truth = one_run(VLLM.format("speculative")), TRUTH["vllm-speculative"]

    assert run.values["acceptance_length"] == pytest.approx(1 + truth["accepted"] / truth["rounds"])
    assert run.values["acceptance_length"] == pytest.approx(2.762, abs=5e-4)
    assert run.values["acceptance_rate"] == pytest.approx(0.4406, abs=5e-5)
    assert sum(one.output_tokens or 0 for one in run.requests) == truth["emitted_tokens"]
    assert (run.attempted, run.failed) == (truth["requests"], 0)


def test_vllm_times_are_named_as_ours() -> None:
    """Its ITL is the gap between chunks; its TPOT the classic one. One says 1.9 times, the other 0.84."""
    metrics = both(VLLM)

    gaps, tpot = metrics["chunk_gap_p50"], metrics["tpot_classic_p50"]
    assert gaps.theirs == "ITL"
    assert [gaps.baseline, gaps.speculative] == pytest.approx([12.55, 23.81], abs=5e-3)
    assert [tpot.baseline, tpot.speculative] == pytest.approx([19.76, 16.60], abs=5e-3)
    assert tpot.same_prompts


def test_vllm_details_agree_with_its_own_summary() -> None:
    """What is computed from single requests is what the tool printed of them."""
    run = one_run(VLLM.format("speculative"))

    for quantity, held in (("ttft", 264.525), ("tpot_classic", 16.6002), ("e2e", 1220.824)):
        values = [one.times_ms[quantity] for one in run.requests if quantity in one.times_ms]
        assert median(values) == pytest.approx(held, abs=1e-3)
        assert run.summary[f"{quantity}_p50"] == pytest.approx(held, abs=1e-3)


@pytest.mark.parametrize("arm", ARMS)
def test_aiperf_leaves_the_warm_up_out_and_counts_its_error(arm: str) -> None:
    """52 lines are 4 of the warm-up and 48 of the run, of which one failed without a code."""
    run = one_run(AIPERF.format(arm))

    assert (run.left_out, run.attempted, run.failed) == (4, 48, 1)
    assert run.left_out + len(run.requests) == TRUTH[f"aiperf-{arm}"]["requests"]
    assert run.url == {"baseline": "http://127.0.0.1:18701", "speculative": "http://127.0.0.1:18702"}[arm]


def test_aiperf_keeps_both_its_times_apart() -> None:
    """What it calls inter-token latency is the classic TPOT, its inter-chunk latency the gap; failures count as +∞."""
    run, metrics = one_run(AIPERF.format("speculative")), both(AIPERF)

    assert run.values["acceptance_length"] == pytest.approx(2.859, abs=5e-4)
    assert run.values["acceptance_rate"] == pytest.approx(0.4649, abs=5e-5)
    assert run.summary["tpot_classic_p50"] == pytest.approx(14.352, abs=1e-3)
    assert metrics["chunk_gap_p50"].baseline == pytest.approx(12.58, abs=0.01)
    assert metrics["tpot_classic_p50"].speculative == pytest.approx(14.47, abs=0.01)
    assert metrics["tpot_classic_p50"].n.speculative == 48


def test_either_file_of_aiperf_brings_the_other() -> None:
    """The lines and the summary lie beside each other under the same beginning."""
    lines, summary = one_run(AIPERF.format("baseline")), one_run("aiperf-0.13.0-baseline.profile_export_aiperf.json")

    assert lines.requests == summary.requests
    assert lines.version == summary.version == "0.13.0"
    assert len(lines.files) == 2


@pytest.mark.parametrize(("number", "length"), [(1, 3.018), (2, 3.002)])
def test_guidellm_has_the_engines_counts_of_each_request(number: int, length: float) -> None:
    """Its own tokens per iteration are no acceptance; what the engine told it is."""
    run, truth = one_run(GUIDELLM.format(f"speculative-run{number}")), TRUTH[f"guidellm-speculative-run{number}"]

    assert run.values["acceptance_length"] == pytest.approx(length, abs=5e-4)
    assert run.values["acceptance_length"] == pytest.approx(1 + truth["accepted"] / truth["rounds"])
    assert sum(one.output_tokens or 0 for one in run.requests) == truth["emitted_tokens"]


@pytest.mark.parametrize(("number", "ratio"), [(1, 0.98), (2, 1.22)])
def test_guidellm_is_paired_by_body_and_says_nothing_alone(number: int, ratio: float) -> None:
    """One command twice: 2 % faster, then 22 % slower. Neither is more than unclear."""
    found = compared([GUIDELLM.format(f"baseline-run{number}")], [GUIDELLM.format(f"speculative-run{number}")])
    tpot = next(one for one in found.cells[0].metrics if one.ours == "tpot_classic_p50")

    assert (found.verdict, found.indication) == ("HOLD", "unclear")
    assert tpot.ratio == pytest.approx(ratio, abs=5e-3)
    assert tpot.same_prompts


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_two_baselines_are_never_faster_or_slower(order: tuple[int, int]) -> None:
    """26 % apart in the median of the very same command: no metric may say anything."""
    found = compared([GUIDELLM.format(f"baseline-run{order[0]}")], [GUIDELLM.format(f"baseline-run{order[1]}")])

    assert (found.verdict, found.indication) == ("HOLD", "unclear")
    assert {one.indication for one in found.cells[0].metrics} <= {"unclear", "alike", None}


def test_repeats_of_an_arm_are_one_load() -> None:
    """Two runs an arm are one cell with two runs each."""
    found = compared(*[[GUIDELLM.format(f"{arm}-run{number}") for number in (1, 2)] for arm in ARMS])

    assert [(cell.load, cell.runs.baseline, cell.runs.speculative) for cell in found.cells] == [("4 streams", 2, 2)]
    assert not found.between_measured


def test_sglang_as_its_source_writes_it() -> None:
    """Unverified: per-token gaps against its own route, an acceptance since the server's start, a failure among the details."""
    baseline, speculative = (one_run(f"unverified-sglang-{arm}.jsonl") for arm in ARMS)

    assert [one.quantity for one in baseline.metrics][:4] == ["ttft", "tpot_classic", "itl", "e2e"]
    assert baseline.requests[0].times_ms["tpot_classic"] == pytest.approx(20.0)
    assert (speculative.attempted, speculative.failed) == (6, 1)
    assert speculative.requests[0].times_ms["e2e"] == pytest.approx(300.0)
    assert "since_the_servers_start" in {one.reason for one in speculative.not_compared}


def test_genai_bench_as_its_source_writes_it() -> None:
    """Unverified: milliseconds in one file and seconds in the other; a time of nothing left out, an error code counted."""
    baseline, speculative = (one_run(f"unverified-genai-bench-{arm}.json") for arm in ARMS)

    assert baseline.requests[0].times_ms["tpot_classic"] == pytest.approx(20.0)
    assert speculative.requests[0].times_ms["tpot_classic"] == pytest.approx(12.5)
    assert "tpot_classic" not in baseline.requests[5].times_ms
    assert (baseline.attempted, baseline.failed, baseline.pairing) == (7, 1, None)
    assert baseline.load == speculative.load == "D(100,10), 4 streams"


def test_inference_perf_as_its_source_writes_it() -> None:
    """Unverified: three tokens a chunk at 30 ms are 10 ms a token, by the server's count and not by the client's."""
    (run,) = runs_at(FILES / "unverified-inference-perf-speculative")

    assert run.requests[0].times_ms["tpot_classic"] == pytest.approx(10.0)
    assert run.requests[0].gaps_ms["chunk_gap"] == pytest.approx([30.0] * 10)
    assert run.requests[0].times_ms["ttft"] == pytest.approx(100.0)
    assert run.load == "1 requests/s"


def test_llamacpp_as_its_documentation_has_it() -> None:
    """Unverified: the server's own time per token, and neither a first token nor a gap."""
    baseline, speculative = (one_run(f"unverified-llamacpp-{arm}.json") for arm in ARMS)
    found = compared(["unverified-llamacpp-baseline.json"], ["unverified-llamacpp-speculative.json"])

    assert (baseline.requests[0].times_ms["decode_server"], speculative.requests[0].times_ms["decode_server"]) == (20.0, 12.5)
    assert speculative.values["acceptance_rate"] == pytest.approx(0.6)
    assert "ttft_p50" not in {one.ours for one in found.cells[0].metrics}
    assert found.verdict == "HOLD"
