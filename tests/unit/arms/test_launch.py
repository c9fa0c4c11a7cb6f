"""An engine that was started serves, tells how it ended, and is gone with all it started, however the run ends."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from specbench.arms.arms import running_arm
from specbench.arms.launch import LONGEST_LINE, LONGEST_READ, environment_of, launched
from specbench.errors import ScenarioError, UnreachableError
from specbench.model.scenario import Launch
from tests.support.echoing import cores
from tests.support.evidence import an_arm
from tests.support.leftovers import NAME, a_mark, left_after, marked

SERVER = """
import http.server, os, signal, subprocess, sys, time
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()
    def log_message(self, *words):
        pass
print("the key is", os.environ.get("ENGINE_KEY"), flush=True)
{before}
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""
# A worker in the engine's group, and one that left it for a session of its own.
WORKERS = """
sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
subprocess.Popen(sleep)
subprocess.Popen(sleep, start_new_session=True)
"""
LAST_WORDS = LONGEST_LINE - 8  # so that a key behind them is cut in two
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"


def a_launch(before: str = "", *, mark: str = "", timeout_s: float = 30.0) -> Launch:
    """A small engine that does this before it serves."""
    return Launch(
        command=("{python}", "-c", SERVER.replace("{before}", before), "{port}"),
        env={NAME: mark},
        secrets=(),
        gpu=None,
        port=None,
        ready="/health",
        timeout_s=timeout_s,
        log=None,
    )


def test_an_engine_serves_and_is_gone_with_its_workers(tmp_path: Path) -> None:
    """Also those that left its process group."""
    mark = a_mark()
    with launched(a_launch(WORKERS, mark=mark), "baseline", tmp_path / "log") as engine:
        assert httpx.get(f"{engine.url}/health").status_code == 200
        assert engine.ended() is None
        assert len(marked(mark)) == 4

    assert left_after(mark, 5) == {}


def test_a_failure_in_the_run_stops_the_engine_too(tmp_path: Path) -> None:
    """The context ends by an exception."""
    mark = a_mark()
    with pytest.raises(KeyError), launched(a_launch(mark=mark), "baseline", tmp_path / "log"):
        raise KeyError

    assert left_after(mark, 5) == {}


@pytest.mark.slow
def test_an_engine_that_ignores_the_request_to_end_is_killed(tmp_path: Path) -> None:
    """After a grace."""
    mark = a_mark()
    with launched(a_launch(DEAF, mark=mark), "baseline", tmp_path / "log"):
        assert marked(mark)

    assert left_after(mark, 5) == {}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_process_outlives_a_run_that_is_killed_outright(tmp_path: Path, number: signal.Signals) -> None:
    """Nobody had the time to tidy up, and still the engine and its workers end."""
    mark = a_mark()
    program = f"""
        import sys, time
        from pathlib import Path
        from specbench.arms.launch import launched
        from {__name__} import WORKERS, a_launch
        with launched(a_launch(WORKERS, mark={mark!r}), "baseline", Path({str(tmp_path)!r}) / "log"):
            print("up", flush=True)
            time.sleep(600)
    """
    run = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE)
    assert run.stdout is not None
    with run.stdout:
        assert run.stdout.readline() == b"up\n"
        assert len(marked(mark)) == 4
        run.send_signal(number)
        run.wait()

    assert left_after(mark, 15) == {}


def test_no_engine_outlives_its_keeper(tmp_path: Path) -> None:
    """The process between the run and the engine is killed outright."""
    mark = a_mark()
    with launched(a_launch(mark=mark), "baseline", tmp_path / "log") as engine:
        engine.keeper.kill()

        assert left_after(mark, 5) == {}


def test_an_engine_that_dies_is_told_with_its_last_words(tmp_path: Path) -> None:
    """By which signal, and what it printed."""
    mark = a_mark()
    with launched(a_launch("print('loaded', flush=True)", mark=mark), "baseline", tmp_path / "log") as engine:
        victim = next(pid for pid, command in marked(mark).items() if "specbench.arms.supervisor" not in command)
        os.kill(victim, signal.SIGKILL)

        assert engine.ended(10) == "was ended by SIGKILL"
        assert engine.last_lines() == ("the key is None", "loaded")
    assert (tmp_path / "log").read_text() == "the key is None\nloaded\n"


