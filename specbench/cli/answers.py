"""The command that compares answers alone: no timing, no run folder."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from specbench.cli.help import add
from specbench.cli.printing import AsJson, Quiet, check_one_of
from specbench.cli.run import BaselineUrl, Model, ScenarioPath, Settings, SpeculativeUrl
from specbench.cli.scenarios.given_scenario import given_scenario, overrides_of
from specbench.errors import ExitCode
from specbench.run.output import deliver

if TYPE_CHECKING:
    from specbench.run.answers.answers_check import AnswersVerdict

Prompts = Annotated[
    int | None,
    typer.Option(
        "--prompts", metavar="N", min=64, max=4096, help="Prompts of each sampling setting; default answers.prompts (256)."
    ),
]


def register(app: typer.Typer) -> None:
    """Adds this command to the application."""
    add(app, answers)


def answers(
    scenario: ScenarioPath = None,
    baseline: BaselineUrl = None,
    speculative: SpeculativeUrl = None,
    model: Model = None,
    settings: Settings = None,
    prompts: Prompts = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Check whether speculation changes the answers, without timing; exits with the verdict's code."""
    from specbench.run.answers.answers_check import check_answers
    from specbench.run.progress import progress_on

    check_one_of(False, quiet, as_json)
    more = [] if prompts is None else [f"answers.prompts={prompts}"]
    overrides = overrides_of("full", [*(settings or ()), *more], baseline, speculative, model)
    requested = given_scenario(scenario, overrides)
    with progress_on() as watching:
        found = check_answers(requested, watching)
    deliver(_as_json(found) if as_json else _as_text(found, quiet))
    raise typer.Exit(ExitCode[found.word])


def _as_text(found: "AnswersVerdict", quiet: bool) -> str:
    from specbench.explain.answers.answers_alone import answers_headline, finding_line

    headline = f"{found.word}  {answers_headline(found.word, found.judged.findings)}"
    checks = [f"  {check.message}" for check in found.judged.checks if check.ok is False]
    return headline if quiet else "\n".join([headline, *map(finding_line, found.judged.findings), *checks])


def _as_json(found: "AnswersVerdict") -> str:
    from specbench.store import pretty

    findings = [
        {"metric": one.metric, "role": one.role, "required": one.required, "state": one.state, "reason": one.reason}
        for one in found.judged.findings
    ]
    told = {"verdict": found.word, "exit_code": int(ExitCode[found.word]), "findings": findings}
    return json.dumps({**told, "answers": json.loads(pretty(found.judged.shown))}, indent=2)
