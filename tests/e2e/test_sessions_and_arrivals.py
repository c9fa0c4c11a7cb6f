"""Conversations, a load that rises, and replayed arrivals, through the command line and against real endpoints."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.captures import delta, finish
from tests.support.chatting import ChatEndpoint, Messages, chatting, in_words
from tests.support.commands import QUICK, TOO_BUSY, specbench
from tests.support.endpoint import Behaviour, endpoint

pytestmark = [pytest.mark.slow, pytest.mark.beside]
WORDS = ("the", "run", "of", "a", "long", "night", "goes", "on", "until", "light", "is", "there", "again", "by", "the", "sea")


def records_in(folder: Path) -> list[dict[str, Any]]:
    """The folder's records."""
    return [json.loads(line) for line in lines_of(folder / "requests.jsonl")]


def lines_of(path: Path) -> list[bytes]:
    """The file's lines."""
    return path.read_bytes().splitlines()


def words(first: int, count: int) -> str:
    """So many words."""
    return " ".join(WORDS[(first * 7 + place) % len(WORDS)] for place in range(count))


def conversations(path: Path, count: int) -> None:
    """Conversations of two turns; each question and answer has forty words."""
    with path.open("w") as file:
        for number in range(count):
            turns = [
                {"role": role, "content": f"{number} {place} {words(number + place, 40)}"}
                for place, role in enumerate(("user", "assistant", "user", "assistant"))
            ]
            file.write(json.dumps({"messages": turns}) + "\n")


@pytest.mark.campaign
def test_sessions_hit_the_prefix_cache_alike_and_who_thinks_holds_a_stream(tmp_path: Path) -> None:
    """Second turns come from the cache in both arms, which get one list of prompts; the rise behind them is drawn alone."""
    conversations(tmp_path / "talks.jsonl", 60)
    scenario = tmp_path / "talks.yaml"
    scenario.write_text(
        "name: talks\n"
        f"{EMBEDDED}"
        "workload:\n"
        "  source: {dataset: talks.jsonl, turns: each}\n"
        "  sessions: {turns: [2, 2], think_s: [0.2, 0.4]}\n"
        "  bins: [{name: all, input_tokens: [1, 2000], output_tokens: [20, 90]}]\n"
        "matrix:\n"
        "  concurrency: [2]\n"
        "  pairs: 2\n"
        "  block: {min_requests: 10, min_s: 2, max_s: 10}\n"
        "  ramp: {to: 4, over_s: 2, hold_s: 1}\n"
    )
    said = specbench("run", str(scenario), "--profile", "smoke", "--out", str(tmp_path / "run"))
    assert said.returncode in (0, 30), said.stderr  # a busy machine may spoil the generator's timing
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    judged = [one for one in records_in(tmp_path / "run") if one["block"].startswith("c2/") and one["outcome"] == "ok"]
    by_arm = {arm: [one for one in judged if one["block"].endswith(arm)] for arm in ("baseline", "speculative")}

    for records in by_arm.values():
        assert min(sum(one["turn"] == turn for one in records) for turn in (0, 1)) > 3
        for one in (one for one in records if one["turn"] == 1):
            before = next(
                (b for b in records if (b["block"], b["session"], b["turn"]) == (one["block"], one["session"], 0)), None
            )
            assert before is None or (before["stream"], before["index"] + 1) == (one["stream"], one["index"])
    asked = [{(one["block"][:7], one["index"]): one["prompt_tokens"] for one in records} for records in by_arm.values()]
    assert all(asked[0][key] == asked[1][key] for key in asked[0].keys() & asked[1].keys())
    cell = result["cells"][0]
    failed = {check["id"] for check in cell["integrity"] if check["ok"] is False} - TOO_BUSY
    assert not failed & {"same_prompts", "prompt_tokens", "prefix_cache"}
    assert [part["bin"] for part in cell["turns"]] == ["first turn", "later turns"]
    assert [one["id"] for one in result["cells"]] == ["c2"]
    assert [(one["arm"], one["blocks"]) for one in result["ramp"]] == [("baseline", 2), ("speculative", 2)]
    assert "While the load rises" in (tmp_path / "run" / "report.html").read_text()
    blocks = [json.loads(line) for line in lines_of(tmp_path / "run" / "blocks.jsonl")][:4]
    assert all(block["health"]["achieved_concurrency"] > 0.8 for block in blocks)
    hits = [block["telemetry"]["prefix_hits"] / block["telemetry"]["prefix_queries"] for block in blocks]
    assert min(hits) > 0.15  # first turns have nothing in common
    assert max(hits) - min(hits) < 0.1


