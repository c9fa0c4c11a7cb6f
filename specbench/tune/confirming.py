"""Of a tune's setting, or the cap of a CAPPED run, the scenario of an ordinary run that tests it as it will be deployed.

Fresh prompts, the tested loads, and both sides of each threshold, where batches cross the border all the time. Every try of a
chain halves alpha: who looks again until it passes errs more often.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import msgspec

from specbench.errors import DataError, ScenarioError
from specbench.explain.tuning.tune_sentences import no_table
from specbench.files import regular_bytes
from specbench.model.off_schedule import TABLE
from specbench.model.scenario import Arm, BlockSize, Limits, Matrix, Scenario
from specbench.model.tuning.tune_values import Confirmation, EnforcedBy, Setting
from specbench.report import read_result
from specbench.scenario.launch_commands import PROGRAMS, speculation_words
from specbench.scenario.overrides import limit_loads
from specbench.scenario.parse import PROFILES
from specbench.scenario.settings import capped_table, has_table, thresholds_of
from specbench.store import BLOCKS, MANIFEST, RESULT, is_tune, read_manifest, write_atomically
from specbench.tune.picks import read_tune

REPORTS = Path("reports")
_SEEDS = 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What is to be confirmed: the scenario that it was measured with, and the setting with who enforces it."""

    of: str
    source: str
    scenario: Scenario
    setting: Setting
    enforced_by: EnforcedBy


def proposal_of(source: Path, enforce: EnforcedBy | None) -> Proposal:
    """What the tune or the run in that folder proposes.

    Raises:
        DataError: it proposes nothing.
        ScenarioError: it cannot be enforced so.
    """
    return _of_tune(source, enforce) if is_tune(source) else _of_run(source, enforce)


def confirming(proposal: Proposal, profile: str, tries: int, beside: Path) -> Scenario:
    """The scenario of the run that confirms the proposal, as the try after so many.

    Args:
        beside: The run's folder; a file that the engine needs is written beside it.

    Raises:
        ScenarioError: the arm's command is not one that the setting can be put into.
    """
    before, setting, number = proposal.scenario, proposal.setting, tries + 1
    thresholds = thresholds_of(setting.rows)
    cap = setting.cap if proposal.enforced_by == "router" else None
    confirms = Confirmation(
        of=proposal.of,
        try_number=number,
        setting=setting.words,
        enforced_by=proposal.enforced_by,
        source=proposal.source,
        cap=cap,
        thresholds=thresholds,
        off_above=setting.rows[-1][0] - 1 if setting.rows and setting.rows[-1][2] == 0 else None,
    )
    loads = {*before.matrix.concurrency, *(load for border in thresholds for load in (border, border + 1))}
    whole = replace(
        before,
        seed=int(sha256(f"{proposal.of}/{number}".encode()).hexdigest(), 16) % _SEEDS,
        profile=profile,
        speculative=_with_setting(before.speculative, setting, beside),
        matrix=_matrix(before.matrix, tuple(sorted(loads)), profile, before.profile),
        flags=(),
        alpha=_first_alpha(before) / 2 ** (number - 1),
        tune=None,
        confirms=confirms,
    )
    return limit_loads(whole, cap, None)


def earlier_tries(of: str, places: Iterable[Path]) -> int:
    """How many runs in these folders tried to confirm the same; those that were INVALID gave no verdict and do not count."""
    found: set[str] = set()
    for place in {path.resolve() for path in places}:
        try:
            below = [Path(entry.path) for entry in os.scandir(place) if entry.is_dir()]
        except OSError:
            continue
        found |= {str(one) for one in below if _tried(one, of)}
    return len(found)


class _Confirmed(msgspec.Struct):
    of: str = ""


class _Asked(msgspec.Struct):
    confirms: _Confirmed | None = None


class _Head(msgspec.Struct):
    scenario: _Asked = msgspec.field(default_factory=_Asked)


class _Ended(msgspec.Struct):
    verdict: str = ""


def _tried(run: Path, of: str) -> bool:
    try:
        asked = msgspec.json.decode(regular_bytes(run / MANIFEST), type=_Head).scenario.confirms
        if asked is None or asked.of != of or not (run / BLOCKS).stat().st_size:
            return False
    except (OSError, DataError, msgspec.MsgspecError, UnicodeDecodeError):
        return False
    try:
        return msgspec.json.decode(regular_bytes(run / RESULT), type=_Ended).verdict != "INVALID"
    except (OSError, DataError, msgspec.MsgspecError, UnicodeDecodeError):
        return True


