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
NOT_REPORTED = "not reported"
FACT_STATES = {
    "differs": "must be equal, differs:",
    "accepted": "differs, accepted (accept_differences):",
    "may differ": "may differ (part of the change, or judged by the verdict):",
    "not known": "not compared (not reported, not declared):",
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
    "PASS": "shown to be within its limit; for the gain: shown, and the measured value reaches its target",
    "FAIL": "shown to be worse than the baseline and past its limit (error rate 5 % for all checks of a run together);"
    " for the gain: shown to miss its target",
    "INCONCLUSIVE": "neither PASS nor FAIL is shown; the sentence says what settles it",
    "NODATA": "not measured; the reason is beside it",
    "INVALID": "measured under conditions that allow no judgement",
    "ADVISORY": "shown, never part of the verdict",
}


@dataclass(frozen=True, slots=True)
class VerdictName:
    """How one verdict is put to a reader: a headline, what it means, and its tone (a colour class)."""

    headline: str
    meaning: str
    tone: str


VERDICTS: dict[VerdictWord, VerdictName] = {
    "PROMOTE": VerdictName("Enable speculation", "All required guardrails hold; the gain is shown.", "good"),
    "CAPPED": VerdictName(
        "Enable speculation up to a cap",
        "Everything passed up to the cap, and not above it. Confirm it by a run up to the cap.",
        "mixed",
    ),
    "HOLD": VerdictName("Do not enable it yet", "Neither the gain nor harm is shown.", "wait"),
    "ROLLBACK": VerdictName("Keep speculation off", "Harm is shown.", "bad"),
    "INVALID": VerdictName("No verdict", "The data cannot support a verdict. Fix the failed checks, then run again.", "void"),
}
_LABELS = {row.id: row.label for row in QUANTITIES} | {row.id: row.label for row in METRICS.values()}


def metric(name: str) -> str:
    """A metric's name for people: 'tpot_p95' is 'TPOT p95'; an unknown one keeps its own words."""
    return _LABELS.get(name, name.replace("_", " "))
