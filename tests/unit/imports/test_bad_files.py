"""Result files that are broken, unknown or odd: one line with the file and what to do, or read for what they hold."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specbench.errors import DataError
from specbench.imports.known_tools import runs_at
from specbench.report.compared.compared_formats import FORMATS_OF_COMPARISONS, compared_as
from specbench.report.compared.two_results import two_results
from tests.support.imported import judged, vllm_result

FILES = Path("tests/golden/imports")


def written(folder: Path, content: str, name: str = "result.json") -> Path:
    """A file with that content."""
    file = folder / name
    file.write_text(content)
    return file


@pytest.mark.parametrize(
    ("content", "line", "what"),
    [
        (json.dumps(vllm_result())[:300], "1", "ends inside value 1"),
        (json.dumps(vllm_result(), indent=1)[:80], "4", "ends inside value 1"),
        (json.dumps(vllm_result()) + "\n" + json.dumps(vllm_result())[:200], "2", "after 1 whole ones"),
        ('{"a": 1,,}', "1", "not JSON"),
        ("PK no json", "1", "not JSON"),
    ],
)
def test_a_file_that_was_cut_off_says_where_it_ends(tmp_path: Path, content: str, line: str, what: str) -> None:
    """With the line; a mistake inside is none of a cut."""
    file = written(tmp_path, content)

    with pytest.raises(DataError, match=re.escape(f"{file}:{line}: ")) as found:
        runs_at(file)
    assert what in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("content", ["", " \n", "[]", "{}", '{"a": 1}', "3", '"text"', "[1, 2]", "null"])
def test_a_file_of_no_tool_names_the_known_ones(tmp_path: Path, content: str) -> None:
    """Or that it is empty; its keys are shown."""
    with pytest.raises(DataError) as found:
        runs_at(written(tmp_path, content))
    assert "GuideLLM" in str(found.value) or "is empty" in str(found.value)
    assert ('"a"' in content) == ("its keys: a" in str(found.value))


@pytest.mark.parametrize(
    ("keys", "named"),
    [({"build_commit": "x", "model_filename": "y"}, "llama-bench"), ({"results_inter_token_latency_s_mean": 1}, "llmperf")],
)
def test_tools_that_measure_something_else_are_refused_by_name(tmp_path: Path, keys: dict[str, object], named: str) -> None:
    """One measures no endpoint, the other's time between tokens holds the first one."""
    with pytest.raises(DataError, match=named):
        runs_at(written(tmp_path, json.dumps(keys)))


def test_several_objects_in_one_json_file_are_repeats(tmp_path: Path) -> None:
    """As `--append-result` leaves them, one a line; the tool's bare numbers that are none are read too."""
    odd = {"request_goodput": float("nan"), "rtfx": float("inf")}
    lines = [json.dumps(vllm_result(date=f"20261130-04472{at}", **odd)) for at in range(3)]
    assert "NaN" in lines[0]

    assert len(runs_at(written(tmp_path, "\n".join(lines)))) == 3


def test_copies_of_a_result_count_once(tmp_path: Path) -> None:
    """Copies would be repeats that agree to the digit; runs in which nothing succeeded are no copies of each other."""
    again, other = json.dumps(vllm_result()), json.dumps(vllm_result(output_throughput=90.0))
    for name, content in (("1.json", again), ("2.json", again), ("both.jsonl", f"{again}\n{other}")):
        written(tmp_path, content, name)
    found = runs_at(tmp_path)
    nothing = json.dumps(vllm_result(completed=0, failed=4, ttfts=[0.0] * 4, itls=[[]] * 4, output_lens=[0] * 4))

    assert [(run.values["output_tps_whole_run"], run.notes) for run in found] == [(100.0, ("copies_left_out",)), (90.0, ())]
    assert len(runs_at(written(tmp_path, f"{nothing}\n{nothing}"))) == 2


def test_two_names_of_one_result_are_not_compared(tmp_path: Path) -> None:
    """The file itself, a copy of it, and a run of ours."""
    file = written(tmp_path, json.dumps(vllm_result()))
    copy = written(tmp_path, json.dumps(vllm_result(), indent=1), "copy.json")
    for a, b in ((file, file), (file, copy), (Path("reports/example"), Path("reports/example/result.json"))):
        with pytest.raises(DataError, match=re.escape(f"{a} and {b} ")):
            two_results(a, b, 0.1)


def test_a_sweep_is_read_without_its_warm_up_failures_and_summary(tmp_path: Path) -> None:
    """Its folder has one file a run; the summary stands in where those are gone."""
    results = [vllm_result(output_throughput=rate) for rate in (98.0, 99.0, 100.0, 101.0)]
    for name, held in zip(("run=0.json", "run=1.json", "warmup.json", "run=2.failure.json"), results, strict=True):
        written(tmp_path, json.dumps(held), name)
    summary = written(tmp_path, json.dumps(results[:3]), "summary.json")

    assert [run.files[0].path for run in runs_at(tmp_path)] == [str(tmp_path / f"run={at}.json") for at in (0, 1)]
    assert len(runs_at(summary)) == 3


def test_a_stream_of_vllm_that_died_is_a_failure(tmp_path: Path) -> None:
    """A first token after 0 s and no token at all: older clients called that a success."""
    held = vllm_result(ttfts=[0.1, 0.1, 0.1, 0.0], output_lens=[11, 11, 11, 0], itls=[[0.02] * 10] * 3 + [[]])
    (run,) = runs_at(written(tmp_path, json.dumps(held)))

    assert (run.attempted, run.failed) == (4, 1)


