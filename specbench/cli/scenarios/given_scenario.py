"""The scenario that a command is given, with what its options change in it."""

from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from specbench.model.scenario import Scenario
    from specbench.scenario.parse import Overrides
    from specbench.scenario.text.yaml_source import YamlSource
    from specbench.tune.candidates import TuneRequest

PROFILES = ("smoke", "standard", "full")
FEWEST_PAIRS = 2
NAMED = 5  # scenarios that an error names
MOST_BYTES = 256 << 10  # of a scenario: a result of half a megabyte takes the YAML reader many seconds


def overrides_of(
    profile: str | None, settings: list[str] | None, baseline: str | None, speculative: str | None, model: str | None
) -> "Overrides":
    """What these options change in a scenario."""
    from specbench.scenario.parse import Overrides

    if profile is not None and profile not in PROFILES:
        raise typer.BadParameter(f"{profile}: smoke, standard or full", param_hint="--profile")
    pairs: list[tuple[str, str]] = []
    for setting in settings or ():
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"{setting}: write key=value, as in matrix.pairs=8", param_hint="--set")
        pairs.append((key.strip(), value))
    return Overrides(profile=profile, settings=tuple(pairs), baseline_url=baseline, speculative_url=speculative, model=model)


def given_scenario(scenario: Path | None, overrides: "Overrides") -> "Scenario":
    """The scenario that was given, with what the command line changes in it.

    Raises:
        BadParameter: none was given.
        ScenarioError: it cannot be read, or asks for what cannot be.
    """
    return scenario_at(scenario_path(scenario, overrides), overrides)


def scenario_path(scenario: Path | None, overrides: "Overrides") -> Path:
    """The scenario that was given.

    Raises:
        BadParameter: none was; the command that writes one, with the URLs that were given.
    """
    if scenario is not None:
        return scenario
    urls = (("--baseline", overrides.baseline_url), ("--speculative", overrides.speculative_url))
    words = [word for flag, url in urls if url is not None for word in (flag, quote(url))]
    raise typer.BadParameter(f"none is given; write one with: {' '.join(['specbench', 'init', *words])}", param_hint="SCENARIO")


def scenario_at(path: Path, overrides: "Overrides") -> "Scenario":
    """The scenario of that file; where arrivals are replayed, with the rates of its trace."""
    from specbench.scenario.overrides import flags_by_path
    from specbench.scenario.parse import parse_scenario
    from specbench.scenario.text.yaml_source import read_text

    content = content_of(path)
    scenario = parse_scenario(content, str(path), overrides)
    _check_engine_options(scenario, replace(read_text(content, str(path)), flags=flags_by_path(overrides)))
    if scenario.matrix.replay is None:
        return scenario
    from specbench.arms.prompt_source import trace_of
    from specbench.prompts.dataset.arrival_trace import check_long_enough

    trace = trace_of(scenario)
    assert trace is not None
    scenario = parse_scenario(content, str(path), overrides, trace.mean_rate)
    check_long_enough(trace, scenario.matrix)
    return scenario


def check_candidates(request: "TuneRequest") -> None:
    """Nothing, where each candidate is one that its embedded engine can be, as far as it is embedded.

    Raises:
        ScenarioError: one line with the flag or the key of the scenario that gives the candidates.
    """
    from specbench.scenario.text.yaml_source import read_text
    from specbench.tune.candidates import candidates_of, scenario_of

    where = f"{request.path}: tune" if request.vary is None else "--vary"
    text = replace(read_text(request.content, request.path), flags=((("arms", "speculative", "speculative"), where),))
    for candidate in candidates_of(request):
        _check_engine_options(scenario_of(request, candidate, FEWEST_PAIRS), text)


def _check_engine_options(scenario: "Scenario", text: "YamlSource") -> None:
    """Nothing, where every embedded engine that is to be started can be: the scenario's own checks know of no engine.

    Raises:
        ScenarioError: one line with file, line and key path.
    """
    from specbench.engine.options import options_of
    from specbench.errors import ScenarioError
    from specbench.model.scenario import ARMS

    for which, arm in ((each, scenario.arm(each)) for each in ARMS):
        if arm.engine != "embedded" or arm.url is not None:
            continue
        try:
            options_of({**arm.options, "speculative": arm.speculative, "slow_by": arm.slow_by})
        except ScenarioError as error:
            key, _, message = str(error).partition(": ")
            inside = () if key.split(".")[0] in ("speculative", "slow_by") else ("options",)
            raise text.error(("arms", which, *inside, *key.split(".")), message) from None


def content_of(path: Path) -> str:
    """The text of a scenario file, or of the shipped one of that name.

    Raises:
        ScenarioError: there is none, or it is no text.
    """
    from specbench.errors import ScenarioError, did_you_mean
    from specbench.files import no_text
    from specbench.scenario.shipped import shipped_scenario

    try:
        with (shipped_scenario(path) or path).open("rb") as file:  # a pipe too, and a device that never ends
            held = file.read(MOST_BYTES + 1)
        if len(held) > MOST_BYTES:
            raise ScenarioError(f"{path}: is larger than {MOST_BYTES >> 10} KB, so it is no scenario; name a scenario's file")
        if (why := no_text(held)) is not None:
            raise ScenarioError(f"{path}: {why}")
        return held.decode("utf-8-sig")
    except OSError as error:
        near = [str(one) for folder in {path.parent, Path("scenarios")} for one in sorted(folder.glob("*.yaml"))]
        hint = did_you_mean(str(path), near) or (f"; here are {', '.join(near[:NAMED])}" if near else "")
        if isinstance(error, FileNotFoundError):
            raise ScenarioError(f"{path}: no such scenario{hint or '; write one with: specbench demo'}") from None
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}{hint}") from None
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
