"""What may stand in a scenario, as pydantic models: its parts, their keys, and the defaults.

Types of single fields are `field_types.py`'s, what depends on a profile is `parse.py`'s. No other module knows pydantic's models.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from specbench.model.data.datasets import SAMPLE, BrokenLines, Kept, ShapeName, TurnChoice
from specbench.net.urls import address_fault
from specbench.scenario.answer_forms import CommonFields, RegularExpression, form_given
from specbench.scenario.asking import limit_fault, path_fault
from specbench.scenario.field_types import (
    MOST_LEVELS,
    AnyFields,
    DifferingShare,
    Fraction,
    Headers,
    HeaderVariables,
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
    Variable,
    page_fault,
    start_share,
)
from specbench.scenario.key_meanings import with_meanings
from specbench.scenario.secret_detection import is_secret_name, secret_field, secret_word

EngineName = Literal["embedded", "vllm", "sglang", "llamacpp", "tgi", "trtllm", "lmdeploy", "openai"]


class Strict(BaseModel):
    """Unknown keys are errors and nothing is converted silently."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class LaunchSchema(Strict):
    """`arms.*.launch`: a command of one's own, or `model` (and `program`, `arguments`) for the engine's ready-made one."""

    command: Annotated[list[str], Field(min_length=1)] | None = None
    program: Annotated[list[str], Field(min_length=1)] | None = None
    model: str | None = None
    arguments: list[str] = []
    env: dict[Variable, str] = {}
    secrets: list[Variable] = []
    gpu: str | None = None
    port: Annotated[int, Field(ge=1, le=65_535)] | None = None
    ready: Annotated[str, Field(pattern=r"^/")] | None = None
    timeout_s: Seconds = 600.0
    log: str | None = None
    sleep: bool = False

    @field_validator("env")
    @classmethod
    def _no_secret(cls, value: dict[str, str]) -> dict[str, str]:
        for variable in value:
            if is_secret_name(variable):
                raise ValueError(f"{variable} looks like a secret, and scenarios are stored: export it and name it in secrets")
        return value

    @field_validator("command", "program", "arguments")
    @classmethod
    def _no_secret_word(cls, value: list[str] | None) -> list[str] | None:
        if (word := secret_word(value or ())) is not None:
            raise ValueError(
                f"{word} contains a secret, and scenarios are stored: leave it out, export the engine's variable for it"
                " (such as VLLM_API_KEY or HF_TOKEN) and name that in secrets"
            )
        return value


class ArmSchema(Strict):
    """`arms.baseline`, `arms.speculative`."""

    engine: EngineName | None = None
    url: str | None = None
    path: str | None = None
    model: str | None = None
    api_key_env: Variable | None = None
    header_env: HeaderVariables = {}
    headers: Headers = {}
    extra_body: AnyFields = {}
    limit_key: str = "max_tokens"
    metrics_url: str | None = None
    speculative: AnyFields | None = None
    slow_by: Fraction = 0.0
    options: AnyFields = {}
    declare: dict[str, str] = {}
    launch: LaunchSchema | None = None

    @model_validator(mode="before")
    @classmethod
    def _no_limits(cls, value: Any) -> Any:
        if isinstance(value, dict) and "limits" in value:
            raise ValueError("limits are one set for both arms, so that neither is waited for longer: move them to matrix.limits")
        return value

    @field_validator("url", "metrics_url")
    @classmethod
    def _asked(cls, value: str | None, field: ValidationInfo) -> str | None:
        """`metrics_url` may list several, one for each replica."""
        several = field.field_name == "metrics_url"
        for address in () if value is None else value.split(",") if several else (value,):
            if (fault := (page_fault if several else address_fault)(address.strip())) is not None:
                raise ValueError(fault)
        return value

    @field_validator("path", "limit_key")
    @classmethod
    def _askable(cls, value: str | None, field: ValidationInfo) -> str | None:
        fault_of = path_fault if field.field_name == "path" else limit_fault
        if value is not None and (fault := fault_of(value)) is not None:
            raise ValueError(fault)
        return value

    @field_validator("options")
    @classmethod
    def _gpu_asked(cls, value: dict[str, Any]) -> dict[str, Any]:
        for address in str(value.get("gpu_metrics_url") or "").split(","):
            if address.strip() and (fault := page_fault(address.strip())) is not None:
                raise ValueError(f"gpu_metrics_url {fault}")
        return value

    @field_validator("extra_body", "options", "speculative", "declare")
    @classmethod
    def _no_secret(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if (name := secret_field(value)) is not None:
            raise ValueError(
                f"{name} looks like a secret, and scenarios are stored: leave it out, and send it as a header (api_key_env,"
                " header_env) that names an environment variable"
            )
        return value

    @model_validator(mode="after")
    def _one_header_once(self) -> "ArmSchema":
        bearer = () if self.api_key_env is None else ("Authorization",)
        names = [name.lower() for name in (*self.headers, *self.header_env, *bearer)]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"the header {twice} is named twice, by headers, header_env or api_key_env")
        return self


class ArmsSchema(Strict):
    """`arms`."""

    baseline: ArmSchema
    speculative: ArmSchema


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

    @field_validator("labels")
    @classmethod
    def _no_secret(cls, value: dict[str, str]) -> dict[str, str]:
        if (name := secret_field(value)) is not None:
            raise ValueError(f"{name} looks like a secret, and labels are stored with the run and shown: leave it out")
        return value


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a scenario file."""
    return with_meanings(ScenarioSchema.model_json_schema())
