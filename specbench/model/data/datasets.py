"""How a file of prompts is read, and what a reader of the verdict may know of it: counts, never a text."""

from dataclasses import dataclass, field
from typing import Literal

ShapeName = Literal[
    "auto",
    "text",
    "prompt",
    "openai",
    "batch",
    "sharegpt",
    "turns",
    "speed_bench",
    "single_turn",
    "multi_turn",
    "random_pool",
    "aiperf_inputs",
    "mooncake",
    "burstgpt",
    "azure",
    "wildchat",
    "lmsys",
    "litellm",
    "otel",
]
TurnChoice = Literal["first", "last", "each"]
Kept = Literal["tools", "response_format", "max_tokens", "sampling"]
BrokenLines = Literal["refuse", "skip"]
SAMPLE = 5_000  # rows kept for each bin


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetReading:
    """How the rows of a dataset become prompts.

    `turns` None: a list that ends with a question is sent whole, one that ends with an answer gives its first question. `label`
    is the field that bins name a row by, with dots for what is nested. `keep`: fields of recorded bodies that are sent again.
    `sha256`: the content that the bins were made of; None where any will do.
    """

    shape: ShapeName = "auto"
    turns: TurnChoice | None = None
    label: str | None = None
    keep: tuple[Kept, ...] = ("tools", "response_format")
    tokenizer: str | None = None
    sample: int = SAMPLE
    broken: BrokenLines = "refuse"
    sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """What a dataset held and what became of it.

    `rows` are its values or lines, and `used` the requests that they made and some bin takes: a conversation may make several.
    `bins`, `sampled`: how many of them lie in each bin, and how many of those may be sent. `outside`: requests that no bin takes,
    by why. `copies`: requests that an earlier one equals. `counted`: how lengths were found, `counted_exactly` for how many rows.
    `left`: sampled rows that their exact count put outside their bin. `made_up`: sampled rows of which only the lengths are real.
    `unsorted`: rows whose time lies more than a second before that of a row above them.
    """

    path: str
    bytes: int
    sha256: str
    shapes: dict[str, int]
    rows: int
    used: int
    bins: dict[str, int]
    sampled: dict[str, int]
    outside: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    copies: int = 0
    counted: str = "estimated"
    counted_exactly: int = 0
    left: int = 0
    made_up: int = 0
    unsorted: int = 0
    output_lengths: bool = False
