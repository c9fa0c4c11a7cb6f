"""What may stand in a scenario, as pydantic models: its parts, their keys, and the defaults.

Types of single fields are `field_types.py`'s, what depends on a profile is `parse.py`'s. Arms are `arm_schema.py`'s.
No other module knows pydantic's models.
"""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator

from specbench.model.data.datasets import SAMPLE, BrokenLines, Kept, ShapeName, TurnChoice
from specbench.scenario.answer_forms import CommonFields, RegularExpression, form_given
from specbench.scenario.arm_schema import ArmsSchema, Strict
from specbench.scenario.field_types import (
    MOST_LEVELS,
    AnyFields,
    DifferingShare,
    Fraction,
    Level,
    Milliseconds,
    Name,
    Pause,
    Rate,
    Seconds,
    Speed,
    StartShare,
    ThinkBand,
    TokenBand,
    TurnBand,
    start_share,
)
from specbench.scenario.key_meanings import with_meanings
from specbench.scenario.text.secret_detection import secret_field


class AnswerFormSchema(Strict):
    """`workload.bins[].valid`."""

    regex: RegularExpression | None = None
    json_schema: str | None = None


ValidForm = Annotated[AnswerFormSchema, BeforeValidator(form_given, json_schema_input_type=AnswerFormSchema | Literal["json"])]


class BinSchema(Strict):
    """An entry of `workload.bins`."""

    name: Name
    input_tokens: TokenBand
    output_tokens: TokenBand
    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    label: list[str] = []
    valid: (
        Annotated[AnswerFormSchema, BeforeValidator(form_given, json_schema_input_type=AnswerFormSchema | Literal["json"])] | None
    ) = None


class SamplingSchema(Strict):
    """An entry of `workload.sampling`."""

    name: Name
    temperature: Annotated[float, Field(ge=0, le=10)]
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=1)] | None = None
    seed: int | None = None


class SourceSchema(Strict):
    """`workload.source`."""

    corpus: Literal["python", "prose"] | None = None
    dataset: str | None = None
    shape: ShapeName = "auto"
    turns: TurnChoice | None = None
    label: str | None = None
    keep: list[Kept] = ["tools", "response_format"]
    tokenizer: str | None = None
    sample: Annotated[int, Field(ge=1, le=100_000)] = SAMPLE
    broken: BrokenLines = "refuse"
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None


class SessionsSchema(Strict):
    """`workload.sessions`."""

    turns: TurnBand = (2, 6)
    think_s: ThinkBand = (1.0, 8.0)
    history: Literal["dataset", "own"] = "dataset"


class WorkloadSchema(Strict):
    """`workload`."""

    source: SourceSchema
    route: Literal["chat", "completions"] = "chat"
    length: Literal["natural", "forced"] = "natural"
    streaming: bool = True
    shared_prefix_tokens: Annotated[int, Field(ge=0)] = 0
    extra_body: CommonFields = {}
    bins: Annotated[list[BinSchema], Field(min_length=1, max_length=MOST_LEVELS)]
    sampling: Annotated[list[SamplingSchema], Field(min_length=1, max_length=MOST_LEVELS)] = [
        SamplingSchema(name="greedy", temperature=0.0)
    ]
    sessions: SessionsSchema | None = None


class BlockSchema(Strict):
    """`matrix.block`."""

    min_requests: Annotated[int, Field(ge=1)] | None = None
    min_s: Seconds | None = None
    max_s: Seconds | None = None


class LimitsSchema(Strict):
    """`matrix.limits`."""

    first_token_s: Seconds | None = None
    stall_s: Seconds | None = None
    total_s: Seconds | None = None


class StartSdSchema(Strict):
    """`matrix.start_sd`: a share such as `1%`, or with the degrees of freedom with which it was measured."""

    sd: StartShare
    df: Annotated[float, Field(ge=1, le=100_000, allow_inf_nan=False)] | None = None


class ReplaySchema(Strict):
    """`matrix.replay`."""

    speed: Annotated[list[Speed], Field(min_length=1, max_length=MOST_LEVELS)] = [1.0]


class RampSchema(Strict):
    """`matrix.ramp`."""

    to: Rate
    over_s: Seconds
    hold_s: Pause = 0.0


class MatrixSchema(Strict):
    """`matrix`."""

    traffic: Literal["mixed", "separate"] = "mixed"
    concurrency: Annotated[list[Level], Field(min_length=1, max_length=MOST_LEVELS)] = [1, 4, 16]
    rate: Annotated[list[Rate], Field(max_length=MOST_LEVELS)] = []
    arrivals: Literal["poisson", "constant", "replay"] = "poisson"
    replay: ReplaySchema | None = None
    in_flight: Annotated[int, Field(ge=1, le=10_000)] = 256
    ramp: RampSchema | None = None
    primary: Rate | None = None
    optional: list[Rate] = []
    traffic_share: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = {}
    schedule: Literal["alternate", "simultaneous", "restart"] = "alternate"
    pairs: Annotated[int, Field(ge=2, le=1_000)] | None = None
    block: BlockSchema = BlockSchema()
    limits: LimitsSchema = LimitsSchema()
    start_sd: Annotated[StartSdSchema, BeforeValidator(start_share, json_schema_input_type=StartSdSchema | str)] = StartSdSchema(
        sd="1%"  # type: ignore[arg-type]
    )


class SuccessSchema(Strict):
    """`success`."""

    metric: str = "tpot_p50"
    improve_by: Fraction = 0.05


class GuardrailSchema(Strict):
    """An entry of `guardrails`."""

    metric: str
    role: Literal["guardrail", "safety", "advisory"] = "guardrail"
    worse_by_at_most: Fraction | None = None
    floor_ms: Milliseconds = 0.0
    slo: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    required: bool = True
    cells: list[Rate] | None = None
    bins: list[Name] | None = None


class TuneSchema(Strict):
    """`tune`."""

    vary: dict[str, list[Any]] = {}
    candidates: list[AnyFields] = []


class WatchSchema(Strict):
    """`watch`."""

    limits: dict[str, Any] = {}


class AnswersSchema(Strict):
    """`answers`."""

    check: Literal["on", "off"] = "on"
    prompts: Annotated[int, Field(ge=64, le=4096)] = 256
    differ_by_at_most: DifferingShare = 0.05
    lossy: bool = False
    examples: Annotated[int, Field(ge=0, le=20)] = 3


class ScenarioSchema(Strict):
    """The whole scenario."""

    name: Name
    seed: Annotated[int, Field(ge=0)] = 0
    arms: ArmsSchema
    workload: WorkloadSchema
    matrix: MatrixSchema = MatrixSchema()
    success: SuccessSchema = SuccessSchema()
    guardrails: list[GuardrailSchema] = []
    answers: AnswersSchema = AnswersSchema()
    defaults: Literal["on", "off"] = "on"
    place: str | Annotated[list[str], Field(min_length=1)] | None = None
    accept_differences: list[str] = []
    labels: dict[str, str] = {}
    tune: TuneSchema | None = None
    watch: WatchSchema = WatchSchema()

    @field_validator("labels")
    @classmethod
    def _no_secret(cls, value: dict[str, str]) -> dict[str, str]:
        if (name := secret_field(value)) is not None:
            raise ValueError(f"{name} looks like a secret, and labels are stored with the run and shown: leave it out")
        return value


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a scenario file."""
    return with_meanings(ScenarioSchema.model_json_schema())
