"""Why a figure is not there, or must not be judged although it is: ends of sentences, made from values.

Whether one of them holds may not be decided here. What an engine does not tell, its own file under `telemetry/` says.
"""

from specbench.model.result import PerArm
from specbench.model.scenario import ARMS, ArmName

NO_SUCCESS = "no request succeeded"
NO_SAMPLE = "the steady window holds no sample"
ONE_PAIR = "a single pair shows no spread"
OPEN_END = "too few pairs: the interval is unbounded"
NO_SPREAD = "every pair shows exactly the same ratio, which no real timing does"
NO_PAIR = "no pair has a value in both arms"
AT_ZERO = "a value of 0 has no ratio"
BEYOND = "too many requests failed, so this percentile is unbounded"
BEYOND_IN_A_BLOCK = "too many requests failed in a block, so this percentile is unbounded there"
ON_THE_EDGE = "so many requests failed that this percentile may be unbounded"
NO_SUCH_METRIC = "this version has no such metric"
WHOLE_BLOCKS_ONLY = "the engine reports it for whole blocks only"
NOT_REPORTED = "the engine does not report it"
EVENT_SIZES_NOT_REPORTED = "the endpoint does not report how many tokens an event holds"
CAME_WHOLE = "every answer came in one piece, so none could stall"
NO_REASON = "no reason was given"
NO_LATER_STEP = "no answer has a second step"
NO_SPECULATION = "no counts, and every step has one token: no sign of speculation"
NO_SIGN = "no sign of speculation: a stream interval or hidden tokens also put several tokens in a step"
SAYS_OFF = "the endpoint reports that it does not speculate"
NO_DRAFT = "the engine counted no draft"
NOTHING_DRAFTED = "no drafts are reported, every step has one token, and no load shows the gain"
NO_ROUND = "no verification round was counted"
ALPHA_WITHOUT_POSITIONS = "alpha needs counts per position, which are not reported"
ALPHA_OF_ODD_COUNTS = "alpha is unknown: counts per position do not add up to the accepted tokens"
ALPHA_WITHOUT_ROUNDS = "alpha needs counts of rounds and drafted tokens"
ALPHA_OF_TREES = "alpha is defined for chains only: more tokens were drafted than a chain of this depth holds"
ALPHA_OF_UNEQUAL_DRAFTS = "alpha is unknown: drafts differ in length"
MIXED_BINS = "its limit is for single bins, and this cell mixes them; use `traffic: separate`"
UNLIKE_COUNTS = "only one arm's server counts its tokens, so figures per token are not comparable"
GUESSED_TOKENS = "the speculative endpoint does not report how many tokens an event holds"
TOKENS_UNKNOWN = "the server's counts do not match the streamed tokens (usage_ambiguous)"


def of_arms(absent: PerArm[str | None]) -> str | None:
    """Whose figure is not there and why; None where both are."""
    if absent.baseline is not None:
        return f"{'both arms' if absent.baseline == absent.speculative else 'baseline'}: {absent.baseline}"
    return None if absent.speculative is None else f"speculative: {absent.speculative}"


def partly_reported(blocks: int, pairs: int) -> str:
    """That what an engine told of some blocks may be the better part of the truth."""
    return f"an engine reported it in only {blocks} of {pairs} blocks"


def half_counted(rounds: int) -> str:
    """That the engine counted verification rounds and not what they accepted."""
    return f"the engine counted {rounds} verification rounds, not their accepted tokens"


def tokens_unknown(arm: ArmName) -> str:
    """That the token counts of one arm's server cannot be used."""
    return f"in the {arm} arm {TOKENS_UNKNOWN}"


def unlike_lengths(ratio: float) -> str:
    """That one arm's answers are shorter."""
    return f"answers with speculation are {ratio:.2f} times as long as without, so whole answers are not comparable"


def merged_reads(bounds_ms: PerArm[tuple[float, float] | None]) -> str:
    """Between which values a percentile lies, in the arms that leave it open."""
    said = "; ".join(f"{arm}: {bounds[0]:.2f} to {bounds[1]:.2f} ms" for arm in ARMS if (bounds := bounds_ms.of(arm)) is not None)
    return f"the client read events together, which leaves this percentile open ({said})"
