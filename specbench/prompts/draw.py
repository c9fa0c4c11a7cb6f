"""Fresh prompts for one pair of blocks: the same sequence for both arms, another one for every pair. Pure, seeded.

Prompt `index` of a pair depends on the seed, the cell, the pair and the index alone, so both arms get the same work
however many requests each of them manages to take.
"""

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from specbench.model.asked import Band, Sampling, Workload
from specbench.prompts.dataset import Row
from specbench.prompts.pieces import Tokens, cut

ENOUGH = 0.1  # how much shorter than asked a prompt may be before another document is added


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One request's content: its text, the bin and sampling it belongs to, and how many tokens may come back."""

    index: int
    text: str
    bin: str
    sampling: Sampling
    max_tokens: int
    system: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """What prompts are drawn from: documents to cut, or (`rows`) whole prompts by bin; how to measure them; and the workload.

    `notes` are what a reader of the verdict should know of the prompts.
    """

    documents: Sequence[str]
    unit: Tokens
    workload: Workload
    seed: int
    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def prompt(drawing: Drawing, place: str, only_bin: str | None, only_sampling: str | None, index: int) -> Prompt:
    """Prompt number `index` of the pair named `place` (cell and pair); `only_bin` and `only_sampling` narrow a separate cell."""
    rng = random.Random(f"{drawing.seed}/{place}/{index}")
    bins = [b for b in drawing.workload.bins if only_bin in (None, b.name)]
    samplings = [s for s in drawing.workload.sampling if only_sampling in (None, s.name)]
    chosen = rng.choices(bins, [b.weight for b in bins])[0]
    row = _row(drawing, chosen, place, index) if drawing.rows else Row(_text(drawing, chosen, rng))
    return Prompt(
        index=index,
        text=row.text,
        bin=chosen.name,
        sampling=samplings[index % len(samplings)],
        max_tokens=rng.randint(*chosen.output_tokens),
        system=row.system,
    )


def rows_by_bin(rows: Sequence[Row], bins: Sequence[Band], unit: Tokens) -> dict[str, tuple[Row, ...]]:
    """The rows whose length lies in each bin's band of prompt tokens; a row in several bands belongs to the first of them."""
    sorted_in: dict[str, list[Row]] = {band.name: [] for band in bins}
    for row in rows:
        tokens = unit.of(row.text) + unit.of(row.system or "")
        fitting = next((band for band in bins if band.input_tokens[0] <= tokens <= band.input_tokens[1]), None)
        if fitting is not None:
            sorted_in[fitting.name].append(row)
    return {name: tuple(found) for name, found in sorted_in.items()}


def _row(drawing: Drawing, band: Band, place: str, index: int) -> Row:
    """Rows come in a shuffled order that each pair enters elsewhere, so none comes again before all others of its bin have."""
    rows = drawing.rows[band.name]
    order = list(range(len(rows)))
    random.Random(f"{drawing.seed}/{band.name}/rows").shuffle(order)
    start = random.Random(f"{drawing.seed}/{place}/rows").randrange(len(rows))
    return rows[order[(start + index) % len(rows)]]


def salted(text: str, salt: str) -> str:
    """The prompt behind a line of its own that no other prompt has, so that no cache serves it from an earlier one."""
    return f"# {hashlib.sha256(salt.encode()).hexdigest()[:12]}\n{text}"


def _text(drawing: Drawing, band: Band, rng: random.Random) -> str:
    wanted = rng.randint(*band.input_tokens)
    prefix = _shared_prefix(drawing)
    wanted = max(1, wanted - drawing.workload.shared_prefix_tokens)
    sizes = [len(document) for document in drawing.documents]
    document = rng.choices(drawing.documents, sizes)[0]
    # Starting at a line's head keeps the text natural; the last part of a document cannot hold a long prompt.
    latest = max(0, len(document) - 6 * wanted)
    start = document.find("\n", rng.randint(0, latest)) + 1
    body = cut(document, start, wanted, drawing.unit)
    while (missing := wanted - drawing.unit.of(body)) > ENOUGH * wanted:
        body += "\n\n" + cut(rng.choices(drawing.documents, sizes)[0], 0, missing, drawing.unit)
    return prefix + body


def _shared_prefix(drawing: Drawing) -> str:
    if not drawing.workload.shared_prefix_tokens:
        return ""
    longest = max(drawing.documents, key=len)
    return cut(longest, 0, drawing.workload.shared_prefix_tokens, drawing.unit) + "\n"
