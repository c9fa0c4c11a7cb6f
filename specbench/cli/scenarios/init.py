"""The command that writes a first scenario: it asks a person for what no flag gives, looks at both endpoints, and writes."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from specbench.cli.help import add
from specbench.cli.printing import OUTPUT
from specbench.cli.run import SpeculativeUrl
from specbench.errors import DataError, RefusedError, ScenarioError
from specbench.run.output import say, tell

if TYPE_CHECKING:
    from specbench.cli.scenarios.first_look import FoundEndpoint
    from specbench.cli.scenarios.scenario_draft import ScenarioDraft
    from specbench.model.scenario import ArmName, Bin, Scenario

ENDPOINTS = "Endpoints"
NAME = "first"


def register(app: typer.Typer) -> None:
    """Adds the command to the application."""
    add(app, init)


def init(
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="URL", rich_help_panel=ENDPOINTS, help="Baseline URL.")
    ] = None,
    speculative: SpeculativeUrl = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="M", rich_help_panel=ENDPOINTS, help="Which, where both serve several.")
    ] = None,
    api_key_env: Annotated[
        str | None,
        typer.Option("--api-key-env", metavar="VARIABLE", rich_help_panel=ENDPOINTS, help="The variable that holds the key."),
    ] = None,
    dataset: Annotated[
        Path | None, typer.Option("--dataset", metavar="FILE", help="Your own prompts; without it a built-in demonstration.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", metavar="N", help=f"Of the scenario; default: {NAME}.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", rich_help_panel=OUTPUT, help="Where to; default: NAME.yaml.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", rich_help_panel=OUTPUT, help="Write over a file that is there.")] = False,
    no_input: Annotated[bool, typer.Option("--no-input", help="Ask nothing, even at a terminal.")] = False,
) -> None:
    """Write a first scenario for two endpoints: asks what is missing, looks at both, and says what to run."""
    given = _Given(baseline, speculative, model, api_key_env, dataset, name or NAME, output, force)
    try:
        _init(given, asks=not no_input and _at_terminal())
    except typer.Abort:
        raise KeyboardInterrupt from None


@dataclass(frozen=True, slots=True)
class _Given:
    """What the command line says."""

    baseline: str | None
    speculative: str | None
    model: str | None
    api_key_env: str | None
    dataset: Path | None
    name: str
    output: Path | None
    force: bool


def _init(given: _Given, *, asks: bool) -> None:
    from specbench.cli.scenarios.first_look import look_at, models_in_common, reception
    from specbench.cli.scenarios.scenario_draft import CORPUS_BINS, ScenarioDraft, scenario_text
    from specbench.store import write_atomically

    for arm, url in (("baseline", given.baseline), ("speculative", given.speculative)):
        if url is None and not asks:
            raise typer.BadParameter(f"give the URL of the {arm} arm", param_hint=f"--{arm}")
    file = given.output or Path(f"{_file_name(given.name)}.yaml")
    if file.exists() and not given.force:
        raise DataError(f"{file}: is there already; give another with -o, or --force to write over it")
    if given.dataset is not None and not given.dataset.is_file():
        raise DataError(f"--dataset {given.dataset}: is not there; give the file with your prompts, or leave it out")
    urls: dict[ArmName, str] = {
        "baseline": _url("baseline", given.baseline),
        "speculative": _url("speculative", given.speculative),
    }
    if urls["baseline"] == urls["speculative"]:
        raise typer.BadParameter("both arms have one URL; give the address of each", param_hint="--baseline, --speculative")
    key = given.api_key_env
    found = {arm: reception(arm, url, key) for arm, url in urls.items()}
    if any(one.needs_key for one in found.values()) and key is None:
        key = _key_variable(asks)
        found = {arm: reception(arm, url, key) for arm, url in urls.items()}
    if (refusing := next((arm for arm, one in found.items() if one.needs_key), None)) is not None:
        raise RefusedError(f"--{refusing}: {urls[refusing]} refuses the key in {key}; export the right one")
    model = given.model or _model(models_in_common(found["baseline"].models, found["speculative"].models), asks)
    looks = {arm: look_at(arm, url, model, key, found[arm].round_trip_s) for arm, url in urls.items()}
    if looks["baseline"].speculation == "on" and looks["speculative"].speculation != "on":
        looks = _exchanged(looks["baseline"], looks["speculative"], asks)
    dataset = _dataset() if asks and given.dataset is None else given.dataset
    draft = ScenarioDraft(
        name=given.name,
        file=str(file),
        baseline=looks["baseline"],
        speculative=looks["speculative"],
        model=model,
        api_key_env=key,
        # A scenario names its dataset from where it lies itself.
        dataset=None if dataset is None else os.path.relpath(dataset, file.parent),
        bins=CORPUS_BINS if dataset is None else _bins(dataset),
        one_host=len({urlsplit(one.url).hostname for one in looks.values()}) == 1,
    )
    text = scenario_text(draft)
    scenario = _parsed(text, file, "standard")
    write_atomically(file, text.encode())
    for line in _ending(file, draft, _minutes(_parsed(text, file, "smoke")), _minutes(scenario)):
        say(line)


def _ending(file: Path, draft: "ScenarioDraft", smoke: str, standard: str) -> tuple[str, ...]:
    """What was found, how long it takes, and what to run next."""
    baseline, speculative = draft.baseline, draft.speculative
    engines = " and ".join(dict.fromkeys(filter(None, (_engine(baseline), _engine(speculative)))))
    counts = "" if baseline.counts_tokens and speculative.counts_tokens else "; lengths of prompts are estimated"
    silent = speculative.speculation != "on"
    warning = "; the speculative arm does not say that it speculates: is it the right URL?" if silent else ""
    quoted = _word(file)
    return (
        f"wrote {file}: {engines}, model {draft.model}{counts}{warning}",
        f"a smoke run takes about {smoke}, the standard one {standard} or more",
        f"next: specbench run {quoted} --profile smoke; then: specbench run {quoted} --gate",
    )


def _engine(one: "FoundEndpoint") -> str:
    return " ".join(filter(None, (one.engine, one.version)))


def _minutes(scenario: "Scenario") -> str:
    from specbench.plan.trials import cells_of, duration_s, trials_of

    seconds, _ = duration_s(scenario, trials_of(scenario, cells_of(scenario)))
    return f"{max(1, round(seconds / 60))} min"


def _parsed(text: str, file: Path, profile: str) -> "Scenario":
    from specbench.scenario.parse import Overrides, parse_scenario

    return parse_scenario(text, str(file), Overrides(profile=profile))


def _at_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _url(arm: "ArmName", given: str | None) -> str:
    from specbench.net.urls import address_fault

    url = given if given is not None else _asked(f"URL of the {arm} arm, such as http://localhost:8000")
    while (fault := address_fault(url)) is not None:
        if given is not None:
            raise ScenarioError(f"--{arm}: {fault}")
        tell(f"specbench: {fault}")
        url = _asked(f"URL of the {arm} arm")
    return url


def _key_variable(asks: bool) -> str:
    if not asks:
        raise typer.BadParameter("an endpoint asks for a key; name the variable that holds it", param_hint="--api-key-env")
    return _asked("An endpoint asks for a key. Which environment variable holds it?")


def _model(common: tuple[str, ...], asks: bool) -> str:
    if len(common) == 1:
        return common[0]
    named = ", ".join(common[:5]) or "none is listed"
    if not asks:
        raise typer.BadParameter(f"name the model ({named})", param_hint="--model")
    return _asked(f"Model ({named})", common[0] if common else None)


def _dataset() -> Path | None:
    """The file with a person's own prompts; None for the built-in ones."""
    while True:
        answer = _asked("File with your own prompts (Enter: a built-in demonstration)", "")
        if not answer:
            return None
        if Path(answer).is_file():
            return Path(answer)
        tell(f"specbench: {answer}: is not there")


