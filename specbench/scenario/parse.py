"""A scenario's text, with what overrides it (`overrides.py`), as one frozen `Scenario`. No file is opened but schemas of answers.

Order of precedence for pairs and block size: `--set`, then the scenario's own `matrix`, then the profile.
"""

import difflib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from specbench.errors import ScenarioError
from specbench.model.guardrails import effective_guardrails
from specbench.model.metrics import METRICS
from specbench.model.scenario import (
    ARMS,
    AnswersCheck,
    BlockSize,
    Guardrail,
    Limits,
    LoadRamp,
    Matrix,
    Replay,
    Scenario,
    StartSd,
    Success,
)
from specbench.model.tuning.tune_values import TunePlan
from specbench.net.urls import without_secrets
from specbench.scenario.arms import arm_of, check_schedule
from specbench.scenario.asking import other_route
from specbench.scenario.experiment_design import apply_design, check_two_arms
from specbench.scenario.overrides import Overrides, apply_overrides, flags_by_path, flags_of, limit_loads
from specbench.scenario.replay_levels import UNKNOWN_RATE, with_replayed_rates
from specbench.scenario.schema import (
    AnswersSchema,
    GuardrailSchema,
    LimitsSchema,
    MatrixSchema,
    ScenarioSchema,
    TuneSchema,
)
from specbench.scenario.text.limit_text import watch_limits
from specbench.scenario.text.secret_detection import is_secret_name, secret_field
from specbench.scenario.text.spelling import unknown_key
from specbench.scenario.text.yaml_source import Path, YamlSource, in_yaml, lone_surrogate, read_text, scalar
from specbench.scenario.workload_parts import check_sessions, workload_of

__all__ = ["PROFILES", "Overrides", "Profile", "parse_scenario"]

DEFAULT_PROFILE = "standard"
ALPHA = 0.05
# Guardrails of earlier versions, and what guards instead.
GONE = {"ttft_at_p50": "ttft_paired guards the median too, in blocks of any size"}
LONGEST_GIVEN = 120  # characters of a value that an error repeats
MOST_CELLS = 1_000
_FREE = frozenset({"labels", "declare", "extra_body", "headers", "options", "env"})  # where users name the fields
_MISPLACED = {"limits": "belongs under matrix, as matrix.limits: {first_token_s, stall_s, total_s}"}
MOST_EXACT = 2**53  # of a number with a point
SAME = "same"  # the value of `place` that declares the two places alike


@dataclass(frozen=True, slots=True)
class Profile:
    """How much is measured, and when a block's steady window opens at the latest."""

    pairs: int
    min_requests: int
    min_s: float
    ramp_s: float


PROFILES: dict[str, Profile] = {
    "smoke": Profile(pairs=4, min_requests=12, min_s=2.0, ramp_s=1.0),
    "standard": Profile(pairs=10, min_requests=30, min_s=20.0, ramp_s=5.0),
    "full": Profile(pairs=20, min_requests=60, min_s=60.0, ramp_s=10.0),
}


def parse_scenario(content: str, name: str, overrides: Overrides, trace_rate: float = UNKNOWN_RATE) -> Scenario:
    """The frozen scenario that `content` describes, every default filled in; `trace_rate` is that of arrivals to be replayed.

    Raises:
        ScenarioError: one line with file, line and key path.
    """
    if overrides.design == "aa" and overrides.place:
        raise ScenarioError("--place: an A/A run (--aa) cites no other run; omit --place")
    if (half := lone_surrogate(name)) is not None:
        raise ScenarioError(f"{name!a}: the file's name {half}; rename the file")
    text = read_text(content, name)
    if not isinstance(text.value, dict):
        raise ScenarioError(f"{name}:1: a scenario is a mapping that starts with `name:`")
    tree = with_replayed_rates(apply_overrides(text, overrides), trace_rate)
    text = replace(text, flags=flags_by_path(overrides))
    try:
        form = ScenarioSchema.model_validate(tree)
    except ValidationError as error:
        raise _first_problem(error, text) from None
    whole = replace(_frozen(form, text, content, overrides.profile or DEFAULT_PROFILE), flags=flags_of(overrides))
    if form.matrix.arrivals == "replay":
        whole = replace(whole, matrix=replace(whole.matrix, replay=Replay(mean_rate=trace_rate)))
    asked = apply_design(limit_loads(whole, overrides.up_to, overrides.rate_up_to), overrides.design)
    check_two_arms(asked)
    return asked


