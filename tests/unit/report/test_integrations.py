"""What ships for CI systems and clusters: files that parse, name only what exists, and act as each verdict asks."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from specbench.errors import ExitCode
from specbench.model.result import VerdictWord
from specbench.report import FORMATS, result_json
from specbench.report.formats.github import outputs
from specbench.report.formats.prometheus import prometheus
from specbench.report.serve import app, verdict
from specbench.scenario.parse import Overrides, parse_scenario
from tests.support.results import capped, every_verdict

ROOT = Path(__file__).parents[3]
SHIPPED = ROOT / "integrations"


def _documents(path: str) -> list[Any]:
    return list(yaml.safe_load_all((ROOT / path).read_text(encoding="utf-8")))


@pytest.mark.parametrize("file", sorted(SHIPPED.rglob("*.y*ml"), key=str), ids=lambda file: file.name)
def test_every_file_parses_and_names_formats_that_exist(file: Path) -> None:
    """A template that names a format of yesterday would fail in somebody's pipeline."""
    assert all(isinstance(document, dict) for document in yaml.safe_load_all(file.read_text(encoding="utf-8")))
    assert set(re.findall(r"--format (\w+)", file.read_text(encoding="utf-8"))) <= set(FORMATS)


def test_the_action_passes_on_what_its_script_reads_and_hands_out_what_it_writes() -> None:
    """Each variable of the script is set by the action, and each output of the action is written by the script."""
    action = _documents("action.yml")[0]
    script = (SHIPPED / "github" / "gate.sh").read_text(encoding="utf-8")
    step = next(step for step in action["runs"]["steps"] if step.get("id") == "gate")
    assert set(step["env"]) == set(re.findall(r"SPECBENCH_[A-Z_]+", script))
    inputs = {name for value in step["env"].values() for name in re.findall(r"inputs\.([\w-]+)", value)}
    assert inputs | {"package"} == set(action["inputs"])
    written = {line.partition("=")[0] for line in outputs(capped()).splitlines()} | {"folder"}
    read = {re.findall(r"steps\.gate\.outputs\.(\w+)", output["value"])[0] for output in action["outputs"].values()}
    assert read <= written


def test_no_value_is_pasted_into_a_shell_line() -> None:
    """Inputs and secrets reach scripts by environment alone, so that none of them can become a command."""
    for step in (
        *_documents("action.yml")[0]["runs"]["steps"],
        *_documents("integrations/github/example.yml")[0]["jobs"]["gate"]["steps"],
    ):
        assert "${{" not in step.get("run", "")


def test_gitlab_warns_on_hold_and_cap_and_fails_on_the_rest() -> None:
    """The exit codes that may fail are exactly those of HOLD and CAPPED."""
    job = _documents("integrations/gitlab/specbench.gitlab-ci.yml")[0][".specbench"]
    assert job["allow_failure"]["exit_codes"] == [ExitCode.HOLD, ExitCode.CAPPED]
    assert job["artifacts"]["reports"] == {"junit": "specbench-run/junit.xml", "metrics": "specbench-run/metrics.txt"}
    assert (FORMATS["junit"].file, FORMATS["gitlab"].file) == ("junit.xml", "metrics.txt")


def test_argo_asks_what_the_endpoint_answers() -> None:
    """Both conditions read fields that are there, and exactly one holds for PROMOTE and for ROLLBACK, none for the others."""
    metric = _documents("integrations/argo/analysistemplate-web.yaml")[0]["spec"]["metrics"][0]
    assert (metric["count"], metric["inconclusiveLimit"], metric["provider"]["web"]["jsonPath"]) == (1, 0, "{$}")
    for word, result in every_verdict().items():
        body = verdict(result, result.promote)
        held = [_holds(metric[name], body) for name in ("successCondition", "failureCondition")]
        assert held == [word == "PROMOTE", word == "ROLLBACK"]