def _exchanged(baseline: "FoundEndpoint", speculative: "FoundEndpoint", asks: bool) -> "dict[ArmName, FoundEndpoint]":
    """The arms in each other's place, where a person agrees."""
    told = f"{baseline.url} speculates, and {speculative.url} does not say that it does"
    if asks and typer.confirm(f"{told}. Exchange the arms?", default=True, err=True):
        return {"baseline": speculative, "speculative": baseline}
    command = f"specbench init --baseline {_word(speculative.url)} --speculative {_word(baseline.url)}"
    raise RefusedError(f"--baseline: {told}: are the arms exchanged? {command}")


def _bins(dataset: Path) -> "tuple[Bin, ...]":
    from specbench.model.data.datasets import DatasetReading
    from specbench.plan.dataset_bins import BinsRequest, summary_of

    return summary_of(BinsRequest(path=dataset, reading=DatasetReading(), most=2), None).bins


def _asked(question: str, default: str | None = None) -> str:
    shown = typer.prompt(question, default=default, show_default=bool(default), err=True)
    return str(shown).strip()


def _file_name(name: str) -> str:
    return "".join(one if one.isalnum() or one in "-_." else "-" for one in name).strip(".") or NAME


def _word(text: object) -> str:
    from shlex import quote

    return quote(str(text))
