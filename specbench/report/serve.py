"""A small read-only HTTP endpoint over one run, for those who ask instead of reading exit codes: Argo, Flagger, Prometheus.

It answers from `result.json` as it stands at each request, writes nothing, and judges nothing. Only PROMOTE says yes and only
ROLLBACK says back; CAPPED, HOLD and INVALID say neither, so that a roll-out pauses for a person.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from specbench.errors import DataError, UnreachableError
from specbench.explain.verdict import headline
from specbench.model.result import Result
from specbench.report import render
from specbench.report.formats.policy import policy
from specbench.report.formats.result_json import read_result
from specbench.store import REPORT

NOT_YET = 409  # Flagger: anything but 200 to 202 is a no
NO_RESULT = 503
TEXT = "text/plain; version=0.0.4; charset=utf-8"


def app(run: Path, allow_capped: bool = False) -> Starlette:
    """The endpoint over a run folder. `allow_capped`: CAPPED counts as yes, for whoever enforces the cap elsewhere."""

    def answering(answer: Callable[[Result], Response]) -> Callable[[Request], Response]:
        def endpoint(_: Request) -> Response:
            try:
                return answer(read_result(run))
            except DataError as error:
                raise HTTPException(NO_RESULT, str(error)) from None

        return endpoint

    def may_go(result: Result) -> bool:
        return result.promote or (allow_capped and result.verdict == "CAPPED")

    def flagger(says_yes: Callable[[Result], bool]) -> Callable[[Result], Response]:
        return lambda result: PlainTextResponse(_line(result), status_code=200 if says_yes(result) else NOT_YET)

    routes: dict[str, tuple[str, Callable[[Result], Response]]] = {
        "/verdict": ("GET", lambda result: JSONResponse(verdict(result, may_go(result)))),
        "/result.json": ("GET", lambda result: Response(render(result, "json"), media_type="application/json")),
        "/report": ("GET", lambda result: Response(_page(run, result), media_type="text/html; charset=utf-8")),
        "/badge.json": ("GET", lambda result: Response(render(result, "badge"), media_type="application/json")),
        "/policy.json": ("GET", lambda result: Response(policy(result, allow_capped), media_type="application/json")),
        "/metrics": ("GET", lambda result: Response(render(result, "prometheus"), headers={"content-type": TEXT})),
        "/flagger/confirm": ("POST", flagger(may_go)),
        "/flagger/rollback": ("POST", flagger(lambda result: result.rollback)),
    }
    made = [Route(path, answering(answer), methods=[method]) for path, (method, answer) in routes.items()]
    health = Route("/healthz", lambda _: PlainTextResponse("ok"), methods=["GET"])
    return Starlette(routes=[health, *made], exception_handlers={HTTPException: _refused})


def verdict(result: Result, promote: bool) -> dict[str, Any]:
    """What a gate needs of the result: `promote` and `rollback` are never both true, and both false means: ask a person."""
    return {
        "verdict": result.verdict,
        "promote": promote,
        "rollback": result.rollback,
        "exit_code": result.exit_code,
        "headline": headline(result),
        "reasons": [asdict(reason) for reason in result.reasons],
        "enable_range": asdict(result.enable_range) if result.enable_range is not None else None,
        "rate_range": asdict(result.rate_range) if result.rate_range is not None else None,
        "run": result.run.id,
    }


def _page(run: Path, result: Result) -> str | bytes:
    """The page that the run left behind, so that serving draws nothing; drawn anew where it is gone."""
    file = run / REPORT
    return file.read_bytes() if file.is_file() else render(result, "html")


def _line(result: Result) -> str:
    """The verdict in one line: Flagger puts the body of a refusal into the canary's events."""
    return f"{result.verdict}: {result.reasons[0].message if result.reasons else headline(result)}"


def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return Response(json.dumps({"error": error.detail}), error.status_code, media_type="application/json")


def serve(run: Path, host: str, port: int, allow_capped: bool) -> None:
    """Serves the run until the process is told to end.

    Raises:
        DataError: The folder holds no readable result.
        UnreachableError: The address cannot be bound.
    """
    import socket

    import uvicorn

    read_result(run)  # says at once what a request would say much later
    try:
        listening = socket.create_server((host, port))
    except OSError as error:
        raise UnreachableError(f"{host}:{port} cannot be listened on ({error.strerror}); give another --port") from None
    config = uvicorn.Config(app(run, allow_capped), access_log=False, log_level="warning")
    with listening:
        uvicorn.Server(config).run(sockets=[listening])