EMBEDDED = """arms:
  baseline: {engine: embedded}
  speculative: {engine: embedded, speculative: {method: draft_model, num_speculative_tokens: 4}}
"""
OWN_HISTORY = (
    "workload:\n"
    "  source: {dataset: talks.jsonl, turns: each}\n"
    "  sessions: {turns: [2, 2], think_s: [0.01, 0.05], history: own}\n"
    "  bins: [{name: all, input_tokens: [1, 2000], output_tokens: [20, 90]}]\n"
)
CALL = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def speaker(name: str, words_each: int) -> ChatEndpoint:
    """An endpoint with words of its own for each request; every fifth conversation it opens with a call and no word."""

    def answer(messages: Messages, number: int) -> list[bytes]:
        first = str(messages[0]["content"]).split()[0]
        if len(messages) == 1 and first.isdigit() and int(first) % 5 == 0:
            return [delta(tool_calls=[CALL]), finish("tool_calls")]
        return in_words(f'{name} "{number}"\n\\é🙂{" more" * words_each}', messages)

    return ChatEndpoint(answer, gap_s=0.004)


def own_answers(chat: ChatEndpoint, name: str) -> int:
    """How many requests hold the endpoint's own answer to what stands before it, as it was; no other answer is theirs."""
    found = 0
    for messages in chat.asked:
        for place, message in enumerate(messages):
            if message["role"] == "assistant" and not str(message["content"])[0].isdigit():  # the dataset's begin with a number
                text = str(message["content"])
                assert text.startswith(f'{name} "')
                assert text.partition("\n")[2].startswith("\\é🙂")
                assert chat.asked[int(text.split('"')[1])] == messages[:place]
                found += 1
    return found


def own_history_run(tmp_path: Path, chats: tuple[ChatEndpoint, ChatEndpoint], matrix: str, *words: str) -> dict[str, Any]:
    """The result of a run whose sessions go on from the arms' own words."""
    conversations(tmp_path / "talks.jsonl", 60)
    scenario = tmp_path / "own.yaml"
    arms = ", ".join(
        f"{arm}: {{url: '{chat.url}', declare: {{speculation: 'off'}}}}"
        for arm, chat in zip(("baseline", "speculative"), chats, strict=True)
    )
    scenario.write_text(f"name: own\narms: {{{arms}}}\n{OWN_HISTORY}matrix: {{{matrix}, pairs: 2}}\n")
    done = specbench("run", str(scenario), *QUICK, *words, "--out", str(tmp_path / "run"))
    assert done.returncode in (0, 30), done.stderr  # a busy machine may spoil the generator's timing
    found: dict[str, Any] = json.loads((tmp_path / "run" / "result.json").read_text())
    return found


def check_own_history(folder: Path, chats: tuple[ChatEndpoint, ChatEndpoint], result: dict[str, Any]) -> None:
    """Each arm's later turns held its own words, silence ended a session, and no check calls that broken."""
    talks = [one for one in records_in(folder) if one["session"] is not None]
    for chat, arm, name in zip(chats, ("baseline", "speculative"), ("Plain", "Fast"), strict=True):
        own = [one for one in talks if one["block"].endswith(arm)]
        later = [one for one in own if one["turn"] == 1]
        firsts = {(one["block"], one["session"]): one for one in own if one["turn"] == 0}
        assert later
        assert own_answers(chat, name) == len(later)
        silent = [key for key, one in firsts.items() if one["outcome"] == "ok" and one["finish_reason"] == "tool_calls"]
        assert silent
        assert not {(one["block"], one["session"]) for one in later} & set(silent)
    failed = {check["id"] for cell in result["cells"] for check in cell["integrity"] if check["ok"] is False}
    assert not failed & {"same_prompts", "prompt_tokens"}
    assert result["verdict"] == ("INVALID" if failed else "HOLD")
    assert failed or result["reasons"][0]["code"] == "own_history"


