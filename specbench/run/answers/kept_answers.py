"""Whole answers while the run lasts: those of a pair until its second block has ended, then those of the selected prompts.

They are in memory alone; what becomes of them is a line of `answers.jsonl` each, without any text.
"""

from collections.abc import Callable
from threading import Lock

from specbench.analysis.answers.selected_prompts import PromptPlace, selected_prompts
from specbench.model.answers.kept_pairs import GeneratedAnswer, KeptPair
from specbench.model.records import RequestRecord
from specbench.model.result import PerArm
from specbench.model.scenario import ARMS, ArmName, Sampling
from specbench.plan.trials import Trial

NOT_KEPT = "no two prompts of the load are alike, or nothing is compared"
Kept = tuple[RequestRecord, GeneratedAnswer]
RequestBody = Callable[[int], bytes]
"""The JSON request that the baseline was sent for the prompt of this index."""


class AnswerKeeper:
    """Collects the answers that ended well in required cells, and keeps at most `prompts` pairs of each sampling.

    `reason`: why no two answers can be compared, where that is so; then nothing is kept. Blocks of both arms may run at once.
    """

    def __init__(self, prompts: int, seed: int, samplings: tuple[Sampling, ...], reason: str | None = None) -> None:
        self.reason = reason
        self._prompts, self._seed = prompts, seed
        self._temperatures = {each.name: each.temperature for each in samplings}
        self._lock = Lock()
        self._open: dict[tuple[str, ArmName], dict[int, Kept]] = {}
        self._ended: set[tuple[str, ArmName]] = set()
        self._pairs: dict[PromptPlace, KeptPair] = {}

    def answered(self, trial: Trial, record: RequestRecord, answer: GeneratedAnswer) -> None:
        """Takes in one answer of a block that is under way."""
        if self.reason is not None or not trial.cell.required or record.outcome != "ok":
            return
        with self._lock:
            self._open.setdefault((trial.place, trial.arm), {})[record.index] = (record, answer)

    def block_ended(self, trial: Trial, body_of: RequestBody) -> None:
        """Pairs up the answers of a pair whose second block this was, keeps the selected ones and forgets all others."""
        with self._lock:
            self._ended.add((trial.place, trial.arm))
            if not all((trial.place, arm) in self._ended for arm in ARMS):
                return
            before, after = (self._open.pop((trial.place, arm), {}) for arm in ARMS)
            found = {
                PromptPlace(before[index][0].sampling, trial.cell.id, trial.pair, index): index
                for index in before.keys() & after.keys()
            }
            chosen = selected_prompts([*self._pairs, *found], self._prompts, self._seed)
            self._pairs = {place: pair for place, pair in self._pairs.items() if place in chosen}
            for place, index in found.items():
                if place in chosen:
                    self._pairs[place] = self._pair(trial, before[index], after[index][1], body_of(index))

    @property
    def pairs(self) -> tuple[KeptPair, ...]:
        """The selected pairs of all blocks that have ended, by sampling, cell, pair and prompt."""
        with self._lock:
            return tuple(self._pairs[place] for place in sorted(self._pairs))

    def _pair(self, trial: Trial, baseline: Kept, speculative: GeneratedAnswer, body: bytes) -> KeptPair:
        record, answer = baseline
        return KeptPair(
            cell=trial.cell.id,
            pair=trial.pair,
            index=record.index,
            bin=record.bin,
            sampling=record.sampling,
            temperature=self._temperatures[record.sampling],
            concurrency=trial.cell.concurrency,
            body=body,
            answers=PerArm(answer, speculative),
        )
