"""How one embedded engine is to behave, checked and frozen.

Nothing is started or trained here; what follows from the accelerator's memory is computed in `core/setup.py`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from specbench.errors import ScenarioError

Method = Literal["draft_model", "ngram", "heads"]
DraftSampling = Literal["sampled", "greedy"]
Corpus = Literal["python", "prose"]
MOST_DRAFTED = 8
MOST_TREE_NODES = 64
TABLE = "num_speculative_tokens_per_batch_size"
# Beyond its text, a request needs room for the largest tree and for what rounding to blocks wastes.
ROOM_TOKENS = MOST_TREE_NODES + 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculation:
    """Who drafts how many tokens.

    `draft_sampling` says whether drafts are drawn (acceptance then follows q) or best guesses. `prompt_lookup_min` and
    `prompt_lookup_max` bound the match of `ngram`. `tree` gives `heads` that many candidates at each depth instead of one.
    `num_speculative_tokens_per_batch_size`: rows of [lowest, highest, tokens] by the requests of a step; gaps, and what lies
    beyond the last row, take the tokens before them, as in vLLM.
    """

    method: Method = "draft_model"
    num_speculative_tokens: int = 5
    draft_sampling: DraftSampling = "sampled"
    prompt_lookup_min: int = 2
    prompt_lookup_max: int = 4
    tree: tuple[int, ...] | None = None
    num_speculative_tokens_per_batch_size: tuple[tuple[int, int, int], ...] | None = None

    def depth_at(self, requests: int) -> int:
        """Tokens that are drafted for a request in a step of so many requests."""
        rows = self.num_speculative_tokens_per_batch_size
        if rows is None:
            return self.num_speculative_tokens
        return [tokens for lowest, _, tokens in rows if requests >= lowest][-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierFaults:
    """Rules that a verifier breaks, each from public bug reports; as it stands here it breaks none.

    They act on rounds with drafts where `from_batch` or more requests are in the step; `lost_token`, a share, on every step of a
    request after its first token. `lenient` is in percentage points, `relaxed` a share of the best token's probability.
    """

    lost_token: float = 0.0
    lenient: float = 0.0
    no_residual: bool = False
    draft_bonus: bool = False
    equality: bool = False
    relaxed: float | None = None
    temperature: float = 1.0
    late: bool = False
    from_batch: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """One engine. `slow_by` 0.3 makes every step 30 % longer; without `kv_capacity_tokens` the accelerator's memory decides.

    `times_as_fast`: 10 makes every step a tenth as long, or as long as its computing takes, for what is not timed.
    `jitter_nats`: the standard deviation of the noise in each log probability. `faults`: strengths by name; `verifier` is a
    `VerifierFaults`.
    """

    host: str = "127.0.0.1"
    port: int = 0
    model: str = "specbench-ngram"
    corpus: Corpus = "python"
    speculative: Speculation | None = None
    slow_by: float = 0.0
    times_as_fast: float = 1.0
    kv_capacity_tokens: int | None = None
    max_model_len: int = 8192
    max_num_seqs: int = 256
    max_num_batched_tokens: int = 2048
    prefix_caching: bool = True
    seed: int = 0
    jitter_nats: float = 0.0
    faults: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


def options_of(mapping: Mapping[str, Any]) -> EngineOptions:
    """The options that mapping spells; keys that it leaves out have their defaults.

    Raises:
        ScenarioError: One line that names the key and what may stand there.
    """
    options = EngineOptions(**_checked(mapping, OPTION_CHECKS, ""))
    smallest = options.max_model_len + ROOM_TOKENS
    if options.kv_capacity_tokens is not None and options.kv_capacity_tokens < smallest:
        raise ScenarioError(
            f"kv_capacity_tokens: {options.kv_capacity_tokens} cannot hold one request of max_model_len {options.max_model_len}; "
            f"give at least {smallest}, or a smaller max_model_len"
        )
    _check_verifier(options)
    # Drafts are not trimmed to what is left of a step, so that a single request must fit with all of its own.
    least = 1 + lookahead_of(options.speculative)
    if options.max_num_batched_tokens < least:
        raise ScenarioError(
            f"max_num_batched_tokens: {options.max_num_batched_tokens} cannot hold one token and its {least - 1} drafted ones; "
            f"give at least {least}, or draft fewer"
        )
    return options


def speculation_of(value: object) -> Speculation:
    """The speculation that a mapping spells.

    Raises:
        ScenarioError: One line, as `options_of`.
    """
    if not isinstance(value, Mapping):
        raise ScenarioError(f"speculative: a mapping with method and num_speculative_tokens is needed, got {value!r}")
    given = _checked(value, SPECULATION_CHECKS, "speculative.")
    method = given.get("method", "draft_model")
    foreign = [key for key, owner in OWNERS.items() if key in given and owner != method]
    if foreign:
        raise ScenarioError(f"speculative.{foreign[0]}: belongs to method {OWNERS[foreign[0]]}, not to {method}")
    drawn = given.get("draft_sampling") == "sampled"
    if drawn and (method == "ngram" or given.get("tree")):
        raise ScenarioError(
            "speculative.draft_sampling: looked-up drafts and trees are best guesses; leave it out, or say greedy"
        )
    if method == "ngram" or given.get("tree"):
        given["draft_sampling"] = "greedy"
    speculation = Speculation(**given)
    if speculation.prompt_lookup_min > speculation.prompt_lookup_max:
        raise ScenarioError("speculative.prompt_lookup_min: must not be above prompt_lookup_max")
    if speculation.tree is not None:
        _check_tree(speculation.tree, speculation.num_speculative_tokens)
    if speculation.num_speculative_tokens_per_batch_size is not None:
        _check_table(speculation)
    return speculation


def tree_nodes(widths: tuple[int, ...]) -> int:
    """Tokens in the tree of all paths with that many candidates at each depth: w1 + w1 w2 + w1 w2 w3 + ..."""
    return sum(math.prod(widths[: depth + 1]) for depth in range(len(widths)))


def lookahead_of(speculation: Speculation | None) -> int:
    """Tokens that one request's drafts may take in a step: a tree has more of them than it is deep."""
    if speculation is None:
        return 0
    return tree_nodes(speculation.tree) if speculation.tree else speculation.num_speculative_tokens


