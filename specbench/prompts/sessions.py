"""Whole conversations of a dataset as sessions: one turn after another, each behind the history that the dataset recorded. Pure.

Both arms of a pair get the same sessions in the same order; the history is the dataset's and not the arm's own answers, so that
every prompt is the same in both.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from specbench.errors import DataError
from specbench.model.scenario import Sessions
from specbench.prompts.dataset.row import Row
from specbench.prompts.sampler import Prompt, PromptSource, limit_of


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
    """The conversations among these rows, from their first turn on without a gap, that have as many turns as are asked for."""
    found: dict[str, dict[int, SessionTurn]] = {}
    for name, held in rows.items():
        for row in held:
            if row.session is not None and not row.made_up:
                found.setdefault(row.session, {})[row.turn] = SessionTurn(name, row)
    whole = []
    for _, turns in sorted(found.items()):
        run: list[SessionTurn] = []
        while (turn := turns.get(len(run))) is not None:
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
    raise DataError(
        f"{path}: {count:,} of its sampled conversations have {least} turns in a row that some bin takes, and the largest load"
        f" needs {max(1, largest):,}; lower workload.sessions.turns, widen the bins, or raise workload.source.sample"
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
    prompts = [
        Prompt(
            index=first_index + turn,
            text=row.text,
            bin=name,
            sampling=samplings[number % len(samplings)],
            max_tokens=limit_of(row) or rng.randint(*bands[name]),
            system=row.system,
            messages=row.messages,
            fields=row.fields,
            session=number,
            turn=turn,
        )
        for turn, (name, row) in enumerate(turns)
    ]
    return DrawnSession(tuple(prompts), tuple(rng.uniform(*asked.think_s) for _ in turns[1:]))
