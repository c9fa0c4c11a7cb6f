"""The doctor, through the real client: tells a true stream from every spoiled one, and whether a machine measures truly."""

import contextlib
import socket
import time
import zlib
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from specbench.doctor import as_text, doctor
from specbench.doctor.accuracy_sweep import sweep
from specbench.doctor.diagnosis import Diagnosis, Symptom
from specbench.errors import RefusedError, ScenarioError, UnreachableError
from tests.support.answering import Table, answering
from tests.support.captures import DONE, final_usage, finish, role, said
from tests.support.endpoint import Behaviour, endpoint
from tests.support.raw_server import END, STREAM_HEAD, chunk, head, playing, read_request
from tests.support.streaming import streaming

pytestmark = [pytest.mark.slow, pytest.mark.beside]
# What a machine that is busy with other work does to any client on it: no symptom of the stream.
BUSY = {"client_late", "slow_connect"}
PAUSE_S = 0.006
TEXT = "the model keeps each token that it would have drawn anyway and draws the rest anew"
WORDS = [f"{word} " for word in TEXT.split()] * 4
TAIL = finish() + DONE
USAGE = finish() + final_usage(len(WORDS)) + DONE


def _of_the_stream(diagnosis: Diagnosis) -> list[Symptom]:
    return [symptom for symptom in diagnosis.symptoms if symptom.id not in BUSY]


def _written(*pieces: bytes) -> Callable[[socket.socket], None]:
    """Chunk after chunk, with a step's time before each."""

    def script(connection: socket.socket) -> None:
        connection.sendall(STREAM_HEAD)
        for piece in pieces:
            time.sleep(PAUSE_S)
            connection.sendall(chunk(piece))
        connection.sendall(END)

    return script


def _grouped(sizes: Iterator[int]) -> list[bytes]:
    """One event per token, so many of them written at a time."""
    events, pieces = [said(word) for word in WORDS], []
    while events:
        count = next(sizes)
        pieces.append(b"".join(events[:count]))
        del events[:count]
    return pieces


def _cycle(*sizes: int) -> Iterator[int]:
    while True:
        yield from sizes


def _by_bytes(size: int) -> Iterator[bytes]:
    body = b"".join(said(word * 12) for word in WORDS) + USAGE
    for start in range(0, len(body), size):
        yield body[start : start + size]


def _held(connection: socket.socket) -> None:
    time.sleep(len(WORDS) * PAUSE_S)
    connection.sendall(STREAM_HEAD + b"".join(chunk(said(word)) for word in WORDS) + chunk(USAGE) + END)


def _packed(connection: socket.socket) -> None:
    packer = zlib.compressobj(wbits=31)
    connection.sendall(head("Content-Type: text/event-stream", "Content-Encoding: gzip", "Transfer-Encoding: chunked"))
    for word in WORDS:
        time.sleep(PAUSE_S)
        connection.sendall(chunk(packer.compress(said(word)) + packer.flush(zlib.Z_SYNC_FLUSH)))
    connection.sendall(chunk(packer.compress(USAGE) + packer.flush()) + END)


def _says(answer: bytes, connection: socket.socket) -> None:
    connection.sendall(answer)


def _page(status: str, *lines: str) -> Callable[[socket.socket], None]:
    body = b"<html><script>alert(1)</script>Bad</html>"
    return partial(_says, head("Content-Type: text/html", f"Content-Length: {len(body)}", *lines, status=status) + body)


ONE_BY_ONE = _grouped(_cycle(1))
WHOLE = b'{"object":"chat.completion","choices":[{"index":0,"message":{"content":"all of it"}}]}'
FOURS = [said("".join(WORDS[place : place + 4])) for place in range(0, len(WORDS), 4)]
RUNNING = [said("".join(WORDS[place : place + 4]), usage=place + 4) for place in range(0, len(WORDS), 4)]

NAMES = "true role_first no_usage token_bursts batched interval running_usage one_event by_bytes held gzip whole 502 429 307"


