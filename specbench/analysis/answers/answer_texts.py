"""What answers of the two arms have in common, as far as the records tell it for free. Shown; nothing is judged by it here."""

from collections.abc import Iterable

from specbench.analysis.cells import CellEvidence
from specbench.model.records import RequestRecord
from specbench.model.scenario import ArmName, Scenario
from specbench.model.shown import AnswerTexts


def answer_texts(cell: CellEvidence, scenario: Scenario) -> AnswerTexts:
    """Characters a token of each arm's good answers, and how many greedy answers to one prompt have the same text in both.

    Where both arms are behind one URL, prompts are salted block by block: they are not the same, and no text is compared.
    """
    greedy = {setting.name for setting in scenario.workload.sampling if setting.temperature == 0}
    salted = scenario.baseline.url is not None and scenario.baseline.url == scenario.speculative.url
    before, after = ({} if salted else _texts(cell, arm, greedy) for arm in ("baseline", "speculative"))
    common = before.keys() & after.keys()
    return AnswerTexts(
        characters_per_token_baseline=_characters(cell.records.baseline),
        characters_per_token_speculative=_characters(cell.records.speculative),
        greedy_compared=len(common),
        greedy_same=sum(before[key] == after[key] for key in common),
    )


def _texts(cell: CellEvidence, arm: ArmName, greedy: set[str]) -> dict[tuple[int, int], str]:
    """The hash of each good greedy answer's text, by pair and prompt."""
    pair_of = {block.id: block.pair for block in cell.blocks.of(arm)}
    return {
        (pair_of[record.block], record.index): record.text_sha256
        for record in cell.records.of(arm)
        if record.outcome == "ok" and record.sampling in greedy and record.text_sha256
    }


def _characters(records: Iterable[RequestRecord]) -> float | None:
    """Characters ÷ tokens, over the good answers whose tokens are known; None without one."""
    known = [record for record in records if record.outcome == "ok" and record.output_tokens]
    tokens = sum(record.output_tokens or 0 for record in known)
    return sum(record.text_chars for record in known) / tokens if tokens else None
