"""What a run keeps of its answers: a line per compared prompt, marks of their form, and none of their text."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from specbench.engine.reference_endpoint.reference_endpoint import WORDS
from tests.support.commands import specbench
from tests.support.truthful import truth_endpoint

pytestmark = [pytest.mark.slow, pytest.mark.beside]
TWO_SERVERS = """\
name: words
arms:
  baseline: {{engine: vllm, url: '{baseline}', model: truth}}
  speculative: {{engine: vllm, url: '{speculative}', model: truth}}
workload:
  source: {{corpus: python}}
  bins: [{{name: all, input_tokens: [16, 32], output_tokens: [16, 16]}}]
matrix: {{concurrency: [4], pairs: 2, schedule: simultaneous, block: {{min_requests: 10, min_s: 1, max_s: 6}}}}
"""
PLAIN, FASTER = ("--ttft-ms", "20", "--interval-us", "5000"), ("--ttft-ms", "20", "--interval-us", "4000")
PARAMETERS = "{type: object, properties: {path: {type: string}}, required: [path]}"
TOOLS = f"{{tools: [{{type: function, function: {{name: write, parameters: {PARAMETERS}}}}}], tool_choice: required}}"
CALLS = f"""\
name: calls
arms:
  baseline: {{engine: embedded, extra_body: {TOOLS}}}
  speculative:
    engine: embedded
    speculative: {{method: draft_model, num_speculative_tokens: 4}}
    extra_body: {TOOLS}
    options: {{faults: {{garble_tool_call: 0.5}}}}
workload:
  source: {{corpus: python}}
  route: chat
  bins: [{{name: all, input_tokens: [16, 32], output_tokens: [16, 24]}}]
  sampling: [{{name: greedy, temperature: 0}}]
matrix: {{concurrency: [4], pairs: 2, schedule: simultaneous, block: {{min_requests: 10, min_s: 1, max_s: 6}}}}
"""


def run(folder: Path, scenario: str, *words: str) -> Path:
    """The folder of a run of this scenario."""
    file = folder.with_suffix(".yaml")
    file.write_text(scenario)
    specbench("run", str(file), "--profile", "smoke", "--out", str(folder), *words)
    return folder


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    """The facts in this file."""
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def answered_in_both(folder: Path) -> set[tuple[str, int]]:
    """Every pair's prompts that both arms answered well."""
    arms: dict[str, set[tuple[str, int]]] = {"baseline": set(), "speculative": set()}
    for record in lines(folder, "requests.jsonl"):
        place, _, arm = record["block"].rpartition("/")
        if record["outcome"] == "ok":
            arms[arm].add((place, record["index"]))
    return arms["baseline"] & arms["speculative"]


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two servers that say the same words."""
    folder = tmp_path_factory.mktemp("runs") / "words"
    with truth_endpoint(*PLAIN) as before, truth_endpoint(*FASTER) as after:
        return run(folder, TWO_SERVERS.format(baseline=before, speculative=after))


def test_there_is_a_line_for_each_compared_prompt(words: Path) -> None:
    """All that both arms answered under load, up to 256, and as many after it as make 128; here both say the same."""
    compared = lines(words, "answers.jsonl")
    of_load = [line for line in compared if line["cell"] is not None]
    both = answered_in_both(words)

    assert len(of_load) == min(256, len(both)) > 20
    assert {(f"{line['cell']}/p{line['pair']:02d}", line["index"]) for line in of_load} <= both
    assert len(compared) >= min(128, len(of_load))
    assert all(line["equal"] for line in compared)


def test_no_text_of_an_answer_is_in_the_folder(words: Path) -> None:
    """Not three words of any, in any file, though each answer has sixteen."""
    spoken = "".join(WORDS[:3]).encode()

    assert len(spoken) > 8
    assert [file.name for file in words.iterdir() if spoken in file.read_bytes()] == []


@pytest.mark.campaign
def test_broken_tool_calls_are_marked(tmp_path: Path) -> None:
    """Half of the speculative arm's, and none of the baseline's."""
    folder = run(tmp_path / "calls", CALLS)
    marked: Counter[tuple[str, bool]] = Counter()
    for record in lines(folder, "requests.jsonl"):
        if record["outcome"] == "ok":
            marked[(record["block"].rpartition("/")[2], "bad_tool_call" in record["marks"])] += 1

    assert marked[("baseline", True)] == 0 < marked[("baseline", False)]
    assert marked[("speculative", True)] / (marked[("speculative", True)] + marked[("speculative", False)]) == pytest.approx(
        0.5, abs=0.1
    )
