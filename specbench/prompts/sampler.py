"""Fresh prompts for one pair of blocks: the same sequence for both arms, another one for every pair. Pure, seeded.

Prompt `index` of a pair depends on the seed, the cell, the pair and the index alone, so both arms get the same work
however many requests each of them manages to take.
"""

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from threading import Lock
from typing import Any

from specbench.model.data.datasets import Census
from specbench.model.scenario import Bin, Sampling, Workload
from specbench.prompts.dataset.row import Message, Row, whole_number
from specbench.prompts.made_up import text_of_blocks
from specbench.prompts.token_estimate import TokenEstimator, cut

ENOUGH = 0.1  # how much shorter than asked a prompt may be before another document is added
LIMITS = ("max_tokens", "max_completion_tokens")
ROOM = 6  # characters kept for each token of a prompt, more than natural text takes on average


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One request's content: its text, the bin and sampling it belongs to, and how many tokens may come back.

    `messages` stand for text and system where the request is more than a question; `fields` are sent in the body besides.
    `session` and `turn` number it where it is part of a conversation that is sent whole, from 0.
    """

    index: int
    text: str
    bin: str
    sampling: Sampling
    max_tokens: int
    system: str | None = None
    messages: tuple[Message, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    session: int | None = None
    turn: int | None = None

    @property
    def whole_text(self) -> str:
        """All text that the request holds."""
        return Row(self.text, self.system, self.messages).whole_text


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSource:
    """What prompts are drawn from: documents to cut, or (`rows`) whole prompts by bin; how to measure them; and the workload.

    `notes` are what a reader of the verdict should know of the prompts, `census` what the dataset held; `order` is each bin's
    rows, shuffled by the seed. `conversations` are those that are sent whole, turn by turn with their bins; none where prompts
    stand alone.
    """

    documents: Sequence[str]
    unit: TokenEstimator
    workload: Workload
    seed: int
    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    census: Census | None = None
    conversations: Sequence[Sequence[tuple[str, Row]]] = ()
    order: Mapping[str, Sequence[Row]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Once and before load: to shuffle 90,000 rows takes longer than to draw a hundred prompts.
        object.__setattr__(self, "order", {name: _shuffled(rows, f"{self.seed}/{name}/rows") for name, rows in self.rows.items()})


class Turns:
    """Turns of one pair, counted once and as far as was asked, so that they depend on the bins alone and not on who asks when."""

    def __init__(self, bin_of: Callable[[int], str]) -> None:
        self._bin_of = bin_of
        self._turns: list[int] = []
        self._had: Counter[str] = Counter()
        self._lock = Lock()  # two arms at once ask from a thread each

    def of(self, index: int) -> int:
        """How many prompts before number `index` have its bin."""
        with self._lock:
            while len(self._turns) <= index:
                name = self._bin_of(len(self._turns))
                self._turns.append(self._had[name])
                self._had[name] += 1
            return self._turns[index]


def prompt(drawing: PromptSource, place: str, only_bin: str | None, only_sampling: str | None, index: int) -> Prompt:
    """Prompt number `index` of the pair named `place` (cell and pair); `only_bin` and `only_sampling` narrow a separate cell."""
    rng = _rng(drawing.seed, place, index)
    bins = tuple(b for b in drawing.workload.bins if only_bin in (None, b.name))
    samplings = [s for s in drawing.workload.sampling if only_sampling in (None, s.name)]
    chosen = _bin(bins, rng)
    row = _row(drawing, bins, chosen.name, place, index) if drawing.rows else Row(_text(drawing, chosen, rng))
    return Prompt(
        index=index,
        text=row.text,
        bin=chosen.name,
        sampling=samplings[index % len(samplings)],
        max_tokens=limit_of(row) or rng.randint(*chosen.output_tokens),
        system=row.system,
        messages=row.messages,
        fields=row.fields,
    )


def limit_of(row: Row) -> int | None:
    """The limit that a row's own body had, where the scenario keeps it."""
    return next((whole_number(row.fields[key]) for key in LIMITS if key in row.fields), None)


