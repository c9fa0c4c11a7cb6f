"""Why a figure is not there, or must not be judged although it is: ends of sentences, made from values.

Whether one of them holds may not be decided here. What an engine does not tell, its own file under `telemetry/` says.
"""

from specbench.model.result import PerArm
from specbench.model.scenario import ARMS, ArmName

NO_SUCCESS = "no request succeeded"
NO_SAMPLE = "nothing was measured inside the steady window"
ONE_PAIR = "a single pair shows no spread to judge by"
OPEN_END = "so few pairs leave the ratio open beyond every number"
NO_SPREAD = "every pair shows exactly the same ratio, which no measured time or rate does"
NO_PAIR = "no pair has a value in both arms"
AT_ZERO = "a value of 0 has no ratio"
BEYOND = "so many requests failed that this percentile lies beyond every measured time"
BEYOND_IN_A_BLOCK = "in a block so many requests failed that this percentile lies beyond every measured time"
ON_THE_EDGE = "so many requests failed that this percentile may lie beyond every measured time"
NO_SUCH_METRIC = "this version measures no such metric"
WHOLE_BLOCKS_ONLY = "the engine tells it for whole blocks only"
NOT_TOLD = "the engine does not tell it"
EVENT_SIZES_NOT_TOLD = "the endpoint does not tell how many tokens an event holds"
CAME_WHOLE = "every answer came whole, in one piece, so that none could stall"
NO_REASON = "no reason was given"
NO_LATER_STEP = "no step after the first one was seen"
NO_SPECULATION = "no counts, and every step brought one token: no sign of speculation"
NO_SIGN = "no sign of speculation: a step brought more than one token, as a stream interval or hidden tokens make it too"
SAYS_OFF = "the endpoint says that it does not speculate"
NO_DRAFT = "the engine counted no draft"
NOTHING_DRAFTED = "nothing tells of a draft, every step brought one token, and no load shows the gain asked for"
NO_ROUND = "no verification round was counted"
ALPHA_WITHOUT_POSITIONS = "alpha needs counts per position, which were not told"
ALPHA_OF_ODD_COUNTS = "alpha is not known: counts per position do not add up to the accepted tokens"
ALPHA_WITHOUT_ROUNDS = "alpha needs counts of rounds and drafted tokens"
ALPHA_OF_TREES = "alpha is for chains: more tokens were drafted than a chain of this depth has"
ALPHA_OF_UNEQUAL_DRAFTS = "alpha is not known: drafts differ in length"
MIXED_BINS = "it is asked of single bins, and this cell mixes them; `traffic: separate` gives each its own cells"
UNLIKE_COUNTS = "one arm's server counts its tokens and the other's does not, so figures per token compare unlike counts"
GUESSED_TOKENS = (
    "nothing tells how many tokens an event holds in the speculative arm, and under speculation that is more than one"
)
TOKENS_UNKNOWN = "the server's counts fit no reading of which tokens were streamed (usage_ambiguous)"


def of_arms(absent: PerArm[str | None]) -> str | None:
    """Whose figure is not there and why; None where both are."""
    if absent.baseline is not None:
        return f"{'both arms' if absent.baseline == absent.speculative else 'baseline'}: {absent.baseline}"
    return None if absent.speculative is None else f"speculative: {absent.speculative}"


def partly_told(blocks: int, pairs: int) -> str:
    """That what an engine told of some blocks may be the better part of the truth."""
    return f"an engine told it of only {blocks} of {pairs} blocks"


def half_counted(rounds: int) -> str:
    """That the engine counted verification rounds and not what they accepted."""
    return f"the engine counted {rounds} verification rounds, but not how many tokens they accepted"


def tokens_unknown(arm: ArmName) -> str:
    """That the token counts of one arm's server cannot be used."""
    return f"in the {arm} arm {TOKENS_UNKNOWN}"


def unlike_lengths(ratio: float) -> str:
    """That one arm's answers are shorter."""
    return (
        f"answers with speculation are {ratio:.2f} times as long as without,"
        " so times and rates of whole answers compare different work"
    )


def merged_reads(bounds_ms: PerArm[tuple[float, float] | None]) -> str:
    """Between which values a percentile lies, in the arms that leave it open."""
    said = "; ".join(f"{arm}: {bounds[0]:.2f} to {bounds[1]:.2f} ms" for arm in ARMS if (bounds := bounds_ms.of(arm)) is not None)
    return f"events that the client read together leave this percentile open ({said})"
