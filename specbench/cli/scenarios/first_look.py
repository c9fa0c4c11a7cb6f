"""What two endpoints say of themselves at first sight, for a scenario yet to be written. Nobody is asked anything here."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specbench.arms.arms import bare_arm
from specbench.credentials import key_header, secrets_in
from specbench.errors import RefusedError, UnreachableError
from specbench.model.scenario import ArmName
from specbench.net.urls import base_url, without_secrets
from specbench.telemetry import ENGINES
from specbench.telemetry.endpoint import MODELS, ServedEndpoint, endpoint_of, get_all, recognise
from specbench.telemetry.endpoint_facts import model_names
from specbench.telemetry.metrics_pages import REMEDIES

TRIES = 3  # of a round trip, of which the quickest counts
REFUSED = (401, 403)


@dataclass(frozen=True, slots=True)
class Reception:
    """How an endpoint answers the question for its models: with them, or that a key is needed."""

    models: tuple[str, ...]
    needs_key: bool
    round_trip_s: float


@dataclass(frozen=True, slots=True)
class FoundEndpoint:
    """One endpoint as it told of itself; None for what it does not tell."""

    url: str
    engine: str
    version: str | None
    context_length: int | None
    counts_tokens: bool
    speculation: str | None  # "on" or "off"
    round_trip_s: float


def reception(arm: ArmName, url: str, api_key_env: str | None) -> Reception:
    """Whether anybody is there, and which models are served.

    Raises:
        UnreachableError: nobody answers.
        ScenarioError: the variable of the key is not set.
    """
    headers = _headers(api_key_env)
    took: list[float] = []
    for _ in range(TRIES):
        began = time.perf_counter()
        answer = get_all(base_url(url), headers, [MODELS], secrets_in(headers.values()))[MODELS]
        took.append(time.perf_counter() - began)
        if answer.failure is not None:
            shown = without_secrets(url)
            raise UnreachableError(f"--{arm}: {shown} does not answer ({answer.problem}); {REMEDIES[answer.failure]}")
    return Reception(tuple(model_names({MODELS: answer})), answer.status in REFUSED, min(took))


def look_at(arm: ArmName, url: str, model: str, api_key_env: str | None, round_trip_s: float) -> FoundEndpoint:
    """The endpoint's engine and what of its facts a scenario needs."""
    headers = _headers(api_key_env)
    served = ServedEndpoint(base_url(url), headers, model, secrets_in(headers.values()))
    engine = recognise(served.url, headers, served.secrets) or ENGINES["openai"]
    told = endpoint_of(arm, bare_arm(engine.name, url, model, {}), served, engine)
    context = told.facts.get("context_length", "")
    return FoundEndpoint(
        url=url,
        engine=engine.name,
        version=told.engine_version,
        context_length=int(context) if context.isdecimal() else None,
        counts_tokens="tokenizer" in told.facts,
        speculation=told.facts.get("speculation"),
        round_trip_s=round_trip_s,
    )


def models_in_common(baseline: Sequence[str], speculative: Sequence[str]) -> tuple[str, ...]:
    """The models that both serve, in the baseline's order.

    Raises:
        RefusedError: both list some, and none is in both lists.
    """
    both = tuple(name for name in baseline if name in speculative)
    if baseline and speculative and not both:
        raise RefusedError(
            f"the arms serve no model in common: {_few(baseline)}, and {_few(speculative)}; serve one model in both, or give "
            "both the same name (such as --served-model-name)"
        )
    return both


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


def _headers(api_key_env: str | None) -> Mapping[str, str]:
    return key_header(api_key_env, "--api-key-env")
