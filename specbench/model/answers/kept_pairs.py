"""Whole answers, in memory alone while a run lasts: no file of a run holds one of these."""

from dataclasses import dataclass

from specbench.model.result import PerArm


@dataclass(frozen=True, slots=True)
class GeneratedToolCall:
    """One tool call of an answer, its fragments joined: a name, and arguments as the text that came."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedAnswer:
    """What one request brought back.

    `text` is everything that was generated, in order; `content` the answer alone, without reasoning and tool calls. `token_ids`
    are of `text`, None unless every content event told its own; `prompt_token_ids` as the engine told them. `tokens`: how many
    were streamed, 0 where that is not known.
    """

    text: str
    content: str
    finish_reason: str | None
    tool_calls: tuple[GeneratedToolCall, ...] = ()
    token_ids: tuple[int, ...] | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPair:
    """Both arms' whole answers to one prompt, kept until the baseline can be asked about them.

    `cell`, `pair` and `concurrency` are None for prompts that were sent after the last pair. `body` is the JSON request that the
    baseline was sent, with its prompt and sampling settings, but for the model's name and what its engine is asked for besides.
    """

    cell: str | None
    pair: int | None
    index: int
    bin: str
    sampling: str
    temperature: float
    concurrency: int | None
    body: bytes
    answers: PerArm[GeneratedAnswer]
