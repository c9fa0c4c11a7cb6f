"""The endpoint for roll-out controllers: the right answer for each verdict, from the file as it stands, and nothing to change."""

import asyncio
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette

from specbench.errors import DataError, UnreachableError
from specbench.model.result import Result, VerdictWord
from specbench.net.web_server import listening_at
from specbench.report import result_json
from specbench.report.serve import app, serve
from specbench.units import s_of_span
from tests.support.results import capped, every_verdict, promote, rollback

VERDICTS: tuple[VerdictWord, ...] = ("PROMOTE", "CAPPED", "HOLD", "ROLLBACK", "INVALID")


@dataclass
class Client:
    """Asks the endpoint without a socket."""

    served: Starlette

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """The answer to one request."""

        async def ask() -> httpx.Response:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(self.served), base_url="http://run") as client:
                return await client.request(method, path, **options)

        return asyncio.run(ask())

    def get(self, path: str) -> httpx.Response:
        """The answer to GET."""
        return self.request("GET", path)

    def post(self, path: str, **options: Any) -> httpx.Response:
        """The answer to POST."""
        return self.request("POST", path, **options)


def _client(folder: Path, verdict: VerdictWord, **options: Any) -> Client:
    (folder / "result.json").write_bytes(result_json(every_verdict()[verdict]))
    return Client(app(folder, **options))


def argo(body: Any) -> str:
    """The phase that Argo Rollouts' web provider reaches with our two conditions: failure first, neither is inconclusive."""
    if body["rollback"] is True:
        return "Failed"
    return "Successful" if body["promote"] is True else "Inconclusive"


@pytest.mark.parametrize(
    ("verdict", "phase"),
    [
        ("PROMOTE", "Successful"),
        ("CAPPED", "Inconclusive"),
        ("HOLD", "Inconclusive"),
        ("ROLLBACK", "Failed"),
        ("INVALID", "Inconclusive"),
    ],
)
def test_argo_promotes_pauses_or_aborts(tmp_path: Path, verdict: VerdictWord, phase: str) -> None:
    """CAPPED, HOLD and INVALID pause a roll-out, they do not fail it."""
    answer = _client(tmp_path, verdict).get("/verdict")
    assert answer.status_code == 200
    assert answer.json()["verdict"] == verdict
    assert argo(answer.json()) == phase


@pytest.mark.parametrize(
    ("verdict", "confirm", "back"),
    [("PROMOTE", 200, 409), ("CAPPED", 409, 409), ("HOLD", 409, 409), ("ROLLBACK", 409, 200), ("INVALID", 409, 409)],
)
def test_flagger_confirms_waits_or_rolls_back(tmp_path: Path, verdict: VerdictWord, confirm: int, back: int) -> None:
    """A confirm hook waits on anything but 200, a rollback hook acts on 200 alone; the body says why."""
    client = _client(tmp_path, verdict)
    payload = {"name": "llm", "namespace": "prod", "phase": "Progressing", "metadata": {}}
    answers = [client.post(path, json=payload) for path in ("/flagger/confirm", "/flagger/rollback")]
    assert [answer.status_code for answer in answers] == [confirm, back]
    assert all(answer.text.startswith(f"{verdict}: ") for answer in answers)


def test_a_cap_that_is_enforced_elsewhere_may_count_as_yes(tmp_path: Path) -> None:
    """With `allow_capped` a CAPPED run promotes; a HOLD still does not."""
    assert _client(tmp_path, "CAPPED", allow_capped=True).get("/verdict").json()["promote"] is True
    assert _client(tmp_path, "CAPPED", allow_capped=True).post("/flagger/confirm").status_code == 200
    assert _client(tmp_path, "HOLD", allow_capped=True).get("/verdict").json()["promote"] is False


def test_a_router_is_told_of_a_cap_as_a_gate_is(tmp_path: Path) -> None:
    """An unconfirmed cap is proposed; with `allow_capped` it is enabled."""
    assert _client(tmp_path, "CAPPED").get("/policy.json").json()["enable"] == []
    assert [one["max_streams"] for one in _client(tmp_path, "CAPPED").get("/policy.json").json()["proposed"]] == [4.0]
    taken = _client(tmp_path, "CAPPED", allow_capped=True).get("/policy.json").json()
    assert [one["max_streams"] for one in taken["enable"]] == [4.0]


def test_the_answer_follows_the_file(tmp_path: Path) -> None:
    """A run that is analysed again is answered anew; one without a result, or with half of one, is 503 with a line that helps."""
    (tmp_path / "manifest.json").touch()
    client = Client(app(tmp_path))
    for content in (None, b"", result_json(capped())[:300]):
        if content is not None:
            (tmp_path / "result.json").write_bytes(content)
        answer = client.get("/verdict")
        assert answer.status_code == 503
        assert "specbench analyze" in answer.json()["error"]
    for result in (promote(), rollback()):
        (tmp_path / "result.json").write_bytes(result_json(result))
        assert client.get("/verdict").json()["verdict"] == result.verdict


def test_the_whole_result_and_its_forms_can_be_fetched(tmp_path: Path) -> None:
    """The file's own bytes, the page, the badge, and metrics that a Prometheus scrapes."""
    client = _client(tmp_path, "CAPPED")
    assert client.get("/result.json").content == result_json(capped())
    assert client.get("/report").text.startswith("<!doctype html>")
    (tmp_path / "report.html").write_text("the page of the run")
    assert client.get("/report").text == "the page of the run"
    assert client.get("/badge.json").json()["message"] == "capped at 4 streams"
    metrics = client.get("/metrics")
    assert metrics.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "specbench_verdict" in {family.name for family in text_string_to_metric_families(metrics.text)}
    assert client.get("/healthz").text == "ok"


