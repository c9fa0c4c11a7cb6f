"""`specbench init`: what it asks for, what it refuses, and the scenario that it writes."""

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from specbench.cli.main import app
from specbench.cli.scenarios import init as init_command
from specbench.cli.scenarios.scenario_draft import fit_to_context
from specbench.errors import DataError, RefusedError, ScenarioError, UnreachableError
from specbench.model.scenario import Bin
from specbench.scenario.parse import Overrides, parse_scenario
from tests.support.serving import serving, target_of, whole


@contextmanager
def an_engine(*models: str, drafts: bool = False, context: int = 8192, key: str | None = None) -> Iterator[str]:
    """The URL of what answers as the embedded engine does before any load."""
    config = '{"method": "ngram", "num_speculative_tokens": 4}' if drafts else None
    listed = [
        {"id": name, "owned_by": "specbench", "max_model_len": context, "speculation_config": config} for name in models or ("m",)
    ]

    def answer(connection: socket.socket, request: bytes) -> None:
        if key is not None and f"Bearer {key}".encode() not in request:
            connection.sendall(whole(b"{}", status="401 Unauthorized"))
        elif target_of(request) == "GET /v1/models":
            connection.sendall(whole(json.dumps({"data": listed}).encode(), "Content-Type: application/json"))
        elif target_of(request) == "GET /version":
            connection.sendall(whole(b'{"version": "0.9"}'))
        elif target_of(request) == "GET /metrics":
            pages = (b"vllm:num_requests_running 0\n", b"vllm:spec_decode_num_drafts_total 0\n")
            connection.sendall(whole(pages[drafts]))
        else:
            connection.sendall(whole(b"{}", status="404 Not Found"))

    with serving(answer) as url:
        yield url


@contextmanager
def both(baseline: dict[str, Any] | None = None, speculative: dict[str, Any] | None = None) -> Iterator[list[str]]:
    """The flags of two engines, of which the second drafts."""
    with ExitStack() as stack:
        first = stack.enter_context(an_engine(*(baseline or {}).pop("models", ("m",)), **(baseline or {})))
        given = {"drafts": True} | (speculative or {})
        second = stack.enter_context(an_engine(*given.pop("models", ("m",)), **given))
        yield ["--baseline", first, "--speculative", second]


def init(folder: Path, *words: str, typed: str | None = None) -> Result:
    """The finished command, which writes into that folder."""
    return CliRunner().invoke(app, ["init", "-o", str(folder / "first.yaml"), *words], input=typed)


def test_it_writes_a_scenario_that_parses_in_forty_lines(tmp_path: Path) -> None:
    """With both URLs, the model that both serve, and a comment on what each said; three lines tell how to go on."""
    with both() as urls:
        done = init(tmp_path, *urls)
    text = (tmp_path / "first.yaml").read_text()
    scenario = parse_scenario(text, "first.yaml", Overrides(profile="smoke"))

    assert done.exit_code == 0, done.output
    assert len(text.splitlines()) <= 40
    assert (scenario.baseline.url, scenario.speculative.url) == (urls[1], urls[3])
    assert scenario.baseline.model == scenario.speculative.model == "m"
    assert scenario.baseline.recognise
    assert "does not speculate" in text
    assert len(done.stdout.splitlines()) == 3
    assert "--profile smoke" in done.stdout


def test_what_no_flag_gives_is_exit_2_without_a_terminal(tmp_path: Path) -> None:
    """Each is named; --no-input says the same at a terminal."""
    with both(baseline={"models": ("a", "b")}, speculative={"models": ("b", "a")}) as urls:
        assert init(tmp_path).exit_code == 2
        assert "--speculative" in init(tmp_path, *urls[:2]).output
        done = init(tmp_path, *urls)
        named = init(tmp_path, *urls, "--model", "b")

    assert done.exit_code == 2
    assert "--model" in done.output
    assert "a, b" in done.output
    assert named.exit_code == 0


def test_at_a_terminal_it_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two URLs, the first without http://, the model, and no dataset."""
    monkeypatch.setattr(init_command, "_at_terminal", lambda: True)
    with both(baseline={"models": ("a", "b")}, speculative={"models": ("b", "a")}) as urls:
        typed = f"localhost:1\n{urls[1]}\n{urls[3]}\nb\n\n"
        done = init(tmp_path, typed=typed)

    assert done.exit_code == 0, done.output
    assert 'model: "b"' in (tmp_path / "first.yaml").read_text()


