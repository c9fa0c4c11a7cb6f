"""What a tune tries, from the scenario's text: one key varied, or whole proposers. Pure: nothing is started here.

Each candidate is a scenario of its own, the same but for `arms.speculative.speculative`: its run folder is an ordinary one.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from specbench.errors import ScenarioError
from specbench.model.off_schedule import schedule_of
from specbench.model.scenario import Arm, Scenario
from specbench.model.tuning.tune_values import BASELINE, DEPTH, Candidate
from specbench.scenario.launch_commands import PROGRAMS, speculation_words
from specbench.scenario.parse import Overrides, parse_scenario

# What changes how requests are batched: it belongs to both arms alike, and never to a candidate.
BATCHING = (
    "max_num_seqs",
    "max_num_batched_tokens",
    "gpu_memory_utilization",
    "max_running_requests",
    "mem_fraction_static",
    "max_batch_size",
    "kv_capacity_tokens",
    "parallel",
    "-np",
)
ONE_CHANGE = "one change at a time"
EMBEDDED_MOST = 8  # tokens that the embedded engine drafts at most
_PLACE = "arms.speculative.speculative"


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneRequest:
    """A scenario's text with what the command line changes; `vary` is KEY=V,V,... and takes the place of the scenario's `tune`.

    `base`: the `speculative:` block that is varied, where it is not the scenario's own.
    """

    content: str
    path: str
    overrides: Overrides
    vary: str | None = None
    base: Mapping[str, Any] | None = None


def candidates_of(request: TuneRequest) -> tuple[Candidate, ...]:
    """What is tried, by rising depth.

    Raises:
        ScenarioError: fewer than two, doubles, more than one change at a time, or a depth that there is not.
    """
    scenario = parse_scenario(request.content, request.path, request.overrides)
    _check_arms(scenario)
    where = f"{scenario.path}: tune"
    if request.vary is not None:
        key, values = _given(request.vary)
        blocks, where = [{**_base(request, scenario), key: value} for value in values], "--vary"
    elif scenario.tune is None or not (scenario.tune.vary or scenario.tune.candidates):
        raise ScenarioError(f"{scenario.path}: nothing to tune; give --vary {DEPTH}=1,2,4, or tune.vary in the scenario")
    elif scenario.tune.vary and scenario.tune.candidates:
        raise ScenarioError(f"{where}: {ONE_CHANGE}: give either vary or candidates")
    elif scenario.tune.vary:
        if len(scenario.tune.vary) > 1:
            raise ScenarioError(f"{where}.vary: {ONE_CHANGE}: {', '.join(scenario.tune.vary)} are {len(scenario.tune.vary)} keys")
        ((key, varied),) = scenario.tune.vary.items()
        blocks = [{**_base(request, scenario), key: value} for value in varied]
    else:
        key, blocks = "", [one for block in scenario.tune.candidates for one in _depths_of(block)]
    _check(key, blocks, scenario, where)
    return tuple(sorted(_named(key, blocks), key=lambda one: one.depth))


def scenario_of(request: TuneRequest, candidate: Candidate, pairs: int) -> Scenario:
    """The scenario of this candidate alone, with so many pairs, each engine started anew for its blocks."""
    settings = (
        (_PLACE, json.dumps(candidate.speculative)),
        ("matrix.schedule", "restart"),
        ("matrix.pairs", str(pairs)),
    )
    overrides = replace(request.overrides, settings=(*request.overrides.settings, *settings))
    return replace(parse_scenario(request.content, request.path, overrides), tune=None)


def check_launches(scenarios: Sequence[Scenario]) -> None:
    """Nothing, where each candidate reaches its engine, and the arms are started alike but for speculation.

    Raises:
        ScenarioError: a command does not say how deep it drafts, or the arms differ in more.
    """
    commands = [one.speculative.launch.command for one in scenarios if one.speculative.launch is not None]
    if commands and len(set(commands)) < len(commands):
        raise ScenarioError(
            f"{scenarios[0].path}: arms.speculative.launch.command is the same for every candidate; give launch.model instead,"
            " so that the depth is put into it"
        )
    for scenario in scenarios:
        if (key := _launched_unlike(scenario.baseline, scenario.speculative)) is not None:
            raise ScenarioError(
                f"{scenario.path}: arms.speculative.{key}: {ONE_CHANGE}: it differs from the baseline's beyond speculation"
            )


def _check_arms(scenario: Scenario) -> None:
    for name in ("baseline", "speculative"):
        if scenario.arm(name).url is not None:
            raise ScenarioError(
                f"{scenario.path}: arms.{name}: a url cannot be started again, and each candidate is; give it a launch block"
            )
    if scenario.matrix.rate or scenario.matrix.traffic == "separate":
        raise ScenarioError(f"{scenario.path}: matrix: a setting goes by batch size; give concurrency alone, and mixed traffic")
    if scenario.design != "plain":
        raise ScenarioError(f"{scenario.path}: tune: leave out --aa and --swap")
    if scenario.workload.own_history:
        raise ScenarioError(f"{scenario.path}: workload.sessions.history: candidates need the same prompts; set it to dataset")


def _base(request: TuneRequest, scenario: Scenario) -> dict[str, Any]:
    found = request.base if request.base is not None else scenario.speculative.speculative
    if not found:
        raise ScenarioError(f"{scenario.path}: {_PLACE}: needs a method, such as {{method: draft_model}}")
    return {key: value for key, value in found.items() if key not in schedule_of(found)}


def _given(vary: str) -> tuple[str, list[Any]]:
    """The key of --vary and its values: whole numbers as numbers."""
    key, equals, text = vary.partition("=")
    if not equals or not key.strip() or not text.strip():
        raise ScenarioError(f"--vary {vary}: write KEY=V,V, as in {DEPTH}=1,2,4")
    if "=" in text:
        raise ScenarioError(f"--vary {vary}: {ONE_CHANGE}: give one key with its values")
    return key.strip(), [_value(one.strip()) for one in text.split(",")]


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)


def _depths_of(block: Mapping[str, Any]) -> list[dict[str, Any]]:
    depths = block.get(DEPTH)
    return [{**block, DEPTH: depth} for depth in depths] if isinstance(depths, list) else [dict(block)]


def _check(key: str, blocks: Sequence[Mapping[str, Any]], scenario: Scenario, where: str) -> None:
    batching = next((one for block in blocks for one in (key, *block) if one.replace("-", "_") in BATCHING or one == "-np"), None)
    if batching is not None:
        raise ScenarioError(f"{where}: {ONE_CHANGE}: {batching} changes how requests are batched, in one arm alone")
    if len(blocks) < 2:
        raise ScenarioError(f"{where}: {len(blocks)} candidate; give two or more")
    for place, block in enumerate(blocks):
        if block in blocks[:place]:
            raise ScenarioError(f"{where}: {_short(key, block)} is listed twice")
        depth = block.get(DEPTH)
        whole = depth if isinstance(depth, int) and not isinstance(depth, bool) else 0
        if depth is not None and whole < 1:
            raise ScenarioError(f"{where}: {DEPTH} {depth!r} must be a whole number from 1 on; off is tried anyway")
        if scenario.speculative.engine == "embedded" and whole > EMBEDDED_MOST:
            raise ScenarioError(f"{where}: {DEPTH} {depth} is more than the embedded engine drafts ({EMBEDDED_MOST})")


def _short(key: str, block: Mapping[str, Any]) -> str:
    return f"{key} {block[key]}" if key else f"{block.get('method')} {block.get(DEPTH, '')}".strip()


def _named(key: str, blocks: Sequence[Mapping[str, Any]]) -> list[Candidate]:
    """Each with a name of its own, fit for a folder."""
    found: list[Candidate] = []
    for block in blocks:
        depth = int(block.get(DEPTH) or 0)
        name = f"depth-{depth}" if key == DEPTH else f"{key}-{block[key]}" if key else f"{block.get('method')}-{depth or 'own'}"
        plain = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)[:60]
        taken = {one.name for one in found} | {BASELINE}
        fresh = next(one for one in (plain, *(f"{plain}-{number}" for number in range(2, 1000))) if one not in taken)
        found.append(Candidate(name=fresh, depth=depth, speculative=dict(block)))
    return found


def _launched_unlike(baseline: Arm, speculative: Arm) -> str | None:
    """The key in which the arms are started differently beyond speculation; None where there is none."""
    if baseline.engine != speculative.engine:
        return "engine"
    if baseline.launch is None or speculative.launch is None:
        options = [{k: v for k, v in arm.options.items() if k not in ("faults", "port")} for arm in (baseline, speculative)]
        return "options" if options[0] != options[1] else "slow_by" if baseline.slow_by != speculative.slow_by else None
    ours, theirs = baseline.launch, speculative.launch
    if (ours.env, ours.gpu, ours.sleep) != (theirs.env, theirs.gpu, theirs.sleep):
        return "launch"
    return None if _without_speculation(speculative) == ours.command else "launch"


def _without_speculation(arm: Arm) -> tuple[str, ...]:
    """The command of the arm without the words that make it draft."""
    command = arm.launch.command if arm.launch is not None else ()
    words = speculation_words(arm.engine, arm.speculative) if arm.engine in PROGRAMS else ()
    for place in range(len(command) - len(words) + 1):
        if words and command[place : place + len(words)] == words:
            return (*command[:place], *command[place + len(words) :])
    return command
