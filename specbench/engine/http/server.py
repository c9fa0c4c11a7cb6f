"""The engine as an OpenAI-compatible HTTP service: its routes, its start and its end.

No generation logic: answers are made in `endpoint.py`, time passes in `pacing.py`.
"""

import asyncio
import contextlib
import gc
import hashlib
import json
import os
import re
import socket
import sys
import time
from dataclasses import replace
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Path
from starlette.types import Receive, Scope, Send

from specbench import __version__
from specbench.engine.core.requests import RequestError, Route, ServedTerms, prompt_of, tokens_of
from specbench.engine.core.setup import engine_of, recipe_of
from specbench.engine.http.endpoint import HttpEndpoint, decoded, whole_body
from specbench.engine.http.metrics_page import CONTENT_TYPE, MetricsPage
from specbench.engine.http.openai_json import ServedModel, error_body, json_bytes
from specbench.engine.http.pacing import PreciseSelector
from specbench.engine.models.cache import fingerprint
from specbench.engine.models.vocabulary import decode
from specbench.engine.options import EngineOptions, Speculation
from specbench.engine.timing.roofline import Machine
from specbench.errors import UnreachableError

# Connections stay open between the blocks of a run; a client that reuses one must not find it closed.
KEEP_ALIVE_S = 300
SHUTDOWN_S = 1
PRIORITY = -10
LAST_REQUESTS = 100
MOST_DIGITS = 9


def serve(options: EngineOptions) -> None:
    """Serves one engine until SIGINT or SIGTERM; prints one JSON line with its URL when it is ready.

    Raises:
        UnreachableError: The address cannot be bound.
        SpecbenchError: The options do not fit the accelerator.
    """
    listener = _listener(options.host, options.port)  # before the training, so that nobody else takes the port meanwhile
    endpoint = endpoint_of(options)
    # A GPU does not wait for a busy machine. Where the user may, the engine goes first; it needs a tenth of a core.
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
    with contextlib.suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=_event_loop) as runner:
        runner.run(_serve(endpoint, listener, options))


def endpoint_of(options: EngineOptions) -> HttpEndpoint:
    """The engine with all that its answers need, trained and ready."""
    engine = engine_of(options)
    mark = hashlib.sha256(repr(options.speculative).encode()).hexdigest()[:8]
    served = ServedModel(
        model=options.model,
        fingerprint=f"specbench-{__version__}-{mark}",
        vocabulary=engine.models.vocabulary,
        drafts=options.speculative.num_speculative_tokens if options.speculative else 0,
    )
    return HttpEndpoint(engine, ServedTerms(options.model, engine.models.vocabulary, options.max_model_len), served, options)


def app_of(endpoint: HttpEndpoint, options: EngineOptions) -> Starlette:
    """The application with all its routes."""
    exposition = MetricsPage(endpoint, time.time())
    vocabulary = endpoint.terms.vocabulary

    async def models(_: Request) -> Response:
        return _json({"object": "list", "data": [_model_card(options, endpoint.engine.machine)]})

    async def tokenize(request: Request) -> Response:
        tokens = prompt_of(decoded(await request.body()), vocabulary)
        return _json({"count": len(tokens), "max_model_len": options.max_model_len, "tokens": tokens, "token_strs": None})

    async def detokenize(request: Request) -> Response:
        return _json({"prompt": decode(vocabulary, tokens_of(decoded(await request.body()), vocabulary))})

    async def truth(_: Request) -> Response:
        return _json(endpoint.truth.totals(endpoint.engine.batch.preemptions))

    async def truth_requests(request: Request) -> Response:
        last = request.query_params.get("last", str(LAST_REQUESTS))
        # Digits of other scripts and superscripts count as digits for Python, too.
        if not re.fullmatch(f"[0-9]{{1,{MOST_DIGITS}}}", last):
            raise RequestError(f"last must be a whole number of at most {MOST_DIGITS} digits", "last")
        return _json(endpoint.truth.last(int(last)))

    async def metrics(_: Request) -> Response:
        return Response(exposition.page(), media_type=CONTENT_TYPE)

    async def health(_: Request) -> Response:
        return Response()

    async def version(_: Request) -> Response:
        return _json({"version": __version__})

    return Starlette(
        routes=[
            Path("/v1/chat/completions", _Generate(endpoint, "chat"), methods=["POST"]),
            Path("/v1/completions", _Generate(endpoint, "completions"), methods=["POST"]),
            Path("/v1/models", models),
            Path("/tokenize", tokenize, methods=["POST"]),
            Path("/detokenize", detokenize, methods=["POST"]),
            Path("/truth", truth),
            Path("/truth/requests", truth_requests),
            Path("/metrics", metrics),
            Path("/health", health),
            Path("/version", version),
        ],
        exception_handlers={RequestError: _refuse},
    )