@dataclass(frozen=True, slots=True)
class _Given:
    """A value that the scenario gives, as an error may repeat it: its beginning, or nothing of what may be a secret."""

    value: Any
    secret: bool

    def __repr__(self) -> str:
        if self.secret:
            return "what stands there"
        whole = in_yaml(self.value)
        return whole if len(whole) <= LONGEST_GIVEN else f"{whole[:LONGEST_GIVEN]}…"


def _such_as(given: _Given) -> str:
    """How a whole number that was written with a point or an exponent is written."""
    value = given.value
    whole = isinstance(value, float) and value.is_integer() and abs(value) < MOST_EXACT and not given.secret
    return f" without point and exponent, such as {int(value)}" if whole else ""


def _in_brackets(given: _Given) -> str:
    """How one number is written as a list."""
    return f", such as [{given!r}]" if isinstance(given.value, int | float) and not isinstance(given.value, bool) else ""


def _too_long(problem: ErrorDetails, given: _Given) -> str:
    """A list with more entries than there may be, or one where two numbers belong."""
    ctx = problem.get("ctx", {})
    if ctx.get("field_type") == "List":
        return f"has {ctx.get('actual_length')} entries, and there may be {ctx.get('max_length')} at most; name fewer"
    return f"must be two numbers, such as [32, 64], not {given!r}"


def _first_problem(error: ValidationError, text: YamlSource) -> ScenarioError:
    problem = error.errors(include_url=False)[0]
    path: Path = tuple(part for part in problem["loc"] if not (isinstance(part, str) and part.startswith("function-")))
    free = not _FREE.isdisjoint(map(str, path))
    given = _Given(problem.get("input"), free and any(is_secret_name(str(part)) for part in path))
    known = {
        "extra_forbidden": _MISPLACED.get(str(path[-1]) if path else "") or unknown_key(path)
        if problem["type"] == "extra_forbidden"
        else "",
        "missing": "is required and missing",
        "bool_type": f"must be true or false, not {given!r}",
        "int_type": f"must be a whole number{_such_as(given)}, not {given!r}",
        "float_type": f"must be a number, not {given!r}",
        "string_type": f"must be text, not {given!r}; put it in quotes if text is meant",
        "model_type": f"must be a mapping, `key: value` for each, not {given!r}",
        "dict_type": f"must be a mapping, `key: value` for each, not {given!r}",
        "list_type": f"must be a list{_in_brackets(given)}, not {given!r}",
        "tuple_type": f"must be two numbers, such as [32, 64], not {given!r}",
        "too_long": _too_long(problem, given),
        "too_short": "must not be empty",
    }
    message = known.get(problem["type"], problem["msg"].removeprefix("Value error, ").replace("Input should be", "must be"))
    if problem["type"] not in known and not isinstance(given.value, dict | list) and "never a key" not in message:
        of_address = isinstance(given.value, str) and path[-1:] in (("url",), ("metrics_url",), ("path",))
        shown = _Given(without_secrets(given.value), False) if of_address else given
        message += f" (it is {shown!r})"
    return text.error(path, message)