def _of_tune(source: Path, enforce: EnforcedBy | None) -> Proposal:
    told = read_tune(source)
    setting = told.setting
    if setting is None:
        raise DataError(f"{source}: has no setting, as the tune did not end with a pick at every load; tune again")
    if setting.kind == "off":
        raise DataError(f"{source}: picked no speculation at any load, so there is nothing to confirm")
    if enforce == "engine" and setting.kind == "capped":
        raise ScenarioError(no_table(told.engine))
    if enforce == "router" and setting.kind != "capped":
        raise DataError(f"{source}: its setting is the engine's own ({setting.kind}), with no cap for a router; omit --enforce")
    runs = [source / one.candidate.name for one in told.candidates if (source / one.candidate.name / MANIFEST).is_file()]
    deepest = read_manifest(runs[-1]).scenario
    base = replace(deepest, matrix=replace(deepest.matrix, schedule=told.schedule))
    return Proposal(
        of=told.id,
        source=str(source),
        scenario=base,
        setting=setting,
        enforced_by="router" if setting.kind == "capped" else "engine",
    )


def _of_run(source: Path, enforce: EnforcedBy | None) -> Proposal:
    result, manifest = read_result(source), read_manifest(source)
    if result.verdict != "CAPPED":
        why = "it was tested as it is" if result.verdict == "PROMOTE" else "it proposes nothing"
        raise DataError(f"{source}: ended {result.verdict}, so {why}; confirm a CAPPED run or a tune")
    found = result.enable_range
    if result.slices or found is None or found.high is None:
        raise DataError(f"{source}: its cap is no number of streams for all traffic; confirm it with --set and --up-to")
    scenario, cap = manifest.scenario, int(found.high)
    speculative = scenario.speculative.speculative or {}
    root = scenario.confirms.of if scenario.confirms is not None else manifest.run_id
    table = has_table(scenario.speculative.engine, speculative)
    if enforce == "engine" and not table:
        raise ScenarioError(no_table(scenario.speculative.engine))
    if enforce == "router" or not table:
        words = f"at most {cap} streams"
        setting = Setting(
            engine=scenario.speculative.engine, kind="capped", speculative=dict(speculative) or None, cap=cap, words=words
        )
        return Proposal(of=root, source=str(source), scenario=scenario, setting=setting, enforced_by="router")
    try:
        setting = capped_table(scenario.speculative.engine, speculative, cap)
    except ValueError as error:
        raise ScenarioError(f"{source}: --enforce engine: {error}; use --enforce router") from None
    return Proposal(of=root, source=str(source), scenario=scenario, setting=setting, enforced_by="engine")


def _first_alpha(scenario: Scenario) -> float:
    """The alpha of the first try, whatever try this scenario is of."""
    done = 0 if scenario.confirms is None else scenario.confirms.try_number - 1
    return float(scenario.alpha * 2**done)


def _matrix(before: Matrix, loads: tuple[int, ...], profile: str, measured_with: str) -> Matrix:
    size = PROFILES[profile]
    if profile == measured_with:
        return replace(before, concurrency=loads, pairs=size.pairs)
    max_s = 3 * size.min_s + 30
    usual = Limits()
    return replace(
        before,
        concurrency=loads,
        pairs=size.pairs,
        block=BlockSize(min_requests=size.min_requests, min_s=size.min_s, max_s=max_s, ramp_s=size.ramp_s),
        limits=Limits(
            first_token_s=min(usual.first_token_s, max_s), stall_s=min(usual.stall_s, max_s), total_s=min(usual.total_s, max_s)
        ),
    )


def _with_setting(arm: Arm, setting: Setting, beside: Path) -> Arm:
    """The arm with the setting in its block, and in the command that starts it."""
    if setting.speculative is None:
        return arm
    if arm.launch is None:
        return replace(arm, speculative=setting.speculative)
    if arm.engine not in PROGRAMS:
        raise ScenarioError(f"arms.speculative: specbench cannot put a setting into the command of {arm.engine}; give a url")
    old = speculation_words(arm.engine, arm.speculative)
    command = arm.launch.command
    at = next((place for place in range(len(command)) if old and command[place : place + len(old)] == old), None)
    if at is None:
        raise ScenarioError("arms.speculative.launch.command: is your own, so the setting cannot be put into it; give a url")
    plain = {key: value for key, value in setting.speculative.items() if key != TABLE or arm.engine == "vllm"}
    new = speculation_words(arm.engine, plain)
    if setting.file is not None:
        file = beside.with_name(f"{beside.name}-{setting.file[0]}").absolute()
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, setting.file[1].encode())
        new = (*new, "--speculative-adaptive", "--speculative-adaptive-config", str(file))
    launch = replace(arm.launch, command=(*command[:at], *new, *command[at + len(old) :]))
    return replace(arm, speculative=setting.speculative, launch=launch)
