"""Before any load: does each arm answer, does it stream, how long are its tokens?

One request per distinct sampling goes to both arms, through the very client that will measure them. What is wrong here
ends the run in one line, before minutes are spent.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specbench.arms.arms import RunningArm, asked_at
from specbench.errors import RefusedError, UnreachableError
from specbench.explain import notes
from specbench.load.parent import LoadGenerator
from specbench.load.session import drive, requests_block, works_of
from specbench.model.captures import Capture
from specbench.model.records import RequestRecord
from specbench.model.scenario import ArmName, Scenario
from specbench.net.urls import asked_path, models_path
from specbench.prompts.request_body import STREAM_OPTIONS, body_of, refuses_fields
from specbench.prompts.sampler import Prompt, PromptSource, prompt
from specbench.prompts.token_estimate import DEFAULT_ESTIMATOR, TokenEstimator, disagreement, measured
from specbench.stream.record import RequestSpec, record_of
from specbench.telemetry import ENGINES
from specbench.telemetry.endpoint import MODELS, ServedEndpoint, recognise, served_model
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


@dataclass(frozen=True, slots=True)
class Way:
    """How an arm is asked beyond what the scenario says, as its first answers showed: for which model, where, without what.

    `engine`: the one that it was recognised as, None where the scenario names it. `moved`: the path to which the endpoint
    redirects; `listed_instead`: the models that it lists where it does not list the one that is asked for.
    """

    model: str
    engine: str | None = None
    moved: str | None = None
    left_out: tuple[str, ...] = ()
    listed_instead: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


NO_WAY = Way("")


def way_of(ready: RunningArm, way: Way) -> RunningArm:
    """The arm, to be asked in this way."""
    extra_body = {**ready.arm.extra_body, **dict.fromkeys(way.left_out)}
    arm = replace(ready.arm, engine=way.engine or ready.arm.engine, model=way.model, extra_body=extra_body)
    return replace(ready, arm=arm, moved=way.moved)


def first_way(ready: RunningArm, name: ArmName) -> Way:
    """The model to ask for: the one the scenario names, listed or not, else the only one that the endpoint serves; and the engine
    that the endpoint's answers tell, where the scenario names none.

    Raises:
        UnreachableError: the endpoint does not answer.
        RefusedError: it serves several models, or none, and none was named.
    """
    listed_at = models_path(asked_path(ready.arm.url or ready.url, ready.arm.path, MODELS))
    served = served_model(ready.url, ready.headers, ready.arm.model, name, listed_at, ready.secrets)
    way = Way(served.name, engine=_recognised(ready) if ready.arm.recognise else None)
    if not served.listed_instead:
        return way
    note = f"arms.{name}: {notes.not_listed(ready.url, served.listed_instead, served.name)}"
    return replace(way, listed_instead=served.listed_instead, notes=(note,))


def _recognised(ready: RunningArm) -> str | None:
    found = recognise(ready.url, ready.headers, ready.secrets)
    return None if found is None else found.name


def token_unit(ready: RunningArm, documents: Sequence[str]) -> TokenEstimator:
    """Tokens per piece of these documents as this endpoint counts them; unmeasured where it cannot count."""
    tokenize = ENGINES[ready.arm.engine].tokenize
    if tokenize is None:
        return DEFAULT_ESTIMATOR
    step = max(1, len(documents) // SAMPLES)
    texts = [document[:SAMPLE_CHARS] for document in documents[::step][:SAMPLES]]
    counts: list[int] = []
    with HttpGetter(ready.secrets) as getter:
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
    return tried(child, scenario, ready, name, drawing, Way(ready.arm.model or ""))[1]


def tried(
    child: LoadGenerator, scenario: Scenario, ready: RunningArm, name: ArmName, drawing: PromptSource, way: Way
) -> tuple[Way, tuple[RequestRecord, ...]]:
    """The way in which the arm answers, and its records of one request per sampling.

    Where the arm refuses `stream_options`, or all that its engine is asked for besides, it is asked once more without; where it
    redirects, it is asked there from now on.

    Raises:
        UnreachableError: the arm failed its first request.
        RefusedError: the arm does not stream, or refuses a sampling, or does not know a model that it does not list.
    """
    records, moved = _asked_once(child, scenario, ready, name, drawing)
    for left_out in _left_out(ready, scenario) if refuses_fields(records) else ():
        said = f"arms.{name}: {notes.without_fields(ready.url, left_out)}"
        bare = replace(way, left_out=left_out, notes=(*way.notes, said))
        again, moved_again = _asked_once(child, scenario, way_of(ready, bare), name, drawing)
        if any(record.outcome == "ok" for record in again):
            way, records, moved = bare, again, moved_again
            break
    if moved is not None:
        way = replace(way, moved=moved, notes=(*way.notes, f"arms.{name}: {notes.redirects(ready.url, [moved])}"))
    for record in records:
        _refuse_unfit(record, ready, name, way)
    if not records:
        raise UnreachableError(f"arms.{name}: {ready.url} did not respond within {FIRST_ANSWER_S:g} s; check the engine's log")
    return way, records


def _left_out(ready: RunningArm, scenario: Scenario) -> list[tuple[str, ...]]:
    """The fields that a server in front of the engine may refuse, fewest first: of those that the scenario does not set."""
    extras = ENGINES[ready.arm.engine].request_extras(scenario.workload.route, True)
    ours = tuple(field for field in extras if field not in ready.arm.extra_body)
    return [fields for fields in dict.fromkeys(((STREAM_OPTIONS,), ours)) if fields and {*fields} <= {*ours}]


def _asked_once(
    child: LoadGenerator, scenario: Scenario, ready: RunningArm, name: ArmName, drawing: PromptSource
) -> tuple[tuple[RequestRecord, ...], str | None]:
    """The records of one request per sampling, and the path to which the endpoint redirected them."""
    engine = ENGINES[ready.arm.engine]
    prompts = _first_prompts(scenario, name, drawing)
    extras = engine.request_extras(scenario.workload.route, True)
    bodies = [body_of(p, scenario.workload, ready.arm.model or "", extras, ready.arm) for p in prompts]
    url, path = asked_at(ready, scenario.workload.route)
    served = ServedEndpoint(url, ready.headers, ready.arm.model or "", ready.secrets)
    order = requests_block(f"preflight/{name}", served, path, len(prompts), FIRST_ANSWER_S)
    records: list[RequestRecord] = []
    moved: list[str] = []

    def take(capture: Capture) -> None:
        question = prompts[capture.index]
        asked = RequestSpec(question.bin, question.sampling.name, question.max_tokens)
        records.append(record_of(capture, asked, engine.stream, ready.secrets))
        if capture.redirected is not None:
            moved.append(capture.redirected)

    drive(child, order, works_of(bodies), take)
    return tuple(records), moved[-1] if moved else ready.moved


def prompt_note(scenario: Scenario, name: ArmName, drawing: PromptSource, records: Sequence[RequestRecord]) -> str | None:
    """What to know where the arm counts its first prompts otherwise than they were drawn; None where it does not."""
    told = {record.index: record.prompt_tokens for record in records}
    prompts = _first_prompts(scenario, name, drawing)
    counted = [drawing.unit.of(asked.whole_text) for asked in prompts]
    bands = {one.name: one.input_tokens for one in scenario.workload.bins}
    return disagreement(counted, [told.get(asked.index) for asked in prompts], bands)


def _first_prompts(scenario: Scenario, name: ArmName, drawing: PromptSource) -> list[Prompt]:
    return [
        replace(prompt(drawing, f"preflight/{name}", None, sampling.name, 0), index=index, max_tokens=8)
        for index, sampling in enumerate(scenario.workload.sampling)
    ]


def _refuse_unfit(record: RequestRecord, ready: RunningArm, name: ArmName, way: Way) -> None:
    if record.outcome == "ok":
        return
    why = record.reason or record.outcome
    if way.listed_instead and record.outcome in ("http_error", "in_band_error") and record.index == 0:
        listed = notes.few(way.listed_instead)
        raise RefusedError(f"arms.{name}: {ready.url} serves {listed}, not {way.model} ({why}); name a served model: --model")
    if record.outcome in _NOBODY and record.index == 0:
        raise UnreachableError(f"arms.{name}: {ready.url} failed the first request: {why}")
    if record.outcome == "not_streamed":
        raise RefusedError(f"arms.{name}: {ready.url} does not stream ({why}); latency per token needs a streamed answer")
    if record.outcome in ("cut", "unanswered", "empty_output"):
        return
    raise RefusedError(f"arms.{name}: {ready.url} refused or failed sampling '{record.sampling}': {why}")
