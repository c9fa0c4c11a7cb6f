"""What `answers_summary.json` holds: all that is known of a run's compared answers beside their lines."""

from dataclasses import dataclass

from specbench.model.answers.compared_answers import AnswerComparison, AnswerExample, ComparedAnswers


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersSummary:
    """The fields of an `AnswerComparison` that are not of one prompt."""

    examples: tuple[AnswerExample, ...] = ()
    ruler: float | None = None
    unanswerable: tuple[tuple[str, str], ...] = ()

    def beside(self, lines: tuple[ComparedAnswers, ...]) -> AnswerComparison:
        """The whole comparison, of this and the compared prompts."""
        return AnswerComparison(compared=lines, examples=self.examples, ruler=self.ruler, unanswerable=self.unanswerable)


def summary_of(comparison: AnswerComparison) -> AnswersSummary:
    """What is not of one prompt."""
    return AnswersSummary(examples=comparison.examples, ruler=comparison.ruler, unanswerable=comparison.unanswerable)