def _rng(seed: int, place: str, index: int) -> random.Random:
    return random.Random(f"{seed}/{place}/{index}")


def _bin(bins: Sequence[Bin], rng: random.Random) -> Bin:
    return rng.choices(bins, [b.weight for b in bins])[0]


@lru_cache(maxsize=64)  # pairs; a run is at one of them at a time, and counts another anew
def _turns(seed: int, place: str, bins: tuple[Bin, ...]) -> Turns:
    return Turns(lambda index: _bin(bins, _rng(seed, place, index)).name)


def _shuffled(rows: Sequence[Row], seed: str) -> tuple[Row, ...]:
    order = list(rows)
    random.Random(seed).shuffle(order)
    return tuple(order)


def _row(drawing: PromptSource, bins: tuple[Bin, ...], name: str, place: str, index: int) -> Row:
    """Each pair enters the bin's order elsewhere, so within a pair no row comes again before all others of its bin have."""
    order = drawing.order[name]
    turn = _turns(drawing.seed, place, bins).of(index)
    start = random.Random(f"{drawing.seed}/{place}/rows").randrange(len(order))
    row = order[(start + turn) % len(order)]
    if not row.made_up:
        return row
    return row._replace(text=text_of_blocks(drawing.documents, drawing.unit, row.input_tokens or 1, row.blocks, row.number))


def salted(text: str, salt: str) -> str:
    """The prompt behind a line of its own that no other prompt has, so that no cache serves it from an earlier one."""
    return f"# {hashlib.sha256(salt.encode()).hexdigest()[:12]}\n{text}"


def with_salt(asked: Prompt, salt: str) -> Prompt:
    """The request with a line of its own before its first question, so that no cache serves it from an earlier one."""
    place = next((place for place, message in enumerate(asked.messages) if message["role"] == "user"), None)
    if place is None:
        return replace(asked, text=salted(asked.text, salt))
    first = {**asked.messages[place], "content": salted(str(asked.messages[place].get("content") or ""), salt)}
    return replace(asked, messages=(*asked.messages[:place], first, *asked.messages[place + 1 :]))


def _text(drawing: PromptSource, band: Bin, rng: random.Random) -> str:
    wanted = rng.randint(*band.input_tokens)
    prefix = _shared_prefix(drawing)
    wanted = max(1, wanted - drawing.workload.shared_prefix_tokens)
    sizes = [len(document) for document in drawing.documents]
    document = rng.choices(drawing.documents, sizes)[0]
    # What is left holds the prompt; a shorter document is joined by another one anyway, and may start in its first half.
    latest = len(document) - ROOM * wanted
    latest = latest if latest > 0 else len(document) // 2
    body = cut(document, _start(document, rng.randint(0, latest), latest), wanted, drawing.unit)
    while (missing := wanted - drawing.unit.of(body)) > ENOUGH * wanted:
        body += "\n\n" + cut(rng.choices(drawing.documents, sizes)[0], 0, missing, drawing.unit)
    return prefix + body


def _start(document: str, at: int, latest: int) -> int:
    """The next head of a line from `at` to `latest`, or where there is none the next head of a word, or else the last one before.

    Not of a sentence: prose has fewer of them than a run has prompts, and what opens alike comes from a prefix cache.
    """
    for blank in "\n ":
        found = document.find(blank, at, latest)
        if found >= 0:
            return found + 1
    return max(document.rfind(blank, 0, at) for blank in "\n ") + 1


def _shared_prefix(drawing: PromptSource) -> str:
    if not drawing.workload.shared_prefix_tokens:
        return ""
    longest = max(drawing.documents, key=len)
    return cut(longest, 0, drawing.workload.shared_prefix_tokens, drawing.unit) + "\n"
