"""A small read-only HTTP endpoint over one run, for those who ask instead of reading exit codes: Argo, Flagger, Prometheus.

It answers from `result.json` as it stands at each request, writes nothing, and judges nothing. Only PROMOTE says yes and only
ROLLBACK says back; CAPPED, HOLD and INVALID say neither, so that a roll-out pauses for a person. So does a verdict that is older
than the caller lets it be (`max_age_s`): the run that was to replace it may never have started.
"""

import asyncio
import errno
import json
import logging
import socket
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from specbench.errors import DataError, ScenarioError, UnreachableError
from specbench.explain.verdict import headline
from specbench.files import regular_bytes
from specbench.model.result import Result
from specbench.report import render
from specbench.report.formats.policy import policy_of
from specbench.report.formats.result_json import read_result
from specbench.store import REPORT

NOT_YET = 409  # Flagger: anything but 200 to 202 is a no
NO_RESULT = 503
HEAD_S = 10.0
"""Within so many seconds a connection has sent the whole head of a request, or is closed."""

MOST_CONNECTIONS = 256
MOST_LINES = 200  # that are logged while it serves: who can reach it must not be able to fill a disk
TEXT = "text/plain; version=0.0.4; charset=utf-8"


CLOCKS_APART_S = 60.0
"""How far a run may seem to have ended in the future, as two machines' clocks differ."""

_REMEDIES = {
    errno.EADDRINUSE: "something listens there already; give another port",
    errno.EACCES: "ports below 1024 need a privilege; give another port",
    errno.EADDRNOTAVAIL: "this machine has no such address; give another host",
    errno.EAFNOSUPPORT: "this machine does not speak that kind of address; give another host",
}


def app(run: Path, allow_capped: bool = False, max_age_s: float | None = None, now: Callable[[], float] = time.time) -> Starlette:
    """The endpoint over a run folder. `allow_capped`: CAPPED counts as yes, for whoever enforces the cap elsewhere.

    Args:
        max_age_s: A run that ended longer ago says neither yes nor no; None where any age will do.
        now: Tells the Unix time.
    """

    def answering(answer: Callable[[Result], Response]) -> Callable[[Request], Response]:
        def endpoint(_: Request) -> Response:
            try:
                return answer(read_result(run))
            except DataError as error:
                raise HTTPException(NO_RESULT, str(error)) from None

        return endpoint

    def is_old(result: Result) -> bool:
        age = age_s(result, now())
        return max_age_s is not None and (age is None or age > max_age_s)

    def may_go(result: Result) -> bool:
        return (result.promote or (allow_capped and result.verdict == "CAPPED")) and not is_old(result)

    def goes_back(result: Result) -> bool:
        return result.rollback and not is_old(result)

    def asked(result: Result) -> Response:
        return JSONResponse(verdict(result, may_go(result), is_old(result)))

    def routed(result: Result) -> Response:
        told = policy_of(result, allow_capped)
        return JSONResponse({**told, "enable": [], "proposed": [], "too_old": True} if is_old(result) else told)

    def flagger(says_yes: Callable[[Result], bool]) -> Callable[[Result], Response]:
        def answer(result: Result) -> Response:
            line = f"too old: the run ended {_ended(result)}; {_line(result)}" if is_old(result) else _line(result)
            return PlainTextResponse(line, status_code=200 if says_yes(result) else NOT_YET)

        return answer

    routes: dict[str, tuple[str, Callable[[Result], Response]]] = {
        "/verdict": ("GET", asked),
        "/result.json": ("GET", lambda result: Response(render(result, "json"), media_type="application/json")),
        "/report": ("GET", lambda result: Response(report_page(run, result), media_type="text/html; charset=utf-8")),
        "/badge.json": ("GET", lambda result: Response(render(result, "badge"), media_type="application/json")),
        "/policy.json": ("GET", routed),
        "/metrics": ("GET", lambda result: Response(render(result, "prometheus"), headers={"content-type": TEXT})),
        "/flagger/confirm": ("POST", flagger(may_go)),
        "/flagger/rollback": ("POST", flagger(goes_back)),
    }
    made = [Route(path, answering(answer), methods=[method]) for path, (method, answer) in routes.items()]
    health = Route("/healthz", lambda _: PlainTextResponse("ok"), methods=["GET"])
    return Starlette(routes=[health, *made], exception_handlers={HTTPException: _refused})


def verdict(result: Result, promote: bool, too_old: bool = False) -> dict[str, Any]:
    """What a gate needs of the result: `promote` and `rollback` are never both true, and both false means: ask a person.

    `finished` is when the run ended (UTC; None where it never came to its end), `scenario_sha256` which scenario file it ran,
    `resolved_sha256` which scenario as it was run.
    """
    return {
        "verdict": result.verdict,
        "promote": promote,
        "rollback": result.rollback and not too_old,
        "exit_code": result.exit_code,
        "headline": headline(result),
        "reasons": [asdict(reason) for reason in result.reasons],
        "enable_range": asdict(result.enable_range) if result.enable_range is not None else None,
        "rate_range": asdict(result.rate_range) if result.rate_range is not None else None,
        "run": result.run.id,
        "started": result.run.started,
        "finished": result.run.finished,
        "scenario_sha256": result.config.sha256,
        "resolved_sha256": result.config.resolved_sha256,
        "too_old": too_old,
    }


