"""Answers of both arms from socket to verdict: what the baseline is asked, what the speculative arm is not, what comes of it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import specbench
from tests.support.relay import relayed_engine

pytestmark = [pytest.mark.slow, pytest.mark.beside]
DRAFTS = {"method": "draft_model", "num_speculative_tokens": 4}
SMALL = """\
name: small
arms:
  baseline: {{engine: embedded, url: '{baseline}'}}
  speculative: {{engine: embedded, url: '{speculative}', declare: {{speculation: "on"}}}}
workload:
  source: {{corpus: python}}
  route: completions
  bins: [{{name: all, input_tokens: [16, 24], output_tokens: [20, 28]}}]
  sampling: [{{name: greedy, temperature: 0}}, {{name: sampled, temperature: 0.8, top_p: 0.95}}]
matrix: {{concurrency: [4, 8], pairs: 2, schedule: simultaneous, block: {{min_requests: 8, min_s: 0.5, max_s: 6}}}}
answers: {{prompts: 64}}
"""
SHORT = ("--set", "workload.bins=[{name: all, input_tokens: [16, 24], output_tokens: [24, 32]}]")
FAULTS = "arms.speculative.options.faults={verifier: %s}"


def test_a_run_compares_its_answers_and_asks_the_baseline_alone(tmp_path: Path) -> None:
    """Its report counts them; the speculative arm is sent nothing for it; judged again without servers it says the same."""
    file, folder = tmp_path / "small.yaml", tmp_path / "run"
    with relayed_engine() as baseline, relayed_engine(speculative=DRAFTS) as speculative:
        file.write_text(SMALL.format(baseline=baseline.url, speculative=speculative.url))
        done = specbench("run", str(file), "--profile", "smoke", "--out", str(folder))
    lines = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]
    summary = json.loads((folder / "answers_summary.json").read_text())
    before = (folder / "result.json").read_bytes()

    assert done.returncode in (0, 30), done.stderr
    assert "answers: asking the baseline" in done.stderr
    for word in (b'"prompt_logprobs"', b'"logprobs"', b'"n_probs"', b'"echo"'):
        assert word not in speculative.heard
    assert b'"prompt_logprobs":20' in baseline.heard.replace(b" ", b"")
    assert summary["ruler"] == 1.0
    assert sum(one["sampling"] == "greedy" for one in lines) >= 64
    assert all(one["equal"] for one in lines if one["sampling"] == "greedy")
    assert all(one["scores"] is not None for one in lines if one["sampling"] == "sampled")
    assert {one["cell"] for one in lines} >= {"c4", "c8"}
    assert any("Answers:" in note and "greedy ones equal" in note for note in json.loads(before)["notes"])
    assert specbench("analyze", str(folder)).returncode == 0
    assert (folder / "result.json").read_bytes() == before


@pytest.mark.campaign
def test_a_verifier_that_forgets_the_last_token_is_found_without_timing(tmp_path: Path) -> None:
    """The command alone: exit 20, the finding by its name; nothing is left behind."""
    done = answers("{lost_token: 0.05}", "--prompts", "64", *SHORT, cwd=tmp_path)

    assert done.returncode == 20, done.stdout + done.stderr
    assert "FAIL answers_greedy" in done.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("fault", "code", "named"),
    [
        ("{lenient: 0}", 0, "PASS answers_sampled"),
        ("{lost_token: 0.05}", 20, "FAIL answers_greedy"),
        ("{lenient: 5}", 20, "FAIL answers_sampled"),
        ("{no_residual: true}", 20, "FAIL answers_sampled"),
        ("{temperature: 1.1}", 20, "FAIL answers_sampled"),
    ],
)
def test_each_broken_rule_of_verification_is_found_at_256_prompts(fault: str, code: int, named: str) -> None:
    """And the same verifier without a fault is not."""
    done = answers(fault)

    assert done.returncode == code, done.stdout + done.stderr
    assert named in done.stdout


@pytest.mark.campaign
def test_the_check_alone_names_the_loads_of_a_fault_in_large_batches() -> None:
    """All required loads are asked; nothing is timed, so no prompt is asked twice to find a cache."""
    done = answers("{lost_token: 0.05, from_batch: 4}")

    assert done.returncode == 20, done.stdout + done.stderr
    assert re.search(r"16 streams [1-9]\d* of \d+, at 4 streams [1-9]\d* of \d+, at 1 stream 0 of \d+", done.stdout)
    assert "twice" not in done.stderr


@pytest.mark.campaign
def test_a_fault_in_large_batches_alone_is_named_with_its_load(tmp_path: Path) -> None:
    """At 4 streams it shows, at 1 stream it does not."""
    folder = tmp_path / "run"
    fault = ("--set", FAULTS % "{lost_token: 0.3, from_batch: 4}", "--set", "matrix.concurrency=[1, 4]")
    specbench("run", "scenarios/code.yaml", "--profile", "smoke", "--set", "matrix.pairs=8", *fault, "--out", str(folder))
    finding = findings(folder)["answers_greedy"]

    assert finding["state"] == "FAIL"
    assert re.search(r"4 streams [1-9]\d* of \d+", finding["reason"])
    assert re.search(r"1 stream 0 of \d+", finding["reason"])


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("arm", "verdicts"), [("speculative", {"ROLLBACK"}), ("baseline", {"PROMOTE", "CAPPED", "HOLD", "INVALID"})]
)
def test_broken_tool_calls_count_against_the_arm_that_breaks_them(tmp_path: Path, arm: str, verdicts: set[str]) -> None:
    """Half of the calls of one arm: ROLLBACK where that arm speculates, with the mark's name; never where it is the baseline."""
    folder = tmp_path / "run"
    schema = "{type: object, properties: {path: {type: string}}, required: [path]}"
    tools = f"{{tools: [{{type: function, function: {{name: write, parameters: {schema}}}}}]}}"
    words = [f"workload.extra_body={tools}", "workload.route=chat", f"arms.{arm}.options.faults={{garble_tool_call: 0.5}}"]
    settings = [word for each in words for word in ("--set", each)]
    specbench("run", "scenarios/code.yaml", "--profile", "smoke", "--up-to", "4", *settings, "--out", str(folder))
    result = json.loads((folder / "result.json").read_text())

    assert result["verdict"] in verdicts
    if arm == "speculative":
        assert findings(folder)["answers_form"]["state"] == "FAIL"
        assert "bad_tool_call" in findings(folder)["answers_form"]["reason"]