@pytest.mark.parametrize(
    ("answer", "found", "fit"),
    [
        (_written(*ONE_BY_ONE, USAGE), set(), True),
        (_written(role(), *ONE_BY_ONE, USAGE), {"role_first"}, True),
        (_written(*ONE_BY_ONE, TAIL), {"usage_missing"}, True),
        (_written(*_grouped(_cycle(3, 1, 5, 2)), USAGE), {"token_bursts"}, True),
        (_written(*_grouped(_cycle(4)), USAGE), {"batched_events"}, False),
        (_written(*FOURS, USAGE), {"stream_interval"}, True),
        (_written(*RUNNING, USAGE), {"stream_interval"}, True),
        (_written(said("".join(WORDS)), USAGE), {"one_event"}, False),
        (_written(*_by_bytes(4096)), {"held_back"}, False),
        (_held, {"held_back_whole"}, False),
        (_packed, {"compressed"}, False),
        (
            partial(_says, head(f"Content-Length: {len(WHOLE)}", "Content-Type: application/json") + WHOLE),
            {"not_streamed"},
            False,
        ),
        (_page("502 Bad Gateway"), {"http_error"}, False),
        (_page("429 Too Many Requests", "Retry-After: 2"), {"http_error"}, False),
        (_page("307 Temporary Redirect", "Location: http://127.0.0.1:9/v1"), {"http_error"}, False),
    ],
    ids=NAMES.split(),
)
def test_each_stream_is_told_from_every_other(answer: Callable[[socket.socket], None], found: set[str], fit: bool) -> None:
    """Exactly the symptom that is played; a note or a caution leaves the stream fit."""
    with streaming(answer) as url:
        diagnosis = doctor(url, engine="openai")

    assert {symptom.id for symptom in diagnosis.symptoms} - BUSY == found, as_text(diagnosis)
    assert diagnosis.fit is fit


def test_a_redirect_is_named_with_its_target() -> None:
    """Under load it is not followed; the remedy is the address itself."""
    with streaming(_page("308 Permanent Redirect", "Location: http://elsewhere:8000/v1/chat/completions")) as url:
        (symptom,) = _of_the_stream(doctor(url))

    assert "http://elsewhere:8000/v1/chat/completions" in symptom.remedy


def test_an_error_page_is_one_line() -> None:
    """S-14: the page's excerpt stands in one line, its status before it."""
    with streaming(_page("502 Bad Gateway")) as url:
        (symptom,) = _of_the_stream(doctor(url))

    assert symptom.seen == "4 of 4 answers: HTTP 502: <html><script>alert(1)</script>Bad</html>."


def test_burst_of_an_engine_that_is_known_are_steps() -> None:
    """The same stream is nothing to worry about once the engine is named, and wrong for one whose events are steps."""
    with streaming(_written(*_grouped(_cycle(3, 1, 5, 2)), USAGE)) as url:
        weights = {
            engine: [symptom.weight for symptom in doctor(url, engine=engine).symptoms if "burst" in symptom.seen]
            for engine in ("llamacpp", "vllm")
        }

    assert weights == {"llamacpp": ["note"], "vllm": ["unfit"]}


def test_what_cannot_be_asked_is_one_line() -> None:
    """Nobody there, no such engine, no address, several models or none, a web page, a key that is missing."""
    models = '{"data":[{"id":"a"},{"id":"b"}]}'
    with pytest.raises(UnreachableError, match="nothing listens at"):
        doctor("http://127.0.0.1:1")
    with pytest.raises(UnreachableError, match="nothing listens at"):
        doctor("http://127.0.0.1:1", model="m", engine="vllm")
    with pytest.raises(ScenarioError, match="--engine nobody"):
        doctor("http://127.0.0.1:1", engine="nobody")
    with (
        answering(Table({"/v1/models": (200, models)})) as table,
        pytest.raises(RefusedError, match=r"lists 2 models at /v1/models \(a, b\)"),
    ):
        doctor(table.url)
    for url in ("not a url", "127.0.0.1:8000", "ftp://127.0.0.1/x", "http://127.0.0.1:99999", "http://"):
        with pytest.raises(ScenarioError, match="give an endpoint's address"):
            doctor(url)
    with answering(Table({})) as table, pytest.raises(RefusedError, match=r"with no list of models \(HTTP 404\)"):
        doctor(table.url)
    with answering(Table({"/v1/models": (401, "{}")})) as table, pytest.raises(RefusedError, match="--api-key-env"):
        doctor(table.url)