def _holds(condition: str, body: dict[str, Any]) -> bool:
    found = re.fullmatch(r"result\.(\w+) == (true|false)", condition)
    assert found is not None
    return bool(body[found[1]] is (found[2] == "true"))


def test_what_clusters_ask_is_served() -> None:
    """Every path in a manifest is a route of the endpoint, under the name and port of the service."""
    paths = {getattr(route, "path", "") for route in app(ROOT).routes}
    text = "".join(file.read_text(encoding="utf-8") for file in SHIPPED.rglob("*.yaml"))
    asked = set(re.findall(r"http://specbench-verdict(/[\w/]+)", text)) | set(re.findall(r"path: (/\w+), port: http", text))
    assert len(asked) == 4
    assert asked <= paths
    service = next(one for one in _documents("integrations/kubernetes/serve.yaml") if one["kind"] == "Service")
    assert (service["metadata"]["name"], service["spec"]["ports"][0]["port"]) == ("specbench-verdict", 80)


def test_the_scenario_in_the_manifest_is_one() -> None:
    """The ConfigMap's text passes the project's own parser."""
    config = _documents("integrations/kubernetes/run.yaml")[0]
    scenario = parse_scenario(config["data"]["scenario.yaml"], "run.yaml", Overrides())
    assert (scenario.name, scenario.matrix.concurrency) == ("chat", (1, 4, 16))