def _frozen(form: ScenarioSchema, text: YamlSource, content: str, profile: str) -> Scenario:
    if profile not in PROFILES:
        raise ScenarioError(f"--profile {profile}: there are {', '.join(PROFILES)}")
    matrix = _matrix(form.matrix, PROFILES[profile], text)
    listed = tuple(_guardrail(rail, place, form, text) for place, rail in enumerate(form.guardrails))
    if form.success.metric not in METRICS:
        raise text.error(("success", "metric"), _unknown_metric(form.success.metric))
    if METRICS[form.success.metric].direction == "lower" and form.success.improve_by >= 1:
        gain = f"{form.success.metric} cannot fall by {form.success.improve_by:.0%}; ask for less than 100%"
        raise text.error(("success", "improve_by"), gain)
    places = [form.place] if isinstance(form.place, str) else form.place or []
    levels = len(form.matrix.concurrency) + len(form.matrix.rate)
    slices = len(form.workload.bins) * len(form.workload.sampling) if form.matrix.traffic == "separate" else 1
    if levels * slices > MOST_CELLS:
        cells = f"{levels} loads of {slices} slices each are {levels * slices} cells"
        raise text.error(("matrix",), f"{cells}, and there may be {MOST_CELLS} at most; name fewer")
    if form.matrix.arrivals == "replay" and form.workload.source.dataset is None:
        raise text.error(("matrix", "arrivals"), "replay needs the moments of a dataset: set workload.source.dataset")
    check_sessions(form, text)
    arms = (arm_of(form.arms.baseline, "baseline", text), arm_of(form.arms.speculative, "speculative", text))
    check_schedule(matrix.schedule, arms, text)
    for name, arm in zip(ARMS, arms, strict=True):
        if (fault := other_route(arm, form.workload.route)) is not None:
            where: Path = ("arms", name, "path" if getattr(form.arms, name).path else "url")
            raise text.error(where, fault)
        if arm.limit_key in form.workload.extra_body:
            drawn = f"{arm.limit_key} is drawn for each request; set output_tokens of the bins"
            raise text.error(("workload", "extra_body"), drawn)
    return Scenario(
        name=form.name,
        path=text.name,
        sha256=hashlib.sha256(content.encode()).hexdigest(),
        seed=form.seed,
        profile=profile,
        baseline=arms[0],
        speculative=arms[1],
        workload=workload_of(form.workload, text),
        matrix=matrix,
        success=Success(**form.success.model_dump()),
        guardrails=effective_guardrails(
            listed, form.defaults == "on", form.workload.length, matrix, [band.name for band in form.workload.bins]
        ),
        alpha=ALPHA,
        place=SAME if SAME in places else None,
        place_runs=tuple(dict.fromkeys(place for place in places if place != SAME)),
        accept_differences=tuple(form.accept_differences),
        labels=dict(form.labels),
        tune=None if form.tune is None else _tune(form.tune, text),
        answers=_answers(form.answers),
        watch_limits=watch_limits(form.watch.limits, text),
    )


def _answers(form: AnswersSchema) -> AnswersCheck:
    return AnswersCheck(**{**form.model_dump(), "check": form.check == "on"})


def _tune(form: TuneSchema, text: YamlSource) -> TunePlan:
    if (name := secret_field({"vary": form.vary, "candidates": form.candidates})) is not None:
        raise text.error(("tune",), f"{name} looks like a secret, and scenarios are stored: leave it out")
    return TunePlan(vary={key: tuple(values) for key, values in form.vary.items()}, candidates=tuple(form.candidates))


def _matrix(form: MatrixSchema, profile: Profile, text: YamlSource) -> Matrix:
    if len(set(form.concurrency)) != len(form.concurrency) or len(set(form.rate)) != len(form.rate):
        raise text.error(("matrix", "concurrency"), "each level may stand once")
    if form.replay is not None and form.arrivals != "replay":
        raise text.error(("matrix", "replay"), "says how arrivals are replayed, and they are not: set matrix.arrivals: replay")
    levels: Sequence[float] = (*form.concurrency, *form.rate)
    primary = form.primary if form.primary is not None else min(form.concurrency)
    for key, found in (("primary", (primary,)), ("optional", form.optional), ("traffic_share", map(_level, form.traffic_share))):
        for level in found:
            if level not in levels:
                given = f"{level:g}" if isinstance(level, float | int) else level
                raise text.error(("matrix", key), f"{given} is not a configured level ({', '.join(map(str, levels))})")
    if primary in form.optional:
        raise text.error(("matrix", "optional"), f"the primary level {primary:g} cannot be optional")
    min_s = form.block.min_s or profile.min_s
    max_s = form.block.max_s or 3 * min_s + 30
    if max_s < min_s:
        raise text.error(("matrix", "block", "max_s"), f"must not be below min_s ({min_s:g})")
    return Matrix(
        **form.model_dump(include={"traffic", "arrivals", "schedule", "in_flight"}),
        concurrency=tuple(sorted(form.concurrency)),
        rate=tuple(sorted(form.rate)),
        primary=primary,
        optional=tuple(form.optional),
        traffic_share={float(level): share for level, share in form.traffic_share.items()},
        pairs=form.pairs or profile.pairs,
        start_sd=StartSd(**form.start_sd.model_dump()),
        ramp=None if form.ramp is None else LoadRamp(**form.ramp.model_dump()),
        block=BlockSize(
            min_requests=form.block.min_requests or profile.min_requests, min_s=min_s, max_s=max_s, ramp_s=profile.ramp_s
        ),
        limits=_limits(form.limits, max_s, text),
    )


