"""The evidence of a run, sorted by cell and arm.

Grouping only: what the records say is computed in `cell_arrays.py` and judged elsewhere.
"""

from dataclasses import dataclass, replace

from specbench.model.records import Block, Cell, RequestRecord, RunData
from specbench.model.result import IntegrityCheck, PerArm

UNLIKE = 1 << 31  # more prompts than a block has


@dataclass(frozen=True, slots=True, kw_only=True)
class CellEvidence:
    """One cell with the blocks and records of each arm, in the order of the run. `primary`: the benefit must show here."""

    cell: Cell
    primary: bool
    blocks: PerArm[tuple[Block, ...]]
    records: PerArm[tuple[RequestRecord, ...]]

    @property
    def required(self) -> bool:
        """Whether the cell takes part in the verdict, as its plan says; primary cells are chosen among those that do."""
        return self.cell.required

    @property
    def all_blocks(self) -> tuple[Block, ...]:
        """The blocks of both arms, the baseline's first."""
        return (*self.blocks.baseline, *self.blocks.speculative)

    def check(self, name: str, ok: bool | None, value: float | None, limit: float | None, message: str) -> IntegrityCheck:
        """A check of this cell, in its form."""
        return IntegrityCheck(id=name, cell=self.cell.id, ok=ok, value=value, limit=limit, message=message)


def cells_of(evidence: RunData) -> tuple[CellEvidence, ...]:
    """Every planned cell with what was measured there, which may be nothing.

    Records of blocks that are not listed are left out. Request i of a pair is one prompt in both arms; where sessions hold the
    arm's own answers, that is so for their first turns alone.
    """
    records: dict[str, list[RequestRecord]] = {block.id: [] for block in evidence.blocks}
    unlike = _blocks_of_unlike_prompts(evidence)
    for record in evidence.records:
        if record.block in records:
            records[record.block].append(_renumbered(record) if record.turn and record.block in unlike else record)
    primaries = _primary_cells(evidence)
    return tuple(
        CellEvidence(
            cell=cell,
            primary=cell.id in primaries,
            blocks=(blocks := PerArm(_blocks(evidence, cell, "baseline"), _blocks(evidence, cell, "speculative"))),
            records=PerArm(_joined(records, blocks.baseline), _joined(records, blocks.speculative)),
        )
        for cell in evidence.manifest.cells
    )


def _blocks_of_unlike_prompts(evidence: RunData) -> frozenset[str]:
    """The blocks whose later turns hold the arm's own answers: other prompts than the baseline's of the same number."""
    if not evidence.manifest.scenario.workload.own_history:
        return frozenset()
    return frozenset(block.id for block in evidence.blocks if block.arm == "speculative")


def _renumbered(record: RequestRecord) -> RequestRecord:
    """The record as one of a prompt that the other arm never had, so that nothing is compared prompt by prompt."""
    return replace(record, index=record.index + UNLIKE)


def planned_pairs(evidence: RunData) -> int:
    """How many pairs each cell should have: all that were budgeted, or as many as there were at the look that ended the run."""
    return evidence.looks[-1] if evidence.looks else evidence.manifest.scenario.matrix.pairs


def _blocks(evidence: RunData, cell: Cell, arm: str) -> tuple[Block, ...]:
    found = (block for block in evidence.blocks if block.cell == cell.id and block.arm == arm)
    return tuple(sorted(found, key=lambda block: (block.pair, block.order)))


def _joined(records: dict[str, list[RequestRecord]], blocks: tuple[Block, ...]) -> tuple[RequestRecord, ...]:
    return tuple(record for block in blocks for record in sorted(records[block.id], key=lambda record: record.index))


def _primary_cells(evidence: RunData) -> frozenset[str]:
    """One required cell per slice and axis: the scenario's primary level, or the lowest of an axis on which it does not lie."""
    axes: dict[tuple[str | None, str | None, bool], list[Cell]] = {}
    for cell in evidence.manifest.cells:
        if cell.required:
            axes.setdefault((cell.bin, cell.sampling, cell.rate is not None), []).append(cell)
    named = evidence.manifest.scenario.matrix.primary
    chosen = []
    for cells in axes.values():
        lowest = min(cells, key=lambda cell: cell.level)
        chosen.append(next((cell for cell in cells if cell.level == named), lowest))
    return frozenset(cell.id for cell in chosen)