@pytest.mark.campaign
def test_noise_in_both_arms_changes_no_answer_clearly(tmp_path: Path) -> None:
    """Over half of the greedy answers differ, none of them clearly."""
    folder = tmp_path / "run"
    noise = [word for arm in ("baseline", "speculative") for word in ("--set", f"arms.{arm}.options.jitter_nats=0.1")]
    specbench("run", "scenarios/code.yaml", "--profile", "smoke", *noise, "--out", str(folder))
    greedy = [one for one in map(json.loads, (folder / "answers.jsonl").read_text().splitlines()) if one["temperature"] == 0]

    assert sum(not one["equal"] for one in greedy) > len(greedy) / 2
    assert findings(folder)["answers_greedy"]["state"] == "PASS"


@pytest.mark.campaign
@pytest.mark.parametrize("pairs", [2, 3])
def test_engines_that_are_started_for_their_blocks_are_asked_in_their_last_start(tmp_path: Path, pairs: int) -> None:
    """Whichever arm comes last, the missing answers and the questions are asked once each engine is up."""
    folder = tmp_path / "run"
    words = ["matrix.schedule=restart", f"matrix.pairs={pairs}", "matrix.concurrency=[4]", "answers.prompts=64"]
    settings = [word for each in words for word in ("--set", each)]
    specbench("run", "scenarios/code.yaml", "--profile", "smoke", *settings, *SHORT, "--out", str(folder))
    lines = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]

    assert len(lines) >= 128
    assert json.loads((folder / "answers_summary.json").read_text())["ruler"] == 1.0


def answers(fault: str, *words: str, cwd: Path | None = None) -> Any:
    """The finished command, on the shipped scenario with this fault in the speculative verifier."""
    return specbench("answers", str(Path("scenarios/code.yaml").absolute()), "--set", FAULTS % fault, *words, cwd=cwd)


def findings(folder: Path) -> dict[str, dict[str, Any]]:
    """The findings over the run, by metric."""
    result = json.loads((folder / "result.json").read_text())
    return {one["metric"]: one for one in result["run_findings"]}
