"""Conversations are sent whole: the same in both arms, each turn behind what the dataset recorded before it."""

from dataclasses import replace
from typing import Any

import pytest

from specbench.errors import DataError
from specbench.model.scenario import Bin, Sampling, Sessions, Workload
from specbench.prompts.dataset.conversations import requests_in
from specbench.prompts.dataset.row import Row
from specbench.prompts.request_body import body_of
from specbench.prompts.sampler import PromptSource
from specbench.prompts.sessions import DrawnSession, body_parts, check_sessions, conversations_of, session
from specbench.prompts.token_estimate import DEFAULT_ESTIMATOR
from tests.support.evidence import an_arm

TWO_TO_THREE = Sessions(turns=(2, 3), think_s=(1.0, 2.0))


def rows(*lengths: int) -> dict[str, tuple[Row, ...]]:
    """Conversations of so many turns, their first turns in bin `short`, the others in bin `long`."""
    found: dict[str, list[Row]] = {"short": [], "long": []}
    for number, length in enumerate(lengths):
        turns: list[dict[str, str]] = []
        for turn in range(length):
            turns += [{"role": "user", "content": f"q{number}.{turn}"}, {"role": "assistant", "content": f"a{number}.{turn}"}]
        for row in requests_in(turns, "each"):
            assert isinstance(row, Row)
            found["short" if row.turn == 0 else "long"].append(row._replace(session=str(number)))
    return {name: tuple(held) for name, held in found.items()}


def drawing(*lengths: int) -> PromptSource:
    """What draws from such conversations."""
    return drawing_from(rows(*lengths))


def drawing_from(held: dict[str, tuple[Row, ...]]) -> PromptSource:
    """What draws from these rows."""
    workload = Workload(
        corpus=None, dataset="d.jsonl", route="chat", length="natural", streaming=True, shared_prefix_tokens=0,
        bins=(
            Bin(name="short", input_tokens=(1, 9), output_tokens=(5, 5), weight=1.0),
            Bin(name="long", input_tokens=(10, 99), output_tokens=(7, 8), weight=1.0),
        ),
        sampling=(Sampling(name="greedy", temperature=0.0, top_p=None, top_k=None, seed=None),),
        sessions=TWO_TO_THREE,
    )  # fmt: skip
    return PromptSource(
        documents=(), unit=DEFAULT_ESTIMATOR, workload=workload, seed=1, rows=held,
        conversations=conversations_of(held, TWO_TO_THREE),
    )  # fmt: skip


def drawn(source: PromptSource, number: int, place: str = "c1/p00", first: int = 0) -> DrawnSession:
    """Session `number` of that pair."""
    return session(source, TWO_TO_THREE, place, number, first)


def test_conversations_have_the_turns_asked_for_from_their_first_on() -> None:
    """One turn is no conversation, and no more than three are sent; a turn that no bin takes ends it."""
    held = rows(1, 2, 5, 4)
    held["long"] = tuple(row for row in held["long"] if (row.session, row.turn) != ("3", 1))

    assert [len(turns) for turns in conversations_of(held, TWO_TO_THREE)] == [2, 3]


def test_each_turn_stands_behind_the_recorded_history() -> None:
    """The dataset's answers, so that both arms get one prompt; the turns of one session have indices in a row."""
    one = drawn(drawing(3), 0, first=10)
    texts = [[str(message["content"]) for message in asked.messages] or [asked.text] for asked in one.prompts]

    assert texts[0] == ["q0.0"]
    assert texts[1] == ["q0.0", "a0.0", "q0.1"]
    assert [(asked.index, asked.session, asked.turn) for asked in one.prompts[:2]] == [(10, 0, 0), (11, 0, 1)]
    assert (one.prompts[0].bin, one.prompts[0].max_tokens, one.prompts[1].bin) == ("short", 5, "long")
    assert len(one.think_s) == len(one.prompts) - 1
    assert all(1.0 <= pause <= 2.0 for pause in one.think_s)


OWN = Sessions(turns=(2, 3), think_s=(1.0, 2.0), history="own")
CALL = {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}