def test_the_last_lines_are_those_of_this_start_and_hide_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log is appended to; the value of a secret is never shown."""
    monkeypatch.setenv("ENGINE_KEY", "sk-very-secret")
    (tmp_path / "log").write_text("from an earlier start\n")
    with launched(replace(a_launch(), secrets=("ENGINE_KEY",)), "baseline", tmp_path / "log") as engine:
        assert engine.last_lines() == ("the key is $ENGINE_KEY",)


def test_the_last_lines_hide_the_keys_that_requests_carry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Named by the arm and not by its launch block; one that begins as another does is hidden whole."""
    for name, key in (("METRICS_KEY", "sk-very"), ("ENGINE_KEY", "sk-very-secret"), ("TEAM_KEY", "team-secret")):
        monkeypatch.setenv(name, key)
    arm = replace(
        an_arm(), api_key_env="ENGINE_KEY", header_env={"X-Key": "TEAM_KEY"}, options={"metrics_api_key_env": "METRICS_KEY"}
    )
    launch = a_launch("print('team-secret', 'sk-very', flush=True)")
    with running_arm(replace(arm, launch=launch), "baseline", tmp_path / "log") as ready:
        assert ready.engine is not None
        assert ready.engine.last_lines() == ("the key is $ENGINE_KEY", "$TEAM_KEY $METRICS_KEY")


def test_what_was_printed_after_a_mark_can_be_read(tmp_path: Path) -> None:
    """As a block's lines are, apart from what came before it."""
    with launched(a_launch(), "baseline", tmp_path / "log") as engine:
        before = engine.printed()
        assert list(engine.lines_since(before) or ()) == []
        with (tmp_path / "log").open("a") as log:
            log.write("CUDA out of memory\n")
        assert list(engine.lines_since(before) or ()) == ["CUDA out of memory"]


def test_all_of_a_long_log_is_read_and_one_that_was_cut_back_is_not_taken_for_silence(tmp_path: Path) -> None:
    """An error at the start of megabytes counts, of an endless line only the beginning is kept, and a lost part is no zero."""
    with launched(a_launch(), "baseline", tmp_path / "log") as engine:
        before = engine.printed()
        with (tmp_path / "log").open("a") as log:
            log.write("CUDA out of memory\r\n" + "INFO: 200 OK\n" * 200_000 + "x" * 1_000_000 + "\nnaïve\nno end")
        lines = list(engine.lines_since(before) or ())

        assert (lines[0], len(lines), set(lines[1:200_001])) == ("CUDA out of memory", 200_004, {"INFO: 200 OK"})
        assert lines[-3:] == ["x" * LONGEST_READ, "naïve", "no end"]
        os.truncate(tmp_path / "log", 0)
        assert before > 0
        assert engine.lines_since(before) is None


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        (
            a_launch("sys.exit('no such model')"),
            r"^arms.baseline: the engine exited with code 1 before it served; .*no such model$",
        ),
        (
            a_launch("time.sleep(600)", timeout_s=0.5),
            r"^arms.baseline: http://127.0.0.1:[0-9]+/health did not answer 200 within 0.5 s",
        ),
        (replace(a_launch(timeout_s=1), ready="/nowhere"), "/nowhere did not answer 200 within 1 s"),
    ],
)
def test_an_engine_that_never_serves_is_unreachable(tmp_path: Path, launch: Launch, message: str) -> None:
    """One line, with what it said last; and it is stopped."""
    mark = a_mark()
    with (
        pytest.raises(UnreachableError, match=message) as error,
        launched(replace(launch, env={NAME: mark}), "baseline", tmp_path / "log"),
    ):
        pytest.fail("it never served")

    assert "\n" not in str(error.value)
    assert left_after(mark, 5) == {}