def age_s(result: Result, now_s: float) -> float | None:
    """How long ago the run ended, by its start where it was cut off; None where that is not known, or lies in the future."""
    try:
        ended = datetime.fromisoformat(result.run.finished or result.run.started)
    except ValueError:
        return None
    age = now_s - ended.replace(tzinfo=ended.tzinfo or UTC).timestamp()
    return max(age, 0.0) if age > -CLOCKS_APART_S else None


def _ended(result: Result) -> str:
    return result.run.finished or f"early, and started {result.run.started}"


def report_page(run: Path, result: Result) -> str | bytes:
    """The page that the run left behind, so that serving draws nothing; drawn anew where it is gone."""
    file = run / REPORT
    return regular_bytes(file) if file.is_file() else render(result, "html")


def _line(result: Result) -> str:
    """The verdict in one line: Flagger puts the body of a refusal into the canary's events."""
    return f"{result.verdict}: {result.reasons[0].message if result.reasons else headline(result)}"


def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return Response(json.dumps({"error": error.detail}), error.status_code, media_type="application/json")


class Few(logging.Filter):
    """Lets so many lines through, says then that there were more, and is silent."""

    def __init__(self, most: int = MOST_LINES) -> None:
        super().__init__()
        self._left = most

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this line is written."""
        self._left -= 1
        if self._left == 0:
            record.msg, record.args, record.exc_info = "there is more to say; it is not logged", (), None
        return self._left >= 0


def impatient(protocol: type[Any], head_s: float = HEAD_S) -> type[asyncio.Protocol]:
    """The server's protocol, in which a connection must send each head of a request in time; uvicorn itself waits for ever."""

    class Impatient(protocol):  # type: ignore[misc]
        _alarm: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._rest()
            super().connection_lost(exc)

        def on_headers_complete(self) -> None:
            self._rest()
            super().on_headers_complete()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._wait()

        def _wait(self) -> None:
            self._rest()
            if not self.transport.is_closing():
                self._alarm = self.loop.call_later(head_s, self.transport.abort)

        def _rest(self) -> None:
            if self._alarm is not None:
                self._alarm.cancel()
                self._alarm = None

    return Impatient


def serve(run: Path, host: str, port: int, allow_capped: bool, max_age_s: float | None = None) -> None:
    """Serves the run until the process is told to end.

    Raises:
        DataError: The folder holds no readable result.
        UnreachableError: The address cannot be bound.
    """
    read_result(run)  # says at once what a request would say much later
    serve_app(app(run, allow_capped, max_age_s), host, port)


def serve_app(served: Starlette, host: str, port: int) -> None:
    """Serves these routes until the process is told to end: few connections, short log, no patience with slow heads.

    Raises:
        UnreachableError: The address cannot be bound.
    """
    with listening_at(host, port) as listening:
        serve_on(served, listening)


def serve_on(served: Starlette, listening: socket.socket) -> None:
    """Serves these routes on a socket that listens already, until the process is told to end."""
    import uvicorn
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    config = uvicorn.Config(
        served,
        http=impatient(HttpToolsProtocol),
        ws="none",
        limit_concurrency=MOST_CONNECTIONS,
        access_log=False,
        log_level="warning",
    )
    logging.getLogger("uvicorn.error").addFilter(Few())
    uvicorn.Server(config).run(sockets=[listening])


def listening_at(host: str, port: int) -> socket.socket:
    """A socket that listens there, by IPv4 or IPv6 as the host says; `::` takes both where the system can.

    Raises:
        UnreachableError: The address cannot be bound.
        ScenarioError: No host is named: that would be every address of this machine.
    """
    if not host.strip():
        raise ScenarioError("no host is named to listen on; write 127.0.0.1, or 0.0.0.0 for every address of this machine")
    name = host.removeprefix("[").removesuffix("]")
    try:
        family, *_, address = socket.getaddrinfo(name or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        both = family == socket.AF_INET6 and address[0] == "::" and socket.has_dualstack_ipv6()
        return socket.create_server(address[:2], family=family, dualstack_ipv6=both)
    except socket.gaierror as error:
        raise UnreachableError(f"{host}: no address is known for this host ({error.strerror}); give another") from None
    except OSError as error:
        shown = f"[{name}]" if ":" in name else name
        remedy = _REMEDIES.get(error.errno or 0, "give another host or port")
        raise UnreachableError(f"{shown}:{port} cannot be listened on ({error.strerror}); {remedy}") from None