def talk(*turns: tuple[str, str] | dict[str, Any]) -> dict[str, tuple[Row, ...]]:
    """A single conversation of these turns, (role, content) or whole."""
    listed = [turn if isinstance(turn, dict) else {"role": turn[0], "content": turn[1]} for turn in turns]
    found = [row._replace(session="0") for row in requests_in(listed, "each") if isinstance(row, Row)]
    return {"short": tuple(row for row in found if row.turn == 0), "long": tuple(row for row in found if row.turn)}


def bodies(held: dict[str, tuple[Row, ...]]) -> list[tuple[bytes, ...]]:
    """The messages of each turn of the only conversation, in parts, as JSON."""
    (turns,) = conversations_of(held, OWN)
    source = replace(drawing_from(held), conversations=(turns,))
    one = session(source, replace(OWN, turns=(len(turns), len(turns))), "c1/p00", 0, 0)
    whole = [body_of(asked, source.workload, "m", {}, an_arm()) for asked in one.prompts]
    return [tuple(part.partition(b'"messages":')[2] or part for part in body_parts(body)) for body in whole]


def test_own_answers_have_their_places_between_the_recorded_questions() -> None:
    """Each answer's, whatever was recorded there; a system text stays, and what was said before the first question."""
    held = talk(
        ("system", "Be\nbrief \\u0000."), ("user", 'q"0"'), ("assistant", "a0"), ("assistant", "more"), ("user", "q1"),
        ("assistant", "a1"), ("user", "q2"),
    )  # fmt: skip
    first, second, third = bodies(held)

    assert len(first) == 1
    system = b'{"role":"system","content":"Be\\nbrief \\\\u0000."}'
    assert second[0] == b'[%b,{"role":"user","content":"q\\"0\\""},{"role":"assistant","content":' % system
    assert second[1].startswith(b'},{"role":"user","content":"q1"}],')
    assert third[:2] == (second[0], b'},{"role":"user","content":"q1"},{"role":"assistant","content":')
    assert third[2].startswith(b'},{"role":"user","content":"q2"}],')


@pytest.mark.parametrize(
    "held",
    [
        talk(("user", "q0"), CALL, {"role": "tool", "content": "3", "tool_call_id": "c"}, ("assistant", "a0"), ("user", "q1")),
        {"short": (Row("q0", session="0"),), "long": (Row("q1", session="0", turn=1),)},
    ],
    ids=["a tool's result", "questions that do not go on"],
)
def test_a_turn_that_its_own_answers_do_not_lead_to_is_not_sent(held: Any) -> None:
    """With the dataset's history it is, and a dataset that holds nothing else is refused with the reason."""
    assert len(conversations_of(held, TWO_TO_THREE)) == 1
    assert conversations_of(held, OWN) == ()
    with pytest.raises(DataError, match=r"each a question behind a plain answer \(history: own\)"):
        check_sessions("d.jsonl", held, OWN, 1)


def test_both_arms_get_the_same_sessions_and_none_twice_before_all_came() -> None:
    """By number and pair alone; another pair begins elsewhere."""
    source = drawing(*[3] * 40)
    firsts = [drawn(source, number).prompts[0].text for number in range(40)]
    others = [drawn(source, number, "c1/p01").prompts[0].text for number in range(40)]

    assert firsts == [drawn(source, number).prompts[0].text for number in range(40)]
    assert len(set(firsts)) == 40
    assert firsts != others
    assert {len(drawn(source, number).prompts) for number in range(40)} == {2, 3}


@pytest.mark.parametrize(
    ("held", "largest", "said"),
    [
        (rows(1, 1), 1, "d.jsonl: its rows have no turns"),
        (
            rows(3, 2, 1),
            4,
            "d.jsonl: 2 of its sampled conversations have 2 turns in a row that some bin takes, and the largest load",
        ),
    ],
)
def test_a_dataset_without_enough_conversations_is_refused(held: Any, largest: int, said: str) -> None:
    """With the remedy."""
    with pytest.raises(DataError) as refused:
        check_sessions("d.jsonl", held, TWO_TO_THREE, largest)

    assert str(refused.value).startswith(said)
    check_sessions("d.jsonl", rows(3, 2, 1), TWO_TO_THREE, 2)