def test_nothing_else_is_there_to_ask_or_change(tmp_path: Path) -> None:
    """Other paths are 404 and other methods 405, in one line of JSON."""
    client = _client(tmp_path, "PROMOTE")
    assert client.get("/../result.json.bak").status_code == 404
    assert client.get("/manifest.json").json() == {"error": "Not Found"}
    for method in ("PUT", "DELETE", "PATCH"):
        assert client.request(method, "/result.json").status_code == 405
    assert client.get("/flagger/rollback").status_code == 405


def test_serving_needs_a_result_and_a_free_address(tmp_path: Path) -> None:
    """Both are told at once, in one line, before anything listens."""
    with pytest.raises(DataError, match="no run is here"):
        serve(tmp_path, "127.0.0.1", 0, False)
    (tmp_path / "result.json").write_bytes(result_json(capped()))
    for host, port, remedy in (
        ("203.0.113.1", 9, "no such address; give another host"),
        ("no.such.host.invalid", 9, "no address is known for this host"),
        ("2001:db8::1", 9, r"\[2001:db8::1\]:9 cannot be listened on"),
    ):
        with pytest.raises(UnreachableError, match=remedy):
            serve(tmp_path, host, port, False)
    with listening_at("127.0.0.1", 0) as taken, pytest.raises(UnreachableError, match="give another port"):
        serve(tmp_path, "127.0.0.1", taken.getsockname()[1], False)


def _at(result: Result, finished: str | None) -> Result:
    return replace(result, run=replace(result.run, started="2026-11-29T09:00:00Z", finished=finished))


NOON = datetime(2026, 11, 29, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("finished", "too_old"),
    [
        ("2026-11-29T11:30:00Z", False),
        ("2026-11-29T11:00:00Z", False),
        ("2026-11-29T10:59:59Z", True),
        ("2026-11-29T12:00:30Z", False),  # two machines' clocks
        ("2026-11-29T13:00:00Z", True),  # in the future: nothing is known of its age
        ("yesterday", True),
        (None, True),  # cut off: it ended at some time after it started, three hours ago
    ],
)
def test_an_old_verdict_is_neither_yes_nor_no(finished: str | None, too_old: bool, tmp_path: Path) -> None:
    """N-32: the next run never started, and its template is answered from yesterday's."""
    for made, yes, back in ((promote(), "promote", False), (rollback(), "rollback", True)):
        (tmp_path / "result.json").write_bytes(result_json(_at(made, finished)))
        client = Client(app(tmp_path, max_age_s=3600.0, now=lambda: NOON))
        answer = client.get("/verdict").json()
        assert (answer["verdict"], answer["too_old"], answer[yes]) == (made.verdict, too_old, not too_old)
        assert argo(answer) == ("Inconclusive" if too_old else "Failed" if back else "Successful")
        codes = [client.post(f"/flagger/{way}").status_code for way in ("confirm", "rollback")]
        assert codes == [409, 409] if too_old else codes == [409, 200] if back else codes == [200, 409]
        assert client.post("/flagger/confirm").text.startswith("too old: the run ended ") is too_old
        if too_old:
            assert (client.get("/policy.json").json()["enable"], client.get("/policy.json").json()["default"]) == ([], "baseline")


def test_any_age_will_do_unless_one_is_named(tmp_path: Path) -> None:
    """And the answer says when the run ended, and of which scenario it was."""
    result = _at(promote(), "2020-01-01T00:00:00Z")
    (tmp_path / "result.json").write_bytes(result_json(result))
    answer = Client(app(tmp_path)).get("/verdict").json()

    assert (answer["promote"], answer["too_old"]) == (True, False)
    assert (answer["started"], answer["finished"]) == ("2026-11-29T09:00:00Z", "2020-01-01T00:00:00Z")
    assert answer["scenario_sha256"] == result.config.sha256


@pytest.mark.parametrize(("text", "span_s"), [("90", 90.0), ("90s", 90.0), ("30m", 1800.0), ("6h", 21600.0), ("1.5 d", 129600.0)])
def test_a_span_of_time_is_written_as_people_do(text: str, span_s: float) -> None:
    """Seconds, minutes, hours, days."""
    assert s_of_span(text) == span_s


@pytest.mark.parametrize("text", ["", "0", "0h", "-6h", "6 weeks", "1e3", "nan", "6h30m"])
def test_what_is_no_span_is_refused(text: str) -> None:
    """An age of nothing would refuse every run."""
    with pytest.raises(ValueError, match="write a span above 0"):
        s_of_span(text)


def test_an_edited_result_answers_nobody(tmp_path: Path) -> None:
    """A word that its code and its digest contradict is no verdict."""
    document = json.loads(result_json(capped()))
    for fields in ({"verdict": "PROMOTE"}, {"verdict": "PROMOTE", "promote": True, "exit_code": 0}, {"digest": None}):
        (tmp_path / "result.json").write_text(json.dumps(document | fields))
        client = Client(app(tmp_path))
        for path in ("/verdict", "/policy.json", "/metrics", "/report"):
            assert client.get(path).status_code == 503
        with pytest.raises(DataError):
            serve(tmp_path, "127.0.0.1", 0, False)