def test_what_is_spoken_in_another_way_says_how() -> None:
    """https where http is spoken, a certificate that nobody vouches for, and a server that hangs up at once."""
    with (
        playing([lambda connection: connection.close()] * 3, tls=True) as url,
        pytest.raises(UnreachableError, match="SSL_CERT_FILE"),
    ):
        doctor(url)
    ssh = [lambda connection: connection.sendall(b"SSH-2.0-OpenSSH_9.0\r\n")] * 3
    with playing(ssh) as url, pytest.raises(UnreachableError, match="try http:// instead"):
        doctor(url.replace("http:", "https:"))
    with playing([lambda connection: None] * 3) as url, pytest.raises(UnreachableError, match="try https://"):
        doctor(url)


def test_a_web_page_is_called_one() -> None:
    """Status 200 with HTML: asked for its models, and for an answer of a model that was named."""
    page = b"<html>Welcome</html>"
    answer = head("Content-Type: text/html", f"Content-Length: {len(page)}") + page

    def everything(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                read_request(connection)
                connection.sendall(answer)

    with playing([everything] * 40) as url:
        with pytest.raises(RefusedError, match="with a web page"):
            doctor(url)
        (symptom,) = _of_the_stream(doctor(url, model="m", engine="openai"))
    assert (symptom.id, symptom.remedy) == ("not_streamed", "This is a web page: check the address of the API.")


def test_a_way_through_a_proxy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy answers itself here, whatever host it is asked for; metrics and load go the same way."""
    with streaming(_written(*ONE_BY_ONE, USAGE)) as url:
        monkeypatch.setenv("HTTP_PROXY", url)
        monkeypatch.setenv("NO_PROXY", "")
        diagnosis = doctor("http://gpu.example:8000", model="scripted", engine="openai")

    (symptom,) = _of_the_stream(diagnosis)
    assert (symptom.id, symptom.weight) == ("by_proxy", "caution")
    assert url.removeprefix("http://") in symptom.seen


def test_a_rung_is_true_or_says_why_not() -> None:
    """Whatever else this machine does: figures are within the budget, or the generator or the machine's record explains it."""
    told: list[str] = []
    (rung,) = sweep(told.append, ladder=((4, 50),))

    assert rung.ok or rung.complaints or (rung.foreign_cpu or 0.0) > 0.1
    assert rung.failed == 0
    assert 0 < rung.chunks_per_s <= 4 * 50
    assert told == [f"4 streams x 50 chunks/s: {'true' if rung.ok else 'not true'}"]


@pytest.mark.parametrize(
    ("metrics", "named"),
    [(((403, ""),), "http_403"), (((500, ""),), "http_500"), ((), "http_404"), (((200, "vllm:num_requests_running 0\n"),), None)],
)
def test_counters_that_cannot_be_read_are_a_symptom(metrics: tuple[tuple[int, str], ...], named: str | None) -> None:
    """N-22: what only they tell stays unknown, and it is said why; a page that answers is no symptom."""
    with endpoint(Behaviour(metrics=metrics)) as url:
        seen = {one.id: one.seen for one in doctor(url, model="scripted", engine="vllm").symptoms}

    assert (named is None) == ("metrics_unread" not in seen)
    assert named is None or f"/metrics was not read ({named}: " in seen["metrics_unread"]