def _check_tree(widths: tuple[int, ...], depth: int) -> None:
    if len(widths) != depth:
        raise ScenarioError(f"speculative.tree: one width for each of the {depth} speculative tokens is needed")
    if tree_nodes(widths) > MOST_TREE_NODES:
        raise ScenarioError(f"speculative.tree: {tree_nodes(widths)} tokens to verify are more than {MOST_TREE_NODES}")


def _check_table(speculation: Speculation) -> None:
    if speculation.method == "heads":
        raise ScenarioError(f"speculative.{TABLE}: belongs to methods draft_model and ngram, not to heads")
    before = 0
    for lowest, highest, tokens in speculation.num_speculative_tokens_per_batch_size or ():
        row = f"speculative.{TABLE}: [{lowest}, {highest}, {tokens}]"
        if lowest > highest or lowest <= before or (before == 0 and lowest != 1):
            raise ScenarioError(f"{row}: the first row begins at 1, and rows rise and do not overlap")
        if tokens > speculation.num_speculative_tokens:
            most = speculation.num_speculative_tokens
            raise ScenarioError(f"{row}: {tokens} tokens are more than num_speculative_tokens ({most})")
        before = highest


def _check_verifier(options: EngineOptions) -> None:
    """Nothing, unless a fault of the verifier is asked for that this engine's way to draft has no place for."""
    broken: VerifierFaults | None = options.faults.get("verifier")
    if broken is None:
        return
    whole = VerifierFaults()
    given = [name for name in VERIFIER_CHECKS if name != "from_batch" and getattr(broken, name) != getattr(whole, name)]
    needs_drafts = [name for name in given if name != "lost_token"]
    if needs_drafts and options.speculative is None:
        raise ScenarioError(
            f"faults.verifier.{needs_drafts[0]}: an engine that drafts nothing verifies nothing; give speculative"
        )
    of_chains = [name for name in given if name in ONLY_OF_CHAINS]
    if of_chains and options.speculative is not None and options.speculative.tree:
        raise ScenarioError(f"faults.verifier.{of_chains[0]}: a tree is not verified by that rule; leave speculative.tree out")


Check = Callable[[str, object], Any]


def _checked(mapping: Mapping[str, Any], checks: Mapping[str, Check], prefix: str) -> dict[str, Any]:
    for key in mapping:
        if key not in checks:
            raise ScenarioError(f"{prefix}{key}: the embedded engine has no such option; it knows {', '.join(checks)}")
    return {key: checks[key](prefix + key, value) for key, value in mapping.items()}


def _check(wanted: str, accepts: Callable[[Any], bool], made: Callable[[Any], Any] = lambda value: value) -> Check:
    """A check that gives the value back as it is `made`; where it does not accept it, the error says what is wanted."""

    def check(key: str, value: object) -> Any:
        if not accepts(value):
            raise ScenarioError(f"{key}: {wanted} is needed, got {value!r}")
        return made(value)

    return check


