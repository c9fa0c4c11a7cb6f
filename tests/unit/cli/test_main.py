"""The command line: what cannot be asked for ends in one line and its exit code."""

import json
import shutil
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from specbench.cli.main import app, main
from specbench.errors import DataError, ScenarioError, UnreachableError
from specbench.report import read_result

EXAMPLE = "reports/example"


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["serve", EXAMPLE, "--port", "99999"], "--port"),
        (["calibrate", "--jobs", "0"], "--jobs"),
        (["calibrate", "--most", "0"], "--most"),
        (["run", "scenarios/code.yaml", "--until", "noon"], "--until"),
        (["plan", "scenarios/code.yaml", "--set", "matrix"], "--set"),
    ],
)
def test_a_value_beyond_an_option_is_an_error_of_the_command_line(words: list[str], option: str) -> None:
    """Exit 2, and the option by its name."""
    done = CliRunner().invoke(app, words)

    assert done.exit_code == 2
    assert option in done.output


@pytest.mark.parametrize(
    ("setting", "where"),
    [
        ("arms.speculative.options.jitter_nats=-1", "--set arms.speculative.options.jitter_nats: "),
        (
            "arms.speculative.options.faults={verifier: {lost_token: 5}}",
            "--set arms.speculative.options.faults: arms.speculative.options.faults.verifier.lost_token: ",
        ),
        (
            "arms.baseline.options={faults: {verifier: {late: true}}}",
            "--set arms.baseline.options: arms.baseline.options.faults.verifier.late: ",
        ),
        ("arms.speculative.speculative.num_speculative_tokens=99", "--set arms.speculative.speculative.num_speculative_tokens: "),
    ],
)
def test_what_an_embedded_engine_cannot_be_is_named_before_it_is_started(setting: str, where: str) -> None:
    """By the flag that gave it."""
    done = CliRunner().invoke(app, ["plan", "scenarios/code.yaml", "--set", setting])

    assert isinstance(done.exception, ScenarioError)
    assert str(done.exception).startswith(where)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """Before any campaign runs."""
    (tmp_path / "file").touch()
    done = CliRunner().invoke(app, ["calibrate", "--out", str(tmp_path / "file" / "folder")])

    assert isinstance(done.exception, DataError)
    assert "cannot be made: Not a directory" in str(done.exception)


