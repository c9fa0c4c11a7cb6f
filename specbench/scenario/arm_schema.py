"""What may stand under `arms` in a scenario, as pydantic models."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from specbench.net.urls import address_fault
from specbench.scenario.asking import limit_fault, path_fault
from specbench.scenario.field_types import (
    AnyFields,
    Fraction,
    Headers,
    HeaderVariables,
    ModelName,
    Seconds,
    Variable,
    page_fault,
)
from specbench.scenario.text.secret_detection import is_secret_name, secret_field, secret_word

EngineName = Literal["embedded", "vllm", "sglang", "llamacpp", "tgi", "trtllm", "lmdeploy", "openai"]


class Strict(BaseModel):
    """Unknown keys are errors and nothing is converted silently."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class LaunchSchema(Strict):
    """`arms.*.launch`: a command of one's own, or `model` (and `program`, `arguments`) for the engine's ready-made one."""

    command: Annotated[list[str], Field(min_length=1)] | None = None
    program: Annotated[list[str], Field(min_length=1)] | None = None
    model: ModelName | None = None
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
    model: ModelName | None = None
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