def test_exchanged_arms_are_offered_in_their_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused with the right command; at a terminal Enter exchanges them."""
    with both(baseline={"drafts": True}, speculative={"drafts": False}) as urls:
        refused = init(tmp_path, *urls)
        monkeypatch.setattr(init_command, "_at_terminal", lambda: True)
        agreed = init(tmp_path, *urls, typed="\n\n")
    scenario = parse_scenario((tmp_path / "first.yaml").read_text(), "first.yaml", Overrides())

    assert isinstance(refused.exception, RefusedError)
    assert f"specbench init --baseline {urls[3]} --speculative {urls[1]}" in str(refused.exception)
    assert agreed.exit_code == 0, agreed.output
    assert (scenario.baseline.url, scenario.speculative.url) == (urls[3], urls[1])


def test_a_key_is_named_by_its_variable_and_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that answers 401 without it."""
    monkeypatch.setenv("THE_KEY", "sesame-1234")
    with both(baseline={"key": "sesame-1234"}, speculative={"key": "sesame-1234"}) as urls:
        missing = init(tmp_path, *urls)
        done = init(tmp_path, *urls, "--api-key-env", "THE_KEY")
        monkeypatch.setenv("THE_KEY", "wrong")
        wrong = init(tmp_path, *urls, "--api-key-env", "THE_KEY", "--force")
    text = (tmp_path / "first.yaml").read_text()

    assert (missing.exit_code, done.exit_code) == (2, 0), done.output
    assert "--api-key-env" in missing.output
    assert isinstance(wrong.exception, RefusedError)
    assert "THE_KEY" in text
    assert "sesame" not in text


def test_a_file_that_is_there_is_kept(tmp_path: Path) -> None:
    """Unless --force."""
    (tmp_path / "first.yaml").write_text("mine")
    with both() as urls:
        refused = init(tmp_path, *urls)
        kept = (tmp_path / "first.yaml").read_text()
        forced = init(tmp_path, *urls, "--force")

    assert isinstance(refused.exception, DataError)
    assert kept == "mine"
    assert forced.exit_code == 0
    assert (tmp_path / "first.yaml").read_text() != "mine"


def test_what_cannot_be_measured_is_one_line(tmp_path: Path) -> None:
    """A dead port 69, a URL without a scheme 64, one URL twice 2, no model in common 30; nothing is written."""
    with both(speculative={"models": ("other",)}) as urls, socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
        free.close()
        dead = init(tmp_path, "--baseline", f"http://127.0.0.1:{port}", *urls[2:])
        bare = init(tmp_path, "--baseline", "127.0.0.1:8000", *urls[2:])
        twice = init(tmp_path, "--baseline", urls[1], "--speculative", urls[1])
        unlike = init(tmp_path, *urls)

    assert isinstance(dead.exception, UnreachableError)
    assert isinstance(bare.exception, ScenarioError)
    assert "--baseline" in str(bare.exception)
    assert twice.exit_code == 2
    assert isinstance(unlike.exception, RefusedError)
    assert not (tmp_path / "first.yaml").exists()


def test_a_dataset_is_named_from_where_the_scenario_lies(tmp_path: Path) -> None:
    """And its lengths make the bins."""
    data = tmp_path / "data"
    data.mkdir()
    rows = [json.dumps({"prompt": "word " * (20 + 10 * at)}) for at in range(60)]
    (data / "prompts.jsonl").write_text("\n".join(rows))
    with both() as urls:
        done = init(tmp_path, *urls, "--dataset", str(data / "prompts.jsonl"))
    scenario = parse_scenario((tmp_path / "first.yaml").read_text(), str(tmp_path / "first.yaml"), Overrides())

    assert done.exit_code == 0, done.output
    assert '"data/prompts.jsonl"' in (tmp_path / "first.yaml").read_text()
    assert [one.name for one in scenario.workload.bins] == ["22-680"]


@pytest.mark.parametrize("name", ["yes", "3", "a: b", "q'\"uote", "日本", "x\ny"])
def test_any_name_is_a_name(tmp_path: Path, name: str) -> None:
    """Whatever YAML would make of it."""
    with both() as urls:
        done = init(tmp_path, *urls, "--name", name)

    assert done.exit_code in (0, 1), done.output
    if done.exit_code == 0:
        assert parse_scenario((tmp_path / "first.yaml").read_text(), "f.yaml", Overrides()).name == name
    else:
        assert isinstance(done.exception, ScenarioError)


@pytest.mark.parametrize(
    ("context", "fitted"),
    [
        (None, ((48, 160), (64, 160))),
        (8192, ((48, 160), (64, 160))),
        (256, ((48, 112), (64, 112))),
        (64, None),
    ],
)
def test_bins_are_cut_to_the_context(context: int | None, fitted: Any) -> None:
    """Prompt, answer and what a template adds fit into it; of a context that is too small nothing is left."""
    found = fit_to_context(Bin(name="long", input_tokens=(48, 160), output_tokens=(64, 160), weight=1), context)

    assert (None if found is None else (found.input_tokens, found.output_tokens)) == fitted