def _limits(form: LimitsSchema, max_s: float, text: YamlSource) -> Limits:
    """What a request may take: no longer than a block, so that a block can wait for every request that it sent."""
    usual = Limits()
    total_s = form.total_s or min(usual.total_s, max_s)
    for key in ("first_token_s", "stall_s", "total_s"):
        given = getattr(form, key)
        if given is not None and given > max_s:
            remedy = "lower it, or raise matrix.block.max_s"
            raise text.error(("matrix", "limits", key), f"{given:g} s is longer than a block may last ({max_s:g} s); {remedy}")
        if given is not None and given > total_s:
            raise text.error(
                ("matrix", "limits", key), f"{given:g} s is more than the whole request may take (total_s, {total_s:g} s)"
            )
    return Limits(
        first_token_s=form.first_token_s or min(usual.first_token_s, total_s),
        stall_s=form.stall_s or min(usual.stall_s, total_s),
        total_s=total_s,
    )


def _level(key: str) -> float | str:
    """The level that a key means, or the key itself where it is no number."""
    number = scalar(key)
    return number if isinstance(number, float | int) and not isinstance(number, bool) else key


def _guardrail(form: GuardrailSchema, place: int, scenario: ScenarioSchema, text: YamlSource) -> Guardrail:
    path: Path = ("guardrails", place)
    if form.metric in GONE:
        raise text.error((*path, "metric"), f"{form.metric} is no guardrail any more; {GONE[form.metric]}")
    if form.metric == "ttft_paired" and form.slo is not None:
        raise text.error((*path, "slo"), "ttft_paired compares both arms, so it has no absolute limit; use ttft_p50 or ttft_p95")
    if form.metric not in METRICS:
        raise text.error((*path, "metric"), _unknown_metric(form.metric))
    if (form.worse_by_at_most is None) == (form.slo is None) and form.role != "advisory":
        raise text.error(path, "give either worse_by_at_most (relative) or slo (absolute)")
    if METRICS[form.metric].direction == "higher" and (form.worse_by_at_most or 0.0) >= 1:
        unguarded = f"{form.metric} cannot fall by more than 100%, so nothing would be guarded"
        raise text.error((*path, "worse_by_at_most"), unguarded)
    levels: tuple[float, ...] = (*scenario.matrix.concurrency, *scenario.matrix.rate)
    for key, found, known in (
        ("cells", form.cells or (), levels),
        ("bins", form.bins or (), tuple(b.name for b in scenario.workload.bins)),
    ):
        for value in found:
            if value not in known:
                raise text.error((*path, key), f"{value} is none of {', '.join(map(str, known))}")
    if form.bins is not None and scenario.matrix.traffic == "mixed":
        remedy = "set matrix.traffic to separate, or leave bins out"
        raise text.error((*path, "bins"), f"cells of mixed traffic are judged whole; {remedy}")
    return Guardrail(
        **form.model_dump(include={"metric", "role", "slo", "required"}),
        margin=form.worse_by_at_most,
        floor=form.floor_ms,
        cells=tuple(form.cells) if form.cells is not None else None,
        bins=tuple(form.bins) if form.bins is not None else None,
    )


def _unknown_metric(metric: str) -> str:
    near = difflib.get_close_matches(metric, METRICS, n=1)
    return f"no metric is called {metric}" + (f"; is {near[0]} meant?" if near else f"; there are {', '.join(sorted(METRICS))}")
