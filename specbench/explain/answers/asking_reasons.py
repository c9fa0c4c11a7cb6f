"""Why the baseline could not be asked about answers, or not about some of them: each reason as the end of a sentence."""

NO_IDS = "an arm reports no token ids"
OTHER_IDS = "the arms' token ids are of different vocabularies"
OTHER_TOKENS = "the baseline reports log probabilities of other tokens than those it was given"
NO_PROBABILITIES = "the baseline reports no log probabilities"
NO_CONTINUING = "a chat cannot be continued over this engine's API"
NOT_PLAIN = "an answer with reasoning or tool calls cannot be continued as text"
SHAPED = "the request limits what may be answered, which raw log probabilities do not show"
OUT_OF_TIME = "the time for questions was over"
NO_TEMPLATE = "the baseline does not report what its prompt becomes"
EARLY_END = "the run ended before its last block"


def no_given_text(label: str) -> str:
    """That this engine tells no probabilities of a given text."""
    return f"{label} reports no log probabilities of given text"


def refused(status: int, said: str) -> str:
    """That the baseline refused the question."""
    return f"the baseline refuses the question (HTTP {status}{f': {said}' if said else ''})"


def no_answer(problem: str) -> str:
    """That the baseline did not answer the question."""
    return f"the baseline did not answer the question ({problem})"


def planned(answers_per_arm: int, questions: int) -> str:
    """How many requests the comparison of answers adds to a run."""
    more = f"{answers_per_arm:,} more requests for each arm, " if answers_per_arm else ""
    return f"answers: at most {more}{questions:,} one-token questions for the baseline"


def asking_for_more(count: int) -> str:
    """That answers are missing, and are asked of both arms now."""
    return f"answers: asking both arms {count:,} more prompts"


def asking_the_baseline(count: int) -> str:
    """That the baseline is asked about so many answers now."""
    return f"answers: asking the baseline about {count:,} prompts"