def _gate(folder: Path, word: VerdictWord, **changes: str) -> tuple[int, str, Path]:
    """Runs the action's script on a run with that verdict, as GitHub would: exit code, log and folder."""
    run = folder / "run"
    run.mkdir()
    (run / "result.json").write_bytes(result_json(every_verdict()[word]))
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "SPECBENCH_RUN": str(run),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        **changes,
    }
    done = subprocess.run(
        ["sh", str(SHIPPED / "github" / "gate.sh")], env=environment, cwd=folder, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout, run


@pytest.mark.slow
@pytest.mark.parametrize(("word", "code"), [("PROMOTE", 0), ("CAPPED", 11), ("HOLD", 10), ("ROLLBACK", 20), ("INVALID", 30)])
def test_the_actions_script_ends_as_the_verdict_asks(tmp_path: Path, word: VerdictWord, code: int) -> None:
    """Exit code, summary, annotations, outputs, JUnit and comment of each verdict."""
    ended, log, run = _gate(tmp_path, word)
    assert ended == code
    assert f" title=specbench {word}::" in log
    assert (tmp_path / "summary").read_text().startswith(f"### {word} · code: ")
    told = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    assert (told["verdict"], told["exit_code"], told["folder"]) == (word, str(code), str(run))
    assert ElementTree.parse(run / "junit.xml").getroot().tag == "testsuites"
    assert (run / "comment.md").read_text().startswith("<!-- specbench code -->\n")


@pytest.mark.slow
def test_the_actions_options_let_pauses_pass(tmp_path: Path) -> None:
    """With fail-on harm HOLD only warns and ROLLBACK still fails; with allow-capped CAPPED passes."""
    cases: list[tuple[VerdictWord, dict[str, str], int]] = [
        ("HOLD", {"SPECBENCH_FAIL_ON": "harm"}, 0),
        ("ROLLBACK", {"SPECBENCH_FAIL_ON": "harm"}, 20),
        ("CAPPED", {"SPECBENCH_ALLOW_CAPPED": "true"}, 0),
    ]
    for number, (word, options, code) in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert _gate(folder, word, **options)[0] == code


@pytest.mark.parametrize("code", [0, 20, 69])
def test_what_a_server_told_is_no_command_to_github(tmp_path: Path, code: int) -> None:
    """All that `run` and `gate` print stands between a stop and a resume of one random token, whatever they end with."""
    tool = tmp_path / "bin" / "specbench"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\n[ $1 = report ] && exit 0\nprintf '::error::told\\n::stop-commands::x\\nhalf'\nexit {code}\n")
    tool.chmod(0o755)
    for place, asked in enumerate(({"SPECBENCH_SCENARIO": "chat.yaml", "SPECBENCH_RUN": ""}, {})):
        folder = tmp_path / str(place)
        folder.mkdir()
        ended, log, _ = _gate(folder, "HOLD", PATH=f"{tool.parent}{os.pathsep}{os.environ['PATH']}", **asked)
        assert ended == code
        live, tokens = _obeyed(log)
        assert "error::told" not in live
        assert len(set(tokens)) == len(tokens) == (2 if asked and code == 0 else 1)
        assert all(re.fullmatch("[0-9a-f]{32}", token) for token in tokens)


def _obeyed(log: str) -> tuple[list[str], list[str]]:
    """The commands that GitHub acts on, and the tokens under which it stopped and went on again."""
    live, tokens, stopped = [], [], ""
    for line in log.splitlines():
        if stopped and line == f"::{stopped}::":
            tokens.append(stopped)
            stopped = ""
        elif not stopped and line.startswith("::stop-commands::"):
            stopped = line.removeprefix("::stop-commands::")
        elif not stopped and line.startswith("::"):
            live.append(line[2:])
    assert stopped == ""
    return live, tokens


def test_the_actions_script_says_what_is_missing(tmp_path: Path) -> None:
    """Without a scenario and without a run there is one annotation and a command-line error."""
    ended, log, _ = _gate(tmp_path, "HOLD", SPECBENCH_RUN="")
    assert (ended, log) == (2, "::error title=specbench::name a scenario, or a run folder that is there already\n")


def test_the_pages_tell_every_series_and_every_path() -> None:
    """A new series or route without a line in the docs fails here."""
    pages = {name: (ROOT / "docs" / "ci" / f"{name}.md").read_text(encoding="utf-8") for name in ("prometheus", "kubernetes")}
    series = {line.split()[2] for line in prometheus(capped()).decode().splitlines() if line.startswith("# TYPE")}
    assert {name for name in series if f"`{name}`" not in pages["prometheus"]} == set()
    paths = {getattr(route, "path", "") for route in app(ROOT).routes}
    assert {path for path in paths if f"`{path}`" not in pages["kubernetes"]} == set()


@pytest.mark.slow
@pytest.mark.parametrize(("word", "code"), [("PROMOTE", 0), ("CAPPED", 11), ("HOLD", 10), ("ROLLBACK", 20), ("INVALID", 30)])
def test_gitlabs_script_reports_and_ends_as_the_verdict_asks(tmp_path: Path, word: VerdictWord, code: int) -> None:
    """What follows the measurement, as a runner's shell takes it: JUnit and metrics are there whatever the verdict."""
    job = yaml.safe_load((SHIPPED / "gitlab" / "specbench.gitlab-ci.yml").read_text(encoding="utf-8"))[".specbench"]
    run = tmp_path / "specbench-run"
    run.mkdir()
    (run / "result.json").write_bytes(result_json(every_verdict()[word]))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    script = "\n".join(["set -e", *(line for line in job["script"] if "specbench-run" in line and "specbench run" not in line)])
    done = subprocess.run(["sh", "-c", script], env={"PATH": path}, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == code
    assert f"{word}  " in done.stdout
    assert ElementTree.parse(run / "junit.xml").getroot().tag == "testsuites"
    assert (run / "metrics.txt").read_text().endswith("# EOF\n")
    assert (done.returncode in job["allow_failure"]["exit_codes"]) == (word in ("HOLD", "CAPPED"))


LINE_BREAK = "chat\nverdict=PROMOTE"


@pytest.mark.parametrize(
    "inputs",
    [
        {"SPECBENCH_RUN": LINE_BREAK},
        {"SPECBENCH_RUN": "chat\rverdict=PROMOTE"},
        {"SPECBENCH_RUN": "", "SPECBENCH_SCENARIO": LINE_BREAK},
        {"SPECBENCH_RUN": "", "SPECBENCH_SCENARIO": "a.yaml", "SPECBENCH_MODEL": LINE_BREAK},
        {"SPECBENCH_RUN": "", "SPECBENCH_SCENARIO": "a.yaml", "RUNNER_TEMP": LINE_BREAK},
        {"SPECBENCH_FAIL_ON": "Harm"},
        {"SPECBENCH_FAIL_ON": "never"},
        {"SPECBENCH_ALLOW_CAPPED": "True "},
    ],
)
def test_the_actions_script_fails_closed(tmp_path: Path, inputs: dict[str, str]) -> None:
    """A value that makes a line of its own, or a word that means nothing, ends it before anything is asked or written."""
    ended, log, _ = _gate(tmp_path, "PROMOTE", **inputs)

    assert (ended, len(log.splitlines())) == (2, 1)
    assert log.startswith("::error title=specbench::")
    assert not (tmp_path / "output").exists()


def _recording(folder: Path, code: int = 0) -> tuple[str, Path]:
    """A PATH on which `specbench` writes down what it is asked, makes the folder, and ends so; and where it writes it."""
    tool, calls = folder / "bin" / "specbench", folder / "calls"
    tool.parent.mkdir()
    tool.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$*" >>{calls}\n'
        'for word; do case "$word" in --out=*) mkdir "${word#--out=}" || exit 65 ;; esac; done\n'
        f'case "$*" in *" --help"|"--help"*) [ "$2" = --help ] && exit 0 ;; esac\nexit {code}\n'
    )
    tool.chmod(0o755)
    return f"{tool.parent}{os.pathsep}{os.environ['PATH']}", calls


def test_no_input_of_the_action_is_an_option(tmp_path: Path) -> None:
    """A run or a scenario that is called as an option is a path, and an option's value stays one: its help is no verdict."""
    path, calls = _recording(tmp_path, code=65)
    hostile = dict.fromkeys(("SPECBENCH_BASELINE", "SPECBENCH_SPECULATIVE", "SPECBENCH_MODEL", "SPECBENCH_PROFILE"), "--help")
    for number, inputs in enumerate(({"SPECBENCH_RUN": "--help"}, {"SPECBENCH_RUN": "", "SPECBENCH_SCENARIO": "--help"})):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert _gate(folder, "PROMOTE", PATH=path, RUNNER_TEMP=str(folder), **hostile, **inputs)[0] == 65
    first, second = calls.read_text().splitlines()
    assert first == "report --format annotations -- ./--help"
    assert second.endswith("/run --baseline=--help --speculative=--help --model=--help --profile=--help -- ./--help")


def test_one_job_may_use_the_action_twice(tmp_path: Path) -> None:
    """Each measures into a folder of its own."""
    path, calls = _recording(tmp_path)
    for number in range(2):
        (tmp_path / str(number)).mkdir()
        asked = {"SPECBENCH_RUN": "", "SPECBENCH_SCENARIO": "a.yaml", "RUNNER_TEMP": str(tmp_path), "PATH": path}
        assert _gate(tmp_path / str(number), "PROMOTE", **asked)[0] == 0
    folders = [line for line in calls.read_text().splitlines() if line.startswith("run ")]
    assert len(set(folders)) == len(folders) == 2


def test_what_ci_installs_is_what_the_tests_ran_with() -> None:
    """The action and the GitLab job install with the constraints, and what they install is no option."""
    action = next(step["run"] for step in _documents("action.yml")[0]["runs"]["steps"] if "pip" in step["run"])
    assert '--constraint "$GITHUB_ACTION_PATH/constraints.txt" -- "$' in action
    job = _documents("integrations/gitlab/specbench.gitlab-ci.yml")[0][".specbench"]
    assert job["before_script"] == ['pip install --quiet --constraint "$SPECBENCH_CONSTRAINTS" -- "$SPECBENCH_PACKAGE"']
    assert "--constraint /src/constraints.txt" in (SHIPPED / "Containerfile").read_text(encoding="utf-8")