def test_what_cannot_be_started_is_named_at_once(tmp_path: Path) -> None:
    """No such program; a port that is taken; a log that cannot be written."""
    log = tmp_path / "log"
    for launch, message in (
        (replace(a_launch(), command=("no-such-engine",)), "there is no program no-such-engine"),
        (replace(a_launch(), log="/proc/nowhere/log"), "arms.baseline.launch.log: /proc/nowhere/log cannot be written"),
    ):
        with pytest.raises(ScenarioError, match=message), launched(launch, "baseline", log):
            pytest.fail("it was started")
    with launched(a_launch(), "baseline", log) as engine:
        taken = int(engine.url.rpartition(":")[2])
        with (
            pytest.raises(ScenarioError, match=f"{taken} cannot be used"),
            launched(replace(a_launch(), port=taken), "baseline", log),
        ):
            pytest.fail("it was started")


def test_the_environment_is_the_runs_own_and_what_the_block_adds() -> None:
    """A GPU is chosen by CUDA_VISIBLE_DEVICES; a secret must be there, and only its name is known."""
    launch = replace(a_launch(mark="m"), gpu="1", secrets=("HF_TOKEN",))

    assert environment_of(launch, {"PATH": "/bin", "HF_TOKEN": "x"}, "baseline") == {
        "PATH": "/bin",
        "HF_TOKEN": "x",
        "CUDA_VISIBLE_DEVICES": "1",
        NAME: "m",
    }
    with pytest.raises(ScenarioError, match=r"arms.baseline.launch.secrets: the environment variable HF_TOKEN is not set"):
        environment_of(launch, {"PATH": "/bin"}, "baseline")


def test_readiness_is_waited_for(tmp_path: Path) -> None:
    """An engine that loads for a while is not given up."""
    began = time.monotonic()
    with launched(a_launch("time.sleep(1.0)"), "baseline", tmp_path / "log"):
        assert time.monotonic() - began >= 1.0


@pytest.mark.parametrize("inner", [False, True])
def test_no_worker_outlives_a_keeper_that_is_killed_outright(tmp_path: Path, inner: bool) -> None:
    """Whichever of its two processes it is: the engine is gone, and workers that left its group as well."""
    mark = a_mark()
    with launched(a_launch(WORKERS, mark=mark), "baseline", tmp_path / "log") as engine:
        keeper = engine.keeper.pid
        known = list(marked(mark))
        within = int(Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()[0])
        os.kill(within if inner else keeper, signal.SIGKILL)

        assert left_after(mark, 15, [pid for pid in (*known, within) if pid != keeper]) == {}


def test_a_dying_engine_tells_no_key_of_the_other_arm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has them all in its environment, and prints them in colours, in base64 and in a line that is too long to be kept."""
    key = "sk-other-0123456789"
    monkeypatch.setenv("OTHER_KEY", key)
    other = replace(an_arm("http://127.0.0.1:9"), api_key_env="OTHER_KEY")
    printing = (
        "import base64; k = os.environ['OTHER_KEY']; print('\\x1b[31m' + k, base64.b64encode(k.encode()).decode(), flush=True);"
        f" print('x' * {LAST_WORDS} + k * 4, flush=True); print(k * 5000, flush=True); sys.exit(7)"
    )
    arm = replace(an_arm(), launch=a_launch(printing))
    with pytest.raises(UnreachableError) as error, running_arm(arm, "baseline", tmp_path / "log", (arm, other)):
        pass

    log = (tmp_path / "log").read_text()
    for text in (str(error.value), log):
        assert [name for name, core in cores(key).items() if core in text] == []
        assert "sk-other" not in text
    assert "\x1b" not in str(error.value)
    assert len(log) > 5000 * len(key)
    assert (tmp_path / "log").stat().st_mode & 0o077 == 0


def test_a_link_laid_for_the_log_is_not_written_through(tmp_path: Path) -> None:
    """A log lies beside the run's folder at first, where others may write too; one that the user named may be a link."""
    (tmp_path / "victim").touch()
    (tmp_path / "log").symlink_to(tmp_path / "victim")
    with pytest.raises(ScenarioError, match="cannot be written"), launched(a_launch(), "baseline", tmp_path / "log"):
        pass

    assert (tmp_path / "victim").read_bytes() == b""
    with launched(replace(a_launch("print('named')"), log=str(tmp_path / "log")), "baseline", tmp_path / "other"):
        pass
    assert b"the key is" in (tmp_path / "victim").read_bytes()
