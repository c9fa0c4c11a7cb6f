"""What an endpoint wrote is taken only as what it should be, and no engine's reader fails on anything else."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from specbench.telemetry import ENGINES, telemetry_of
from specbench.telemetry.json_fields import count_in, counts_in, flag_in, number_in, object_in, objects_in, word_in
from tests.support.scrapes import answer, recorded, scrape_of

STRANGE: tuple[Any, ...] = (None, True, -1, 1.5, float("nan"), "", "x", [], [1], ["x"], [None], {}, {"x": 1})
VLLM_INFO = {"vllm_config": {"model_config": {"revision": "a", "enforce_eager": True}, "speculative_config": {"method": "ngram"}}}
EVENTS: dict[str, Any] = {
    "vllm": {"metrics": {"speculative_decoding": {"acceptance_histogram": [1, 2], "num_spec_steps": 3, "num_draft_tokens": 4}}},
    "llamacpp": {"timings": {"draft_n": 3, "draft_n_accepted": 2, "draft_by_depth": [{"depth": 1, "draft_n_accepted": 2}]}},
    "sglang": {
        "sglext": {"spec_tokens_details": {"spec_verify_ct": 3, "spec_correct_drafts_histogram": [1, 2]}},
        "meta_info": {},
    },
}
PAGES: dict[str, dict[str, Any]] = {
    "vllm": {"/v1/models": json.loads(recorded("vllm-base-models.txt")), "/server_info?config_format=json": VLLM_INFO},
    "llamacpp": {path: json.loads(recorded(f"llamacpp-ngram-{path[1:]}.txt")) for path in ("/props", "/slots")},
    "sglang": {"/server_info": json.loads(recorded("sglang-server_info.json"))},
    "tgi": {"/info": json.loads(recorded("tgi-info.json"))},
    "trtllm": {"/version": {"version": "1"}, "/metrics": json.loads(recorded("trtllm-iterations-during.json"))},
    "embedded": {"/v1/models": json.loads(recorded("embedded-models.json"))},
}


def variants(value: Any) -> Iterator[Any]:
    """The value with each single part of it replaced by each strange thing in turn."""
    yield from STRANGE
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from ({**value, name: other} for other in variants(inner))
    elif isinstance(value, list) and len(value) <= 4:
        for place, inner in enumerate(value):
            yield from ([*value[:place], other, *value[place + 1 :]] for other in variants(inner))


def test_a_value_of_another_type_is_not_there() -> None:
    """A count is a whole number of at least 0 and of this world, a truth value is no number, an empty text says nothing."""
    fields: dict[str, Any] = {
        "a": -1,
        "b": True,
        "c": 3,
        "d": "x",
        "e": "",
        "f": [1, 2],
        "g": [1, -1],
        "h": {"i": 1},
        "j": float("nan"),
        "k": 1.5,
        "l": 10**24,
        "m": [1, 10**24],
    }

    assert [count_in(fields, name) for name in "abcdkl"] == [None, None, 3, None, None, None]
    assert count_in(fields, "a", "z", "c") == 3
    assert [counts_in(fields, name) for name in "cfgm"] == [None, (1, 2), None, None]
    assert [number_in(fields, name) for name in "abcdjk"] == [None, None, 3.0, None, None, 1.5]
    assert [flag_in(fields, name) for name in "abc"] == [None, True, None]
    assert [word_in(fields, name) for name in "bcdefk"] == [None, "3", "x", None, None, "1.5"]
    assert (object_in(fields, "h"), object_in(fields, "f")) == ({"i": 1}, {})
    assert (objects_in({"x": [1, {"y": 2}]}, "x"), objects_in(fields, "h")) == ([{"y": 2}], [])


@pytest.mark.parametrize("name", EVENTS)
def test_no_event_makes_an_engine_fail(name: str) -> None:
    """An answer's event is counted or not; whatever it holds, counts are at least 0."""
    read = ENGINES[name].stream.answer_counts
    assert read is not None
    for event in variants(EVENTS[name]):
        counts = read(event) if isinstance(event, dict) else None

        assert counts is None or all(count is None or count >= 0 for count in (counts.rounds, counts.drafted, counts.accepted))


@pytest.mark.parametrize("name", PAGES)
def test_no_answer_makes_an_engine_fail(name: str) -> None:
    """Whatever JSON an endpoint answers to the paths of facts, facts are texts, and the engine is recognised or not."""
    pages = {path: answer(json.dumps(page)) for path, page in PAGES[name].items()}
    for path, page in PAGES[name].items():
        for other in variants(page):
            answers = {**pages, path: answer(json.dumps(other))}
            facts = ENGINES[name].facts(answers)

            assert {type(value) for value in facts.values()} <= {str}
            assert "" not in facts.values()
            assert ENGINES[name].recognises(answers) in (True, False)


@pytest.mark.parametrize(
    ("name", "records"),
    [
        ("trtllm", json.loads(recorded("trtllm-iterations-during.json"))),
        ("llamacpp", json.loads(recorded("llamacpp-ngram-slots.txt"))),
    ],
)
def test_no_record_makes_an_engine_fail(name: str, records: list[dict[str, Any]]) -> None:
    """Whatever a JSON page hands out, telemetry has values or reasons."""
    records[0]["is_processing"] = True
    before, after = scrape_of("[]"), scrape_of("[]", second=2)
    for other in variants(records):
        telemetry = telemetry_of(before, [scrape_of(json.dumps(other), second=1)], after, ENGINES[name])

        assert (telemetry.acceptance is None) == ("acceptance" in telemetry.absent)
