"""Fresh prompts for one pair of blocks: the same sequence for both arms, another one for every pair. Pure, seeded.

Prompt `index` of a pair depends on the seed, the cell, the pair and the index alone, so both arms get the same work
however many requests each of them manages to take.
"""

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass

from specbench.model.asked import Band, Sampling, Workload
from specbench.prompts.pieces import Tokens, cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One request's content: its text, the bin and sampling it belongs to, and how many tokens may come back."""

    index: int
    text: str
    bin: str
    sampling: Sampling
    max_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """What prompts are drawn from: the documents, how to measure them, and the workload's bins and samplings."""

    documents: Sequence[str]
    unit: Tokens
    workload: Workload
    seed: int


def prompt(drawing: Drawing, place: str, only_bin: str | None, only_sampling: str | None, index: int) -> Prompt:
    """Prompt number `index` of the pair named `place` (cell and pair); `only_bin` and `only_sampling` narrow a separate cell."""
    rng = random.Random(f"{drawing.seed}/{place}/{index}")
    bins = [b for b in drawing.workload.bins if only_bin in (None, b.name)]
    samplings = [s for s in drawing.workload.sampling if only_sampling in (None, s.name)]
    chosen = rng.choices(bins, [b.weight for b in bins])[0]
    sampling = samplings[index % len(samplings)]
    return Prompt(
        index=index,
        text=_text(drawing, chosen, rng),
        bin=chosen.name,
        sampling=sampling,
        max_tokens=rng.randint(*chosen.output_tokens),
    )


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
    if drawing.unit.of(body) < 0.8 * wanted:
        body = cut(document, 0, wanted, drawing.unit)
    return prefix + body


def _shared_prefix(drawing: Drawing) -> str:
    if not drawing.workload.shared_prefix_tokens:
        return ""
    longest = max(drawing.documents, key=len)
    return cut(longest, 0, drawing.workload.shared_prefix_tokens, drawing.unit) + "\n"