@pytest.mark.parametrize("words", [["engine"], ["serve", EXAMPLE]])
def test_a_port_in_use_is_an_address_that_cannot_be_had(words: list[str]) -> None:
    """Exit 69, with the port; another one is to be given."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(app, [*words, "--port", port])

    assert isinstance(done.exception, UnreachableError)
    assert port in str(done.exception)
    assert "give another" in str(done.exception)


def copied(folder: Path) -> Path:
    """A copy of the example run."""
    return Path(shutil.copytree(EXAMPLE, folder / "run"))


@pytest.mark.parametrize(
    "fields",
    [
        {"verdict": "ROLLBACK", "rollback": True},
        {"verdict": "PROMOTE", "promote": True},
        {"exit_code": 0},
        {"verdict": "PROMOTE", "promote": True, "exit_code": 0},
    ],
)
def test_an_edited_verdict_passes_no_gate(tmp_path: Path, fields: dict[str, object]) -> None:
    """65 from `gate` and from every report, never the code that stands in the file."""
    run = copied(tmp_path)
    document = json.loads((run / "result.json").read_text())
    (run / "result.json").write_text(json.dumps(document | fields))

    for words in (["gate", str(run)], ["gate", str(run), "--allow-capped"], ["report", str(run)]):
        done = CliRunner().invoke(app, words)
        assert isinstance(done.exception, DataError), done.output
        assert done.exception.exit_code == 65
        assert "make it again with: specbench analyze" in str(done.exception)


def test_analyze_says_that_facts_have_changed_and_counts_copies_once(tmp_path: Path) -> None:
    """The lines of one arm a second time move no figure; a second analysis of the same facts says nothing more of a change."""
    run = copied(tmp_path)
    lines = (run / "requests.jsonl").read_bytes().splitlines(keepends=True)
    copies = [line for line in lines if b"/speculative" in line]
    (run / "requests.jsonl").write_bytes(b"".join(lines + copies))
    before = read_result(Path(EXAMPLE))

    first, second = (CliRunner().invoke(app, ["analyze", str(run)]) for _ in range(2))
    after = read_result(run)

    assert "a file of its facts was changed, cut or copied since its result was made" in first.stderr
    assert "was changed" not in second.stderr
    assert f"requests.jsonl: {len(copies)} lines are copies and counted once" in " ".join(after.notes)
    assert after.facts_sha256 != before.facts_sha256
    ratios = [[one.ratio for cell in found.cells for one in cell.metrics if one.ratio] for found in (before, after)]
    assert ratios[1] == pytest.approx(ratios[0], rel=1e-9)


def test_analyze_writes_nothing_beside_the_run(tmp_path: Path) -> None:
    """A result or a report that is a link to elsewhere is replaced by a file."""
    run = copied(tmp_path)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (run / "result.json").unlink()
    for name in ("result.json", "report.html"):
        (run / name).symlink_to(victim)

    assert CliRunner().invoke(app, ["analyze", str(run)]).exit_code == 0
    assert victim.read_text() == "mine"
    assert read_result(run).verdict == "CAPPED"


@pytest.mark.parametrize(("encoding", "named"), [("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("utf-32", "UTF-32")])
def test_a_scenario_of_another_encoding_is_named(encoding: str, named: str, tmp_path: Path) -> None:
    """Saved by an editor on Windows."""
    (tmp_path / "s.yaml").write_bytes("name: s\n".encode(encoding))
    done = CliRunner().invoke(app, ["plan", str(tmp_path / "s.yaml")])

    assert f"s.yaml: is {named} text" in str(done.exception)


def test_plan_takes_the_addresses_of_a_run() -> None:
    """The same words with `plan` for `run`; who serves there is not asked."""
    urls = ["--baseline", "http://127.0.0.1:1", "--speculative", "http://127.0.0.1:2", "--model", "m"]
    done = CliRunner().invoke(app, ["plan", "scenarios/code.yaml", "--verbose", *urls])

    assert done.exit_code == 0
    assert "detected" in done.output
    assert "draft_model" not in done.output


def test_a_plan_is_a_line_or_json_on_request() -> None:
    """The blocks and the minutes; the whole of it for programs."""
    line = CliRunner().invoke(app, ["plan", "scenarios/code.yaml", "-q"])
    plan = json.loads(CliRunner().invoke(app, ["plan", "scenarios/code.yaml", "--json"]).output)

    assert line.output.startswith("code: 3 loads x 10 pairs x 2 arms = 60 blocks, ")
    assert line.output.count("\n") == 1
    assert (plan["pairs"], plan["blocks"], [load["blocks"] for load in plan["loads"]]) == (10, 60, [20, 20, 20])
    assert [load["primary"] for load in plan["loads"]] == [True, False, False]
    assert {change["metric"] for change in plan["changes"]} > {"tpot_p50", "output_tps"}
    assert CliRunner().invoke(app, ["plan", "scenarios/code.yaml", "-q", "--json"]).exit_code == 2


def test_plan_refuses_what_run_would() -> None:
    """One URL twice, and one beside the embedded engine."""
    for urls in (["--baseline", "http://h:1", "--speculative", "http://h:1/v1"], ["--baseline", "http://h:1"]):
        done = CliRunner().invoke(app, ["plan", "scenarios/code.yaml", "--verbose", *urls])
        assert isinstance(done.exception, ScenarioError)


def test_what_is_no_scenario_by_its_size_is_refused_at_once() -> None:
    """A result of half a megabyte kept the YAML reader busy for many seconds, and a device never ends."""
    for path in (f"{EXAMPLE}/result.json", "/dev/zero"):
        done = CliRunner().invoke(app, ["plan", path])

        assert isinstance(done.exception, ScenarioError)
        assert str(done.exception) == f"{path}: is larger than 256 KB, so it is no scenario; name a scenario's file"


@pytest.mark.parametrize("command", ["gate", "analyze", "compare", "explain"])
def test_a_name_that_no_file_can_have_is_one_line(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 65, and not the whole name."""
    monkeypatch.setattr("sys.argv", ["specbench", command, "a" * 300, *(["b"] if command == "compare" else [])])
    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code == 65
    assert capsys.readouterr().err == f"specbench: {'a' * 60}…: is too long for the name of a file; check what was given\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tune", "scenarios/tune.yaml", "--vary", "foo=1,2"], "--vary: arms.speculative.speculative.foo: "),
        (["plan", "scenarios/tune.yaml", "--tune", "--set", "tune={vary: {foo: [1, 2]}}"], "scenarios/tune.yaml: tune: "),
        (["capacity", "scenarios/code.yaml", "--slo", "ttft_p95=1s", "--minutes", "inf"], "--minutes inf: is more than a week"),
        (["watch", "--once", "--speculative", ""], "--speculative: is empty; name metrics URLs"),
    ],
    ids=["vary", "tune", "minutes", "speculative"],
)
def test_what_cannot_be_done_is_refused_before_anything_is_started(words: list[str], said: str) -> None:
    """A candidate that its engine cannot be, a search without end, nothing to watch."""
    done = CliRunner().invoke(app, words)

    assert isinstance(done.exception, ScenarioError)
    assert str(done.exception).startswith(said)