def test_a_later_turn_holds_the_arms_own_answer_and_the_run_is_held(tmp_path: Path) -> None:
    """One arm says much more than the other, so that their second prompts are nothing alike."""
    with chatting(speaker("Plain", 0)) as plain, chatting(speaker("Fast", 9)) as fast:
        block = "concurrency: [2], block: {min_requests: 12, min_s: 0.7, max_s: 6}"
        result = own_history_run(tmp_path, (plain, fast), block)

    check_own_history(tmp_path / "run", (plain, fast), result)
    later = [one for one in records_in(tmp_path / "run") if one["turn"] == 1 and one["prompt_tokens"]]
    tokens = [{one["prompt_tokens"] for one in later if one["block"].endswith(arm)} for arm in ("baseline", "speculative")]
    assert max(tokens[0]) < min(tokens[1])


@pytest.mark.campaign
@pytest.mark.parametrize("words", [(), ("--processes", "2")], ids=["one process", "two processes"])
def test_own_histories_at_a_rate_and_in_a_fleet(words: tuple[str, ...], tmp_path: Path) -> None:
    """Sessions go to one worker whole, and no block misses the turns that are never sent."""
    with chatting(speaker("Plain", 0)) as plain, chatting(speaker("Fast", 9)) as fast:
        block = "concurrency: [4], rate: [12], in_flight: 16, block: {min_requests: 20, min_s: 2, max_s: 8}"
        result = own_history_run(tmp_path, (plain, fast), block, *words)

    check_own_history(tmp_path / "run", (plain, fast), result)
    blocks = [json.loads(line) for line in lines_of(tmp_path / "run" / "blocks.jsonl")]
    assert [block["fleet"]["void"] for block in blocks if block["fleet"] is not None] == [None] * (8 if words else 0)
    assert all(max(block["backlog"]) < 12 for block in blocks if block["rate"] is not None)
    assert {block["end_reason"] for block in blocks} == {"complete"}


@pytest.mark.campaign
def test_the_embedded_engine_counts_its_own_answers_in_the_next_prompt(tmp_path: Path) -> None:
    """A second prompt has the tokens of the first, of the answer to it, and of the second question."""
    conversations(tmp_path / "talks.jsonl", 60)
    scenario = tmp_path / "own.yaml"
    scenario.write_text(
        "name: own\n"
        f"{EMBEDDED}"
        f"{OWN_HISTORY}"
        "matrix: {concurrency: [2], pairs: 2, block: {min_requests: 10, min_s: 2, max_s: 10}}\n"
    )
    done = specbench("run", str(scenario), *QUICK, "--out", str(tmp_path / "run"))
    assert done.returncode in (0, 30), done.stderr
    records = {(one["block"], one["session"], one["turn"]): one for one in records_in(tmp_path / "run") if one["outcome"] == "ok"}
    added = [
        (one["prompt_tokens"] - first["prompt_tokens"], first["output_tokens"])
        for (block, session, turn), one in records.items()
        if turn == 1 and (first := records.get((block, session, 0))) is not None
    ]

    assert len(added) > 8
    assert len({answer for _, answer in added}) > 4
    question = [more - answer for more, answer in added]
    assert max(question) - min(question) < 0.5 * (max(more for more, _ in added) - min(more for more, _ in added))


