"""Looks at a run while it goes on (`--until resolved`): judges what is on disk and says whether more would change anything.

How strict each look is, and what counts as settled, is `analysis/verdict/interim.py`'s; here is only when to look.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from specbench import __version__
from specbench.analysis.attempts import counted_blocks
from specbench.analysis.judge import judge
from specbench.analysis.verdict.interim import is_settled
from specbench.model.scenario import RAMP
from specbench.plan.trials import Trial
from specbench.store import read_run

# Shares of the budget of pairs after which the data are looked at; the last look is always the whole budget.
ANALYSE_AT = (0.4, 0.6, 0.8)


@dataclass(slots=True)
class EarlyStopping:
    """The looks at one run so far; it grows by one each time that `settled` really looks.

    A look is noted before it is taken, so that a run that is killed meanwhile and resumed does not spend its error anew: the same
    pairs are judged again by the level that was theirs.
    """

    folder: Path
    budget: int
    looks: list[int] = field(default_factory=list)
    note: Callable[[int], None] = lambda pairs: None
    _judged: set[int] = field(default_factory=set)

    def settled(self, remaining: Sequence[Trial]) -> bool:
        """Whether the run may stop with these trials left undone; looks only when a planned share of pairs is complete."""
        complete = min((trial.pair for trial in remaining if trial.cell.id != RAMP), default=self.budget)
        if complete not in interim_pairs(self.budget) or complete in self._judged or complete < max(self.looks, default=0):
            return False
        self._judged.add(complete)
        if complete not in self.looks:
            self.looks.append(complete)
            self.note(complete)
        if complete == self.budget:
            return True
        evidence = read_run(self.folder)
        whole = [block for block in counted_blocks(evidence.blocks) if block.pair < complete]
        names = {block.id for block in whole}
        records = tuple(record for record in evidence.records if record.block in names)
        seen = replace(
            evidence, blocks=tuple(whole), records=records, finished=evidence.manifest.started, looks=tuple(self.looks)
        )
        return is_settled(judge(seen, __version__), complete)


def interim_pairs(budget: int) -> tuple[int, ...]:
    """After how many complete pairs the data are looked at: about 40, 60 and 80 % of the budget, and all of it."""
    return tuple(sorted({max(2, round(share * budget)) for share in ANALYSE_AT} | {budget}))
