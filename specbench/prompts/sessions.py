"""Whole conversations of a dataset as sessions: one turn after another, each behind its history. Pure.

Both arms of a pair get the same sessions in the same order. The history is what the dataset recorded, so that every prompt is the
same in both; or (`history: own`) it has the arm's own answers, for which the messages of later turns only mark the places.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import NamedTuple

import msgspec

from specbench.errors import DataError
from specbench.model.scenario import Sessions
from specbench.prompts.dataset.row import Message, Row
from specbench.prompts.sampler import Prompt, PromptSource, limit_of

OWN_ANSWER = b"\0"
"""Marks in a body where an answer of the arm's own is put in: a byte that stands in no JSON text."""


class SessionTurn(NamedTuple):
    """A turn of a conversation and the bin that it lies in."""

    bin: str
    row: Row


@dataclass(frozen=True, slots=True)
class DrawnSession:
    """One session to be sent: its prompts, and how long its user thinks before each but the first, in seconds."""

    prompts: tuple[Prompt, ...]
    think_s: tuple[float, ...]


def conversations_of(rows: Mapping[str, Sequence[Row]], asked: Sessions) -> tuple[tuple[SessionTurn, ...], ...]:
    """The conversations among these rows, from their first turn on without a gap, that have as many turns as are asked for.

    With `history: own` a conversation ends before a turn that only its recorded answers lead to, as a tool's result does.
    """
    found: dict[str, dict[int, SessionTurn]] = {}
    for name, held in rows.items():
        for row in held:
            if row.session is not None and not row.made_up:
                found.setdefault(row.session, {})[row.turn] = SessionTurn(name, row)
    whole = []
    for _, turns in sorted(found.items()):
        run: list[SessionTurn] = []
        while (turn := turns.get(len(run))) is not None and (asked.history != "own" or _follows(run, turn)):
            run.append(turn)
        if len(run) >= asked.turns[0]:
            whole.append(tuple(run[: asked.turns[1]]))
    return tuple(whole)


def check_sessions(path: str, rows: Mapping[str, Sequence[Row]], asked: Sessions, largest: int) -> None:
    """Nothing, where the sampled rows hold a conversation for each stream of the largest load.

    Raises:
        DataError: they hold fewer, or none.
    """
    least = asked.turns[0]
    count = len(conversations_of(rows, asked))
    if count >= max(1, largest):
        return
    if not any(row.turn for held in rows.values() for row in held):
        raise DataError(
            f"{path}: its rows have no turns, and workload.sessions sends conversations; give a dataset of conversations with"
            " workload.source.turns: each, or leave sessions out"
        )
    plain = ", each a question behind a plain answer (history: own)" if asked.history == "own" else ""
    raise DataError(
        f"{path}: {count:,} of its sampled conversations have {least} turns in a row that some bin takes{plain}, and the largest"
        f" load needs {max(1, largest):,}; lower workload.sessions.turns, widen the bins, or raise workload.source.sample"
    )


def session(drawing: PromptSource, asked: Sessions, place: str, number: int, first_index: int) -> DrawnSession:
    """Session `number` of the pair named `place`, whose first prompt has this index; within a pair none comes again before all
    others have."""
    every = drawing.conversations
    start = random.Random(f"{drawing.seed}/{place}/sessions").randrange(len(every))
    rng = random.Random(f"{drawing.seed}/{place}/session/{number}")
    held = every[(start + number) % len(every)]
    turns = held[: rng.randint(asked.turns[0], min(asked.turns[1], len(held)))]
    samplings = drawing.workload.sampling
    bands = {band.name: band.output_tokens for band in drawing.workload.bins}
    sent = _own_history(turns) if asked.history == "own" else [row.messages for _, row in turns]
    prompts = [
        Prompt(
            index=first_index + turn,
            text=row.text,
            bin=name,
            sampling=samplings[number % len(samplings)],
            max_tokens=limit_of(row) or rng.randint(*bands[name]),
            system=row.system,
            messages=messages,
            fields=row.fields,
            session=number,
            turn=turn,
        )
        for turn, ((name, row), messages) in enumerate(zip(turns, sent, strict=True))
    ]
    return DrawnSession(tuple(prompts), tuple(rng.uniform(*asked.think_s) for _ in turns[1:]))


def body_parts(body: bytes) -> tuple[bytes, ...]:
    """The body before the first answer that is put in, and what follows each of them; the body alone where there is none."""
    return tuple(body.split(OWN_ANSWER))


def _own_history(turns: Sequence[tuple[str, Row]]) -> list[tuple[Message, ...]]:
    """The messages of each turn, with a mark in the place of each answer to an earlier one; the first turn's as they are."""
    sent, found = _messages(turns[0][1]), [turns[0][1].messages]
    for (_, before), (_, row) in pairwise(turns):
        sent = (*sent, {"role": "assistant", "content": msgspec.Raw(OWN_ANSWER)}, *_added(before, row))
        found.append(sent)
    return found


def _follows(run: Sequence[SessionTurn], turn: SessionTurn) -> bool:
    """Whether the turn can stand behind other answers than those that were recorded; the first of a conversation always can."""
    return not run or bool(_added(run[-1].row, turn.row))


def _added(before: Row, row: Row) -> tuple[Message, ...]:
    """What the user adds behind the answer to the turn before; nothing where the turn does not go on from that answer alone."""
    had, has = _messages(before), _messages(row)
    behind = has[len(had) :] if has[: len(had)] == had else ()
    answered = tuple(takewhile(lambda message: message["role"] == "assistant", behind))
    added = behind[len(answered) :]
    return added if answered and all(message["role"] in ("user", "system") for message in added) else ()


def _messages(row: Row) -> tuple[Message, ...]:
    """The row's whole list of messages."""
    system: tuple[Message, ...] = () if row.system is None else ({"role": "system", "content": row.system},)
    return row.messages or (*system, {"role": "user", "content": row.text})
