"""Before any load: does each arm answer, does it stream, how long are its tokens?

One request per distinct sampling goes to both arms, through the very client that will measure them. What is wrong here
ends the run in one line, before minutes are spent.
"""

from collections.abc import Sequence
from dataclasses import replace

from specbench.arms.arms import RunningArm
from specbench.errors import RefusedError, UnreachableError
from specbench.load.parent import LoadGenerator
from specbench.load.session import drive, requests_block, works_of
from specbench.model.records import Capture, RequestRecord
from specbench.model.scenario import ArmName, Scenario
from specbench.prompts.request_body import ROUTES, body_of
from specbench.prompts.sampler import Prompt, PromptSource, prompt
from specbench.prompts.token_estimate import DEFAULT_ESTIMATOR, TokenEstimator, disagreement, measured
from specbench.stream.record import RequestSpec, record_of
from specbench.telemetry import ENGINES
from specbench.telemetry.endpoint import ServedEndpoint
from specbench.telemetry.endpoint_facts import token_ids
from specbench.telemetry.http import HttpGetter

TOKENIZE_S = 5.0
SAMPLES = 8
SAMPLE_CHARS = 1500
FIRST_ANSWER_S = 120.0
# Outcomes of a first request that mean nobody usable is there; others mean the endpoint cannot be measured.
_NOBODY = (
    "connect_failed",
    "timeout_connect",
    "http_error",
    "disconnected",
    "timeout_first_token",
    "timeout_total",
    "client_resource",
)


def token_unit(ready: RunningArm, documents: Sequence[str]) -> TokenEstimator:
    """Tokens per piece of these documents as this endpoint counts them; unmeasured where it cannot count."""
    tokenize = ENGINES[ready.arm.engine].tokenize
    if tokenize is None:
        return DEFAULT_ESTIMATOR
    step = max(1, len(documents) // SAMPLES)
    texts = [document[:SAMPLE_CHARS] for document in documents[::step][:SAMPLES]]
    counts: list[int] = []
    with HttpGetter() as getter:
        for text in texts:
            path, body = tokenize(ready.arm.model or "", text)
            ids = token_ids(getter.post(ready.url + path, ready.headers, TOKENIZE_S, body).json())
            if ids is None:
                return DEFAULT_ESTIMATOR
            counts.append(len(ids))
    return measured(texts, counts)


def try_arm(
    child: LoadGenerator, scenario: Scenario, ready: RunningArm, name: ArmName, drawing: PromptSource
) -> tuple[RequestRecord, ...]:
    """The records of one request per sampling, which also wakes a freshly started engine.

    Raises:
        UnreachableError: the arm failed its first request.
        RefusedError: the arm does not stream, or refuses a sampling.
    """
    engine = ENGINES[ready.arm.engine]
    prompts = _first_prompts(scenario, name, drawing)
    extras = engine.request_extras(scenario.workload.route, True)
    bodies = [body_of(p, scenario.workload, ready.arm.model or "", extras, ready.arm) for p in prompts]
    served = ServedEndpoint(ready.url, ready.headers, ready.arm.model or "")
    order = requests_block(f"preflight/{name}", served, ROUTES[scenario.workload.route], len(prompts), FIRST_ANSWER_S)
    records: list[RequestRecord] = []

    def take(capture: Capture) -> None:
        asked = prompts[capture.index]
        records.append(record_of(capture, RequestSpec(asked.bin, asked.sampling.name, asked.max_tokens), engine.stream))

    drive(child, order, works_of(bodies), take)
    for record in records:
        _refuse_unfit(record, ready, name)
    if not records:
        raise UnreachableError(f"arms.{name}: {ready.url} gave no answer at all within {FIRST_ANSWER_S:g} s")
    return tuple(records)


def prompt_note(scenario: Scenario, name: ArmName, drawing: PromptSource, records: Sequence[RequestRecord]) -> str | None:
    """What to know where the arm counts its first prompts otherwise than they were drawn; None where it does not."""
    told = {record.index: record.prompt_tokens for record in records}
    prompts = _first_prompts(scenario, name, drawing)
    counted = [drawing.unit.of(asked.text) + drawing.unit.of(asked.system or "") for asked in prompts]
    bands = {one.name: one.input_tokens for one in scenario.workload.bins}
    return disagreement(counted, [told.get(asked.index) for asked in prompts], bands)


def _first_prompts(scenario: Scenario, name: ArmName, drawing: PromptSource) -> list[Prompt]:
    return [
        replace(prompt(drawing, f"preflight/{name}", None, sampling.name, 0), index=index, max_tokens=8)
        for index, sampling in enumerate(scenario.workload.sampling)
    ]


def _refuse_unfit(record: RequestRecord, ready: RunningArm, name: ArmName) -> None:
    if record.outcome == "ok":
        return
    why = record.reason or record.outcome
    if record.outcome in _NOBODY and record.index == 0:
        raise UnreachableError(f"arms.{name}: {ready.url} failed the first request: {why}")
    if record.outcome == "not_streamed":
        raise RefusedError(f"arms.{name}: {ready.url} does not stream ({why}); latency per token needs a streamed answer")
    if record.outcome in ("cut", "empty_output"):
        return
    raise RefusedError(f"arms.{name}: {ready.url} refused or failed sampling '{record.sampling}': {why}")
