"""What things are called in every report: metrics, roles, states, verdicts, and a glossary. No number lives here."""

from dataclasses import dataclass

from specbench.model.metrics import METRICS, QUANTITIES
from specbench.model.result import VerdictWord
from specbench.model.scenario import Role

ROLES: dict[Role, str] = {"success": "benefit", "guardrail": "guardrail", "safety": "safety", "advisory": "advisory"}
GLYPHS = {"PASS": "✓", "FAIL": "✗", "INCONCLUSIVE": "?", "NODATA": "–", "INVALID": "!", "ADVISORY": "·"}
COUNTS = {
    "requests": "requests",
    "ok": "ok",
    "failed": "failed",
    "cut": "cut at the block's end",
    "tokens": "tokens",
    "chunks": "chunks",
    "censored_chunks": "chunks without a time of their own",
}
COUNT_GROUPS = {"by_outcome": "outcome", "finish_reasons": "finish", "stamp_sources": "stamps by", "token_sources": "tokens by"}
CHARACTERS = "characters per token"
SAME_TEXT = "greedy answers with the same text in both arms"
NOT_TOLD = "not told"
FACT_STATES = {
    "differs": "must be equal, and is not:",
    "accepted": "differs, and was accepted by name (accept_differences):",
    "may differ": "comes with the change under test, or is weighed by the verdict; shown only:",
    "not known": "not told by at least one arm and not declared, so not compared:",
    "equal": "equal:",
}
FACTS = {
    "url": "URL",
    "kv_dtype": "KV cache format",
    "kv_capacity_tokens": "KV cache, tokens",
    "memory_share": "GPU memory share",
    "max_running": "requests at once",
}
# How each engine is told to speculate: an option of its command, or a key of its settings; None where any may be behind it.
SPECULATION_FLAGS: dict[str, str | None] = {
    "embedded": "--speculative",
    "vllm": "--speculative-config",
    "sglang": "--speculative-algorithm",
    "llamacpp": "--spec-type",
    "tgi": "--speculate",
    "trtllm": "speculative_config",
    "lmdeploy": "--speculative-algorithm",
    "openai": None,
}
STATES = {
    "PASS": "shown to be within its limit; for the benefit: shown to be a gain, and the measured value reaches its target",
    "FAIL": "shown to be worse than the baseline (one error in 20 for all checks of a run together), and shown to be past the"
    " limit; a fixed limit: shown to be past it; for the benefit: shown to miss its target",
    "INCONCLUSIVE": "neither PASS nor FAIL is shown; the sentence says what would settle it",
    "NODATA": "could not be measured; the reason stands beside it",
    "INVALID": "measured under conditions that do not allow a judgement",
    "ADVISORY": "shown, never part of the verdict",
}


@dataclass(frozen=True, slots=True)
class VerdictName:
    """How one verdict is put to a reader: a headline, what it means, and its tone (a colour class)."""

    headline: str
    meaning: str
    tone: str


VERDICTS: dict[VerdictWord, VerdictName] = {
    "PROMOTE": VerdictName("Switch speculation on", "Every required guardrail holds and the benefit is shown.", "good"),
    "CAPPED": VerdictName(
        "Switch speculation on, up to a cap",
        "Everything passed up to the cap, and not above it; a run up to the cap must confirm it.",
        "mixed",
    ),
    "HOLD": VerdictName("Do not switch it on yet", "Neither benefit nor harm is shown well enough to act on.", "wait"),
    "ROLLBACK": VerdictName("Keep speculation off", "Harm is shown.", "bad"),
    "INVALID": VerdictName("No judgement", "The measurement cannot carry one; mend what the reasons name and run again.", "void"),
}
_LABELS = {row.id: row.label for row in QUANTITIES} | {row.id: row.label for row in METRICS.values()}


def metric(name: str) -> str:
    """A metric's name for people: 'tpot_p95' is 'TPOT p95'; an unknown one keeps its own words."""
    return _LABELS.get(name, name.replace("_", " "))