@pytest.mark.campaign
def test_a_datasets_moments_are_replayed_in_both_arms_and_a_short_trace_is_refused(tmp_path: Path) -> None:
    """At its own speed and at twice that, with the requests' moments as the trace has them."""
    gaps_s = [0.02, 0.05, 0.01, 0.2]
    at_s = [sum(gaps_s) * (place // 4) + sum(gaps_s[: place % 4]) for place in range(400)]
    with (tmp_path / "log.jsonl").open("w") as file:
        for number, moment in enumerate(at_s):
            row = {"text": words(number, 10), "session_id": str(number), "timestamp": 1000 * moment}
            file.write(json.dumps(row) + "\n")
    scenario = tmp_path / "replayed.yaml"
    with endpoint(Behaviour()) as baseline, endpoint(Behaviour()) as speculative:
        scenario.write_text(
            "name: replayed\n"
            f"arms: {{baseline: {{url: '{baseline}'}}, speculative: {{url: '{speculative}'}}}}\n"
            "workload:\n"
            "  source: {dataset: log.jsonl}\n"
            "  bins: [{name: all, input_tokens: [1, 200], output_tokens: [6, 6]}]\n"
            "matrix: {concurrency: [1], arrivals: replay, replay: {speed: [1, 2]}, pairs: 2, in_flight: 32,\n"
            "         block: {min_requests: 10, min_s: 1, max_s: 4}}\n"
        )
        short = specbench("run", str(scenario), "--profile", "smoke", "--set", "matrix.pairs=9", "--out", str(tmp_path / "short"))
        said = specbench("run", str(scenario), "--profile", "smoke", "--out", str(tmp_path / "run"))

    assert (short.returncode, "it lasts 28 s, and 9 pairs at x2 need 36 s" in short.stderr) == (65, True), short.stderr
    assert said.returncode in (0, 30), said.stderr  # a busy machine may spoil the generator's timing
    found: dict[str, list[int]] = {}
    for one in records_in(tmp_path / "run"):
        if one["block"].startswith("x"):
            found.setdefault(one["block"], []).append(one["scheduled_ns"])
    for pair in ("x1/p01", "x2/p01"):
        speed, (before, after) = int(pair[1]), (sorted(found[f"{pair}/{arm}"]) for arm in ("baseline", "speculative"))
        wanted = sorted(gap / speed for gap in gaps_s)
        for moments in (before, after):
            gaps = [(later - earlier) / 1e9 for earlier, later in pairwise(moments)]
            assert all(min(abs(gap - one) for one in wanted) < 1e-6 for gap in gaps)
        count = min(len(before), len(after))
        assert [moment - before[0] for moment in before[:count]] == [moment - after[0] for moment in after[:count]]
    blocks = [json.loads(line) for line in lines_of(tmp_path / "run" / "blocks.jsonl")]
    assert all(block["backlog"] for block in blocks if block["cell"].startswith("x"))


@pytest.mark.campaign
def test_above_what_the_endpoints_serve_latency_and_backlog_grow_and_nothing_is_promoted(tmp_path: Path) -> None:
    """Four requests at once of a fifth of a second are twenty a second: at four times the trace fifty-seven arrive."""
    gaps_s = [0.02, 0.05, 0.01, 0.2]
    with (tmp_path / "log.jsonl").open("w") as file:
        for number in range(1200):
            moment = sum(gaps_s) * (number // 4) + sum(gaps_s[: number % 4])
            row = {"text": words(number, 10), "session_id": str(number), "timestamp": 1000 * moment}
            file.write(json.dumps(row) + "\n")
    scenario = tmp_path / "outrun.yaml"
    with endpoint(Behaviour(gap_s=0.04)) as baseline, endpoint(Behaviour(gap_s=0.033)) as speculative:
        scenario.write_text(
            "name: outrun\n"
            f"arms: {{baseline: {{url: '{baseline}'}}, speculative: {{url: '{speculative}'}}}}\n"
            "workload:\n"
            "  source: {dataset: log.jsonl}\n"
            "  bins: [{name: all, input_tokens: [1, 200], output_tokens: [6, 6]}]\n"
            "matrix: {concurrency: [1], arrivals: replay, replay: {speed: [4]}, pairs: 2, in_flight: 4, primary: x4,\n"
            "         block: {min_requests: 10, min_s: 4, max_s: 6}}\n"
        )
        said = specbench("run", str(scenario), "--profile", "smoke", "--out", str(tmp_path / "run"))
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    blocks = [json.loads(line) for line in lines_of(tmp_path / "run" / "blocks.jsonl")]
    records = [one for one in records_in(tmp_path / "run") if one["block"].startswith("x4/") and one["event_ns"]]

    assert said.returncode in (0, 30), said.stderr
    assert result["verdict"] not in ("PROMOTE", "CAPPED")
    (outrun,) = (cell for cell in result["cells"] if cell["id"] == "x4")
    (kept_up,) = (one for one in outrun["findings"] if one["metric"] == "backlog")
    assert (kept_up["state"], kept_up["notes"]) == ("INCONCLUSIVE", ["outrun_both"])
    for block in (block for block in blocks if block["cell"] == "x4"):
        assert block["in_flight_limit_reached"]
        assert block["backlog"][-1] > block["backlog"][0]
        firsts = [
            one["sent_ns"] - one["scheduled_ns"] + one["event_ns"][0]
            for one in sorted(records, key=lambda one: one["index"])
            if one["block"] == block["id"]
        ]
        quarter = len(firsts) // 4
        assert min(firsts[-quarter:]) > 2 * max(firsts[: quarter // 2])