def test_zeros_of_a_run_without_success_are_no_times(tmp_path: Path) -> None:
    """The client writes 0 for every statistic then; without a `failed` field the count comes from the rest."""
    bare = {key: value for key, value in vllm_result().items() if not isinstance(value, list) and key != "failed"}
    (run,) = runs_at(written(tmp_path, json.dumps(bare | {"completed": 0, "median_ttft_ms": 0.0, "output_throughput": 0.0})))

    assert (run.attempted, run.failed, run.summary, run.values) == (4, 4, {}, {})


def test_a_summary_alone_has_the_percentiles_that_were_asked_for(tmp_path: Path) -> None:
    """Nothing stands in for a p95 that is not there."""
    bare = {key: value for key, value in vllm_result().items() if not isinstance(value, list)}
    (run,) = runs_at(written(tmp_path, json.dumps(bare)))

    assert run.summary == {"ttft_p50": 100.0, "tpot_classic_p50": 20.0, "chunk_gap_p50": 20.0}
    assert run.requests == ()


@pytest.mark.parametrize("suffix", ["profile_export_aiperf.json", "profile_export.jsonl"])
def test_a_version_that_calls_a_metric_otherwise_is_refused(tmp_path: Path, suffix: str) -> None:
    """AIPerf of schema 2.0 without its gaps: the file, the version and the metric."""
    for name in ("profile_export_aiperf.json", "profile_export.jsonl"):
        text = (FILES / f"aiperf-0.13.0-baseline.{name}").read_text()
        (tmp_path / name).write_text(text.replace("inter_chunk_latency", "chunk_gap").replace('"1.4"', '"2.0"'))

    with pytest.raises(DataError, match=r"AIPerf schema 2\.0 lacks inter_chunk_latency"):
        runs_at(tmp_path / suffix)


def test_a_cancelled_run_of_aiperf_says_so(tmp_path: Path) -> None:
    """It is read, and no comparison of it is valid."""
    name = "profile_export_aiperf.json"
    held = json.loads((FILES / f"aiperf-0.13.0-baseline.{name}").read_text())
    (run,) = runs_at(written(tmp_path, json.dumps(held | {"was_cancelled": True}), name))

    assert run.broken_off == "cancelled"
    assert run.requests == ()


def test_a_folder_passes_over_what_is_no_result(tmp_path: Path) -> None:
    """Inputs, tables and other files beside; an empty folder is refused."""
    shutil.copy(FILES / "aiperf-0.13.0-both.inputs.json", tmp_path / "inputs.json")
    written(tmp_path, '{"other": 1}', "notes.json")
    with pytest.raises(DataError, match="of no tool"):
        runs_at(tmp_path)
    written(tmp_path, json.dumps(vllm_result()), "one.json")
    assert len(runs_at(tmp_path)) == 1
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"no \.json"):
        runs_at(tmp_path / "empty")


def test_secrets_of_a_url_stay_in_the_file(tmp_path: Path) -> None:
    """A password in the address that a tool kept."""
    text = (FILES / "guidellm-0.8.1-baseline-run1.benchmarks.json").read_text()
    (run,) = runs_at(written(tmp_path, text.replace("http://127.0.0.1:18701", "http://me:hunter2@127.0.0.1:18701")))

    assert "hunter2" not in str(run.url)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
SAMPLES = [
    "unverified-sglang-baseline.jsonl",
    "unverified-genai-bench-baseline.json",
    "unverified-llamacpp-speculative.json",
    "unverified-inference-perf-baseline/per_request_lifecycle_metrics.json",
]


def refusal(file: Path) -> str | None:
    """The error at reading the file; None where it is read, and then no time in it is below zero."""
    try:
        runs = runs_at(file)
    except DataError as error:
        return str(error)
    assert all(value >= 0 for run in runs for one in run.requests for value in one.times_ms.values())
    found = judged(runs, runs)
    assert found.verdict in ("INVALID", "HOLD")
    assert all(compared_as(found, format) for format in FORMATS_OF_COMPARISONS)
    return None


def containers(held: Any) -> list[Any]:
    """Every object and list in it that holds something."""
    inner = list(held.values()) if isinstance(held, dict) else held if isinstance(held, list) else []
    return [one for one in [held] if inner] + [found for one in inner for found in containers(one)]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_value_under_any_key_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A file whose keys promise what their values are not."""
    held = json.loads((FILES / data.draw(st.sampled_from(SAMPLES))).read_text())
    place = data.draw(st.sampled_from(containers(held)))
    key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
    place[key] = data.draw(ANY)
    file = written(tmp_path_factory.mktemp("any"), json.dumps(held))

    error = refusal(file)

    assert error is None or (str(file) in error and "\n" not in error)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00", "is packed; unpack it with gunzip"),
        (b"PK\x03\x04\x14\x00", "is packed; unpack it with unzip"),
        (bytes(64), "holds zeros alone, so what it held is lost; copy it again"),
        ('{"a": "na\xefve"}'.encode("latin-1"), "is not UTF-8 text (byte 9); name the tool's JSON file, or save it as UTF-8"),
        ('{"a": 1}'.encode("utf-16-le"), "is UTF-16 text; save it as UTF-8"),
    ],
)
def test_what_is_no_text_is_named_for_what_it_is(content: bytes, what: str, tmp_path: Path) -> None:
    """A packed file has zeros near its beginning as text of another encoding has."""
    file = tmp_path / "result.json"
    file.write_bytes(content)

    with pytest.raises(DataError) as found:
        runs_at(file)
    assert str(found.value) == f"{file}: {what}"