def _one_of(*words: str) -> Check:
    return _check(f"one of {', '.join(words)}", lambda value: value in words)


def _whole(low: int, high: int) -> Check:
    return _check(f"a whole number from {low} to {high}", lambda value: type(value) is int and low <= value <= high)


def _number(low: float, high: float) -> Check:
    return _check(f"a number from {low:g} to {high:g}", lambda value: type(value) in (int, float) and low <= value <= high, float)


def _or_none(check: Check) -> Check:
    return lambda key, value: None if value is None else check(key, value)


def _widths(key: str, value: object) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise ScenarioError(f"{key}: a list of widths such as [3, 2, 1] is needed, got {value!r}")
    width = _whole(1, MOST_DRAFTED)
    return tuple(width(key, each) for each in value)


def _verifier(key: str, value: object) -> VerifierFaults:
    if not isinstance(value, Mapping):
        raise ScenarioError(f"{key}: a mapping from a rule's name to how it is broken is needed, got {value!r}")
    return VerifierFaults(**_checked(value, VERIFIER_CHECKS, f"{key}."))


def _rows(key: str, value: object) -> tuple[tuple[int, int, int], ...]:
    wanted = f"{key}: rows of [lowest, highest, tokens] such as [[1, 4, 2], [5, 64, 0]] are needed, got {value!r}"
    if not isinstance(value, list | tuple) or not value:
        raise ScenarioError(wanted)
    if not all(isinstance(row, list | tuple) and len(row) == 3 for row in value):
        raise ScenarioError(wanted)
    bound, depth = _whole(1, 10**9), _whole(0, MOST_DRAFTED)
    return tuple((bound(key, low), bound(key, high), depth(key, tokens)) for low, high, tokens in value)


def _faults(key: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ScenarioError(f"{key}: a mapping from a fault's name to its strength is needed, got {value!r}")
    return MappingProxyType(_checked(value, FAULT_CHECKS, "faults."))


_TEXT = _check("a text", lambda value: isinstance(value, str) and value != "")
_FLAG = _check("true or false", lambda value: isinstance(value, bool))
VERIFIER_CHECKS: Mapping[str, Check] = {
    "lost_token": _number(0.0, 1.0),
    "lenient": _number(0.0, 100.0),
    "no_residual": _FLAG,
    "draft_bonus": _FLAG,
    "equality": _FLAG,
    "relaxed": _or_none(_number(0.0, 1.0)),
    "temperature": _number(0.1, 10.0),
    "late": _FLAG,
    "from_batch": _whole(1, 4096),
}
ONLY_OF_CHAINS = frozenset({"no_residual", "draft_bonus", "equality", "relaxed"})
FAULT_CHECKS: Mapping[str, Check] = {
    "error_share": _number(0.0, 1.0),
    "exit_after_requests": _whole(1, 10**9),
    # The table by batch size is taken and dropped, as vLLM does under data parallelism: every step drafts the most.
    "ignore_schedule": _whole(0, 1),
    "garble_tool_call": _number(0.0, 1.0),
    "verifier": _verifier,
}
SPECULATION_CHECKS: Mapping[str, Check] = {
    "method": _one_of("draft_model", "ngram", "heads"),
    "num_speculative_tokens": _whole(1, MOST_DRAFTED),
    "draft_sampling": _one_of("sampled", "greedy"),
    "prompt_lookup_min": _whole(1, 16),
    "prompt_lookup_max": _whole(1, 16),
    "tree": _or_none(_widths),
    TABLE: _or_none(_rows),
}
OWNERS = {"prompt_lookup_min": "ngram", "prompt_lookup_max": "ngram", "tree": "heads"}
OPTION_CHECKS: Mapping[str, Check] = {
    "host": _TEXT,
    "port": _whole(0, 65535),
    "model": _TEXT,
    "corpus": _one_of("python", "prose"),
    "speculative": _or_none(lambda _, value: speculation_of(value)),
    "slow_by": _number(0.0, 100.0),
    "times_as_fast": _number(1.0, 1000.0),
    "kv_capacity_tokens": _or_none(_whole(64, 10**9)),
    "max_model_len": _whole(16, 131072),
    "max_num_seqs": _whole(1, 4096),
    "max_num_batched_tokens": _whole(16, 131072),
    "prefix_caching": _FLAG,
    "seed": _whole(0, 2**63 - 1),
    "jitter_nats": _number(0.0, 5.0),
    "faults": _faults,
}