class _Generate:
    """A generation route as a bare ASGI application: a stream's events go out without a framework in between."""

    def __init__(self, endpoint: HttpEndpoint, route: Route) -> None:
        self._endpoint = endpoint
        self._route = route

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._endpoint.answer(await whole_body(receive), self._route, receive, send)


async def _refuse(_: Request, error: Exception) -> Response:
    if not isinstance(error, RequestError):
        raise error
    body = error_body(error.message, error.kind, error.param, error.status)
    return Response(body, status_code=error.status, media_type="application/json")


def _json(value: object) -> Response:
    return Response(json_bytes(value), media_type="application/json")


def _model_card(options: EngineOptions, machine: Machine) -> dict[str, Any]:
    return {
        "id": options.model,
        "object": "model",
        "created": int(time.time()),
        "owned_by": "specbench",
        "root": options.model,
        "parent": None,
        "max_model_len": options.max_model_len,
        # Of the target alone: heads are part of the proposer.
        "revision": fingerprint(replace(recipe_of(options), heads=0)),
        "tokenizer": "words and bytes",
        "quantization": machine.target.name,
        "hardware": f"{machine.accelerator.name} (virtual)",
        "speculation_config": None if options.speculative is None else json.dumps(_told(options.speculative)),
    }


def _told(speculation: Speculation) -> dict[str, Any]:
    return {name: getattr(speculation, name) for name in Speculation.__slots__ if getattr(speculation, name) is not None}


def _event_loop() -> asyncio.AbstractEventLoop:
    return asyncio.SelectorEventLoop(PreciseSelector())


def _listener(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=2048)
        # Accepted sockets inherit this. Without it the first event waits for the client's delayed acknowledgement, 40 ms.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as error:
        raise UnreachableError(
            f"cannot serve on {host} port {port}: {error.strerror or error}; give another port, or 0 for any free one"
        ) from None


async def _serve(endpoint: HttpEndpoint, listener: socket.socket, options: EngineOptions) -> None:
    config = uvicorn.Config(
        app_of(endpoint, options),
        http="httptools",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=SHUTDOWN_S,
    )
    server = uvicorn.Server(config)
    tasks = [asyncio.create_task(endpoint.pacer.run()), asyncio.create_task(_announce(server, listener, options))]
    # What training left behind lives as long as the process; collecting garbage need not look at it again.
    gc.collect()
    gc.freeze()
    for task in tasks:
        task.add_done_callback(lambda done: _stop_on_failure(done, server))
    await server.serve(sockets=[listener])
    for task in tasks:
        task.cancel()
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(outcome, Exception):
            raise outcome


async def _announce(server: uvicorn.Server, listener: socket.socket, options: EngineOptions) -> None:
    while not server.started:
        await asyncio.sleep(0.005)
    host = f"[{options.host}]" if ":" in options.host else options.host
    line = {"url": f"http://{host}:{listener.getsockname()[1]}", "pid": os.getpid(), "model": options.model}
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _stop_on_failure(task: "asyncio.Task[None]", server: uvicorn.Server) -> None:
    # An engine that no longer steps must not go on accepting requests.
    if not task.cancelled() and task.exception() is not None:
        server.should_exit = True
        server.force_exit = True
