"""Arms are reached as their schedule and their launch blocks say; secrets come from the environment alone."""

from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from specbench.arms.arms import open_arms, secret_headers, shares_server
from specbench.errors import ScenarioError, UnreachableError
from specbench.model.scenario import Scenario
from specbench.net.urls import base_url
from specbench.scenario.parse import Overrides, parse_scenario

# Speaks vLLM's three routes: /health, /sleep and /wake_up, and tells at /state whether it is awake.
SLEEPER = """
import http.server, sys
class Answer(http.server.BaseHTTPRequestHandler):
    state = "awake"
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.state.encode())
    def do_POST(self):
        Answer.state = {"/sleep?level=1": "asleep", "/wake_up": "awake"}.get(self.path, "lost")
        self.send_response(200 if ABLE else 404)
        self.end_headers()
    def log_message(self, *words):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""


def sleepers(able: bool = True) -> Scenario:
    """Both arms such an engine, which is to sleep between its blocks."""
    launch = "{command: [x], sleep: true}"
    text = (
        f"name: s\narms: {{baseline: {{engine: vllm, launch: {launch}}}, speculative: {{engine: vllm, launch: {launch}}}}}\n"
        "workload: {source: {corpus: python}, bins: [{name: all, input_tokens: [8, 16], output_tokens: [8, 8]}]}\n"
    )
    scenario = parse_scenario(text, "s.yaml", Overrides())
    assert scenario.baseline.launch is not None
    command = ("{python}", "-c", SLEEPER.replace("ABLE", str(able)), "{port}")
    arm = replace(scenario.baseline, launch=replace(scenario.baseline.launch, command=command))
    return replace(scenario, baseline=arm, speculative=arm)


def test_only_the_visited_arm_is_awake(tmp_path: Path) -> None:
    """The first sleeps before the second starts, and each wakes for its turn."""

    def state(url: str) -> str:
        return httpx.get(f"{url}/state").text

    with open_arms(sleepers(), lambda name: tmp_path / name) as visit:
        with visit("baseline") as baseline:
            assert state(baseline.url) == "awake"
        with visit("speculative") as speculative:
            assert (state(baseline.url), state(speculative.url)) == ("asleep", "awake")
        assert (state(baseline.url), state(speculative.url)) == ("asleep", "asleep")


def test_an_engine_that_cannot_sleep_is_told_at_once(tmp_path: Path) -> None:
    """Before anything is measured."""
    with (
        pytest.raises(UnreachableError, match=r"^arms.baseline: http://127.0.0.1:[0-9]+/sleep\?level=1 answered 404"),
        open_arms(sleepers(able=False), lambda name: tmp_path / name),
    ):
        pytest.fail("it went on")


@pytest.mark.parametrize("url", ["http://h:8000", "http://h:8000/", "http://h:8000/v1", "http://h:8000/v1/"])
def test_a_url_works_with_or_without_its_version(url: str) -> None:
    """Both forms are in use."""
    assert base_url(url) == "http://h:8000"


@pytest.mark.parametrize(
    ("baseline", "speculative"),
    [("http://h/v1", "http://h"), ("http://localhost:8000", "http://127.0.0.1:8000/v1"), ("http://h:80", "http://H")],
)
def test_arms_share_a_server_when_both_name_one_url(baseline: str, speculative: str) -> None:
    """Whatever its spelling; engines that specbench starts never do."""
    arms = f"{{baseline: {{url: '{baseline}', extra_body: {{draft: false}}}}, speculative: {{url: '{speculative}'}}}}"
    bins = "bins: [{name: all, input_tokens: [8, 16], output_tokens: [8, 8]}]"
    text = f"name: s\narms: {arms}\nworkload: {{source: {{corpus: python}}, {bins}}}\n"

    assert shares_server(parse_scenario(text, "s.yaml", Overrides()))
    assert not shares_server(sleepers())


def test_a_key_is_read_from_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not set is an error, empty is no header."""
    arm = replace(sleepers().baseline, api_key_env="THE_KEY", headers={"x-team": "a"})
    with pytest.raises(ScenarioError, match="THE_KEY is not set"):
        secret_headers(arm, "baseline")
    monkeypatch.setenv("THE_KEY", "")
    assert secret_headers(arm, "baseline") == {"x-team": "a"}
    monkeypatch.setenv("THE_KEY", " k ")
    assert secret_headers(arm, "baseline") == {"x-team": "a", "Authorization": "Bearer k"}


def test_a_key_may_have_a_header_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """As gateways want it: named by its variable too, and no header where that is empty."""
    arms = "{baseline: {url: 'http://g', header_env: {api-key: GATEWAY_KEY}}, speculative: {url: 'http://h'}}"
    bins = "bins: [{name: all, input_tokens: [8, 16], output_tokens: [8, 8]}]"
    text = f"name: s\narms: {arms}\nworkload: {{source: {{corpus: python}}, {bins}}}\n"
    arm = parse_scenario(text, "s.yaml", Overrides()).baseline
    with pytest.raises(ScenarioError, match=r"arms.baseline.header_env: the environment variable GATEWAY_KEY is not set"):
        secret_headers(arm, "baseline")
    monkeypatch.setenv("GATEWAY_KEY", " k\n")
    assert secret_headers(arm, "baseline") == {"api-key": "k"}
    monkeypatch.setenv("GATEWAY_KEY", "")
    assert secret_headers(arm, "baseline") == {}
    for wrong in ("{'api key': V}", "{api-key: sk-1}", "{Host: V}"):
        with pytest.raises(ScenarioError, match=r"arms\.baseline\.header_env"):
            parse_scenario(text.replace("{api-key: GATEWAY_KEY}", wrong), "s.yaml", Overrides())
    for twice in ("{authorization: V}, api_key_env: K", "{X-Team: V}, headers: {x-team: a}"):
        with pytest.raises(ScenarioError, match=r"arms\.baseline: the header (authorization|x-team) is named twice"):
            parse_scenario(text.replace("{api-key: GATEWAY_KEY}", twice), "s.yaml", Overrides())
