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
GLOSSARY: tuple[tuple[str, str], ...] = (
    ("Ratio", "Speculative ÷ baseline. Below 1 is better for times, above 1 for throughput."),
    (
        "Interval",
        "The two-sided range that holds the true ratio with the stated confidence, from the scatter between pairs of blocks."
        " A sentence that says 'below' or 'above' with the same confidence names one side alone, and so lies further in.",
    ),
    ("TTFT", "Time to first token: first content event − sent (the moment before the request is written to an open connection)."),
    ("TTFT by prompt", "The geometric mean, over the prompts that both arms answered, of the TTFT of one ÷ that of the other."),
    ("TPOT", "Time per output token of a request: (last − first content event) ÷ (tokens − tokens of the first engine step)."),
    ("ITL", "Inter-token latency over engine steps: a gap g that brings k tokens counts as k values of g ÷ k."),
    ("Pace", "Time for the next 8 tokens ÷ 8, over sliding windows in a request: what a reader of the stream feels."),
    ("Chunk gap", "Time between consecutive content events, whatever number of tokens each holds."),
    ("E2E", "Last content event − sent (as for TTFT)."),
    ("Output TPS", "Tokens received inside the steady window ÷ its length."),
    ("Completed req/s", "Shares of each request's tokens that fell inside the window, summed, ÷ its length."),
    ("Acceptance length", "1 + accepted ÷ verification rounds: tokens that a verification brings on average."),
    ("Acceptance rate", "Accepted ÷ drafted. It falls with the draft's length by arithmetic alone."),
    ("Alpha", "Accepted ÷ (accepted + rounds that ended in a rejection): the chance that one drafted token is kept."),
    ("Tokens per step", "Output tokens ÷ all decode steps, drafted or not."),
    (
        "Step-time ratio",
        "Mean step time of the speculative arm ÷ of the baseline. Break-even is where tokens per step equals it.",
    ),
    ("Arm, baseline", "One of the two servers compared: the baseline runs without speculation, the speculative arm with it."),
    ("Stream", "One client that sends its next request when its last answer has ended: concurrency 4 is 4 streams."),
    ("Block, pair, cell", "One arm under steady load; two blocks, one per arm, side by side; all pairs at one load."),
    ("Primary cell", "The cell that must show the benefit; every other cell must only keep its limits."),
    ("Steady window", "The part of a block that is measured: after its ramp, before its end."),
    ("Smoke, standard", "Profiles: smoke has few pairs and is for a first look, standard has 10 and is meant for a decision."),
    (
        "Guardrail",
        "A limit on how much worse a metric may get. PASS needs proof, as FAIL does; without proof it is INCONCLUSIVE.",
    ),
    ("Range, cap", "The unbroken run of loads around the primary cell where everything passed, and its highest load."),
    (
        "Running requests",
        "How many requests the server works on at once, by its own gauge, on average. Fewer than the streams where they wait.",
    ),
)
_LABELS = {row.id: row.label for row in QUANTITIES} | {row.id: row.label for row in METRICS.values()}
GLOSSARY += tuple((word, name.meaning) for word, name in VERDICTS.items() if word != "INVALID")


def metric(name: str) -> str:
    """A metric's name for people: 'tpot_p95' is 'TPOT p95'; an unknown one keeps its own words."""
    return _LABELS.get(name, name.replace("_", " "))
