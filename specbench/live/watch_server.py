"""The state of a watch over HTTP, for rollout controllers, routers and scrapers. It is handed each new state and judges none."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from specbench.explain.live.live_lines import MEANINGS, empty_policy, left_behind
from specbench.model.live.live_period import LivePeriod
from specbench.model.live.watch_result import WatchResult
from specbench.model.result import Result
from specbench.net.web_server import listening_at, serve_on
from specbench.report.formats.policy import policy_of
from specbench.report.live.watch_metrics import watch_metrics
from specbench.report.serve import NO_RESULT, TEXT


class WatchServer:
    """Serves the newest state; `show` hands it the next one. `run` is the cited result, whose policy it narrows."""

    def __init__(self, run: Result | None = None) -> None:
        self._run = run
        self._newest: tuple[WatchResult, tuple[LivePeriod, ...]] | None = None

    def show(self, result: WatchResult, newest: Sequence[LivePeriod]) -> None:
        """Takes the state after a period, and the newest period of each arm."""
        self._newest = (result, tuple(newest))

    def start(self, host: str, port: int) -> int:
        """Listens there from now on, in a thread of its own; the port.

        Raises:
            UnreachableError: The address cannot be bound.
        """
        listening = listening_at(host, port)
        threading.Thread(target=serve_on, args=(self.app(), listening), name="watch-server", daemon=True).start()
        return int(listening.getsockname()[1])

    def app(self) -> Starlette:
        """The application with its routes, each answered from the newest state."""

        def answering(answer: Callable[[WatchResult, tuple[LivePeriod, ...]], Response]) -> Callable[[Request], Response]:
            def endpoint(_: Request) -> Response:
                if self._newest is None:
                    return JSONResponse({"error": "no window has ended yet"}, NO_RESULT)
                return answer(*self._newest)

            return endpoint

        routes: dict[str, Callable[[WatchResult, tuple[LivePeriod, ...]], Response]] = {
            "/verdict": lambda result, _: JSONResponse(watch_verdict(result)),
            "/policy.json": lambda result, _: JSONResponse(live_policy(result, self._run)),
            "/metrics": lambda result, newest: Response(watch_metrics(result, newest), headers={"content-type": TEXT}),
        }
        made = [Route(path, answering(answer), methods=["GET"]) for path, answer in routes.items()]
        return Starlette(routes=[Route("/healthz", lambda _: PlainTextResponse("ok"), methods=["GET"]), *made])


def watch_verdict(result: WatchResult) -> dict[str, Any]:
    """What a gate needs of the state: `promote` and `rollback` are never both true, and both false means: ask a person."""
    return {
        "verdict": result.state,
        "promote": result.promote,
        "rollback": result.rollback,
        "exit_code": result.exit_code,
        "headline": MEANINGS[result.state],
        "reasons": [asdict(reason) for reason in result.reasons],
        "warnings": [asdict(reason) for reason in result.warnings],
        "findings": [asdict(found) for found in result.findings],
        "figures": asdict(result.figures),
        "not_watched": list(result.not_watched),
        "assignment": result.assignment,
        "windows": asdict(result.periods),
        "run": result.run,
        "finished": left_behind(result.at_s),
    }


def live_policy(result: WatchResult, run: Result | None) -> dict[str, Any]:
    """The run's policy, with nothing enabled while the state takes it away; without a run nothing is enabled."""
    told: dict[str, Any] = {
        "schema_version": 1,
        "run": None,
        "verdict": None,
        "default": "baseline",
        "enable": [],
        "proposed": [],
    }
    if run is not None:
        told = policy_of(run)
    reason = "no_run" if run is None else result.policy_empty
    if reason is None:
        return {**told, "state": result.state}
    return {**told, "enable": [], "proposed": [], "state": result.state, "reason": reason, "message": empty_policy(reason)}
