"""Answers to generation requests: from a checked request to the last byte of its stream.

One object per endpoint and one per running answer; the routes around it are in `server.py`, the waiting in `pacing.py`.
"""

import asyncio
import itertools
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from math import floor
from typing import Any, Literal

import msgspec
from starlette.types import Message, Receive, Send

from specbench.engine.core.core import Engine, Output, Step
from specbench.engine.core.planned_calls import garbled
from specbench.engine.core.requests import Generation, RequestError, Route, ServedTerms, generation_of
from specbench.engine.core.scheduler import Sequence
from specbench.engine.core.truth import RequestTruth, Truth
from specbench.engine.http.histograms import Observations, RequestTimes
from specbench.engine.http.openai_json import ServedModel, StreamForm, error_body, whole_answer
from specbench.engine.http.pacing import Pacer
from specbench.engine.options import EngineOptions

EXIT_BY_FAULT = 70
SSE_HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8")]


class Reply:
    """One answer on its way: outputs that the engine delivered and the client has not been sent yet."""

    def __init__(self, truth: RequestTruth) -> None:
        self.truth = truth
        self.moments = RequestTimes(truth.arrival_ns)
        self._outputs: list[Output] = []
        self._waiting: asyncio.Future[None] | None = None
        self._cut = False

    def push(self, output: Output, due_ns: int) -> None:
        """Takes what one step made; the writer is woken once."""
        self.truth.due_ns.append(due_ns)
        self.truth.tokens.append(len(output.growth.tokens))
        self._outputs.append(output)
        self._wake()

    def cut(self) -> None:
        """No more will come, and nobody reads what came."""
        self._outputs.clear()
        self._cut = True
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def outputs(self) -> list[Output]:
        """What has been delivered since the last call, at least one output; empty once the answer was cut."""
        if not self._outputs and not self._cut:
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
            self._waiting = None
        ready, self._outputs = self._outputs, []
        return ready


class HttpEndpoint:
    """All answers of one engine."""

    def __init__(self, engine: Engine, terms: ServedTerms, served: ServedModel, options: EngineOptions) -> None:
        self.engine = engine
        self.terms = terms
        self.served = served
        self.truth = Truth(engine.counts)
        self.observations = Observations(terms.max_model_len)
        self.pacer = Pacer(engine, (1.0 + options.slow_by) / options.times_as_fast, self.truth.timing, self._deliver)
        self._replies: dict[Sequence, Reply] = {}
        self._numbers = itertools.count(1)
        self._calls = itertools.count(1)
        self._faults = options.faults

    def _deliver(self, step: Step, began_ns: int, due_ns: int) -> None:
        self.observations.by_name["iteration_tokens_total"].observe(step.tokens)
        for sequence in step.started:
            if sequence in self._replies:
                self._replies[sequence].moments.scheduled_ns = began_ns
        for output in step.outputs:
            reply = self._replies.get(output.sequence)
            # A client may have left while the step was on its way.
            if reply is None:
                continue
            self.observations.output(reply.moments, due_ns)
            if output.growth.finish is not None:
                self.observations.ended(output.sequence, reply.moments)
                self._close(output.sequence, output.growth.finish)
            reply.push(output, due_ns)

    def _close(self, sequence: Sequence, finish: str) -> None:
        reply = self._replies.pop(sequence)
        truth = reply.truth
        truth.finish, truth.scheduled_ns = finish, reply.moments.scheduled_ns
        truth.cached_tokens, truth.preemptions = sequence.cached, sequence.preemptions
        self.truth.finished[finish] += 1

    async def answer(self, body: bytes, route: Route, receive: Receive, send: Send) -> None:
        """Serves one generation request whose body has been read."""
        arrival_ns = time.monotonic_ns()
        number = next(self._numbers)
        fault = fault_of(number, self._faults)
        if fault == "exit":
            os._exit(EXIT_BY_FAULT)
        if fault == "error":
            await send_json(send, error_body("Internal server error", "InternalServerError", None, 500), 500)
            return
        try:
            request = generation_of(decoded(body), route, self.terms)
        except RequestError as error:
            await send_json(send, error_body(error.message, error.kind, error.param, error.status), error.status)
            return
        request = self._as_told(request)
        name = f"{'chatcmpl' if route == 'chat' else 'cmpl'}-{number:016x}"
        sequence = self.engine.submit(name, request)
        truth = RequestTruth(name, arrival_ns, len(request.prompt))
        truth.drafted, truth.accepted = sequence.drafted_by_round, sequence.accepted_by_round
        reply = Reply(truth)
        self._replies[sequence] = reply
        self.truth.requests += 1
        self.truth.recent.append(truth)
        self.pacer.wake()
        watch = asyncio.create_task(_gone(receive))
        watch.add_done_callback(lambda _: self._abandon(sequence))
        try:
            if request.stream:
                await self._stream(request, reply, sequence, send)
            else:
                await self._whole(request, reply, sequence, send)
        finally:
            watch.cancel()
            self._abandon(sequence)

    def _as_told(self, request: Generation) -> Generation:
        """The request, with its tool call broken where that fault is asked for."""
        if request.call is None:
            return request
        number = next(self._calls)
        share = self._faults.get("garble_tool_call", 0.0)
        if not is_hit(number, share):
            return request
        return replace(request, call=garbled(request.call, floor(number * share)))

    def _abandon(self, sequence: Sequence) -> None:
        """The client has gone: what is still running for it stops."""
        reply = self._replies.get(sequence)
        if reply is not None:
            self.engine.abort(sequence)
            self._close(sequence, "abort")
            reply.cut()

    async def _stream(self, request: Generation, reply: Reply, sequence: Sequence, send: Send) -> None:
        form = StreamForm(self.served, request, sequence.id, int(time.time()))
        opening: bytes = form.opening()
        sent_ns = reply.truth.sent_ns
        await send({"type": "http.response.start", "status": 200, "headers": SSE_HEADERS})
        while ready := await reply.outputs():
            for output in ready:
                event = opening + form.content(output)
                opening = b""
                finished = output.growth.finish is not None
                if finished:
                    event += form.closing(sequence)
                message: Message = {"type": "http.response.body", "body": event, "more_body": not finished}
                await send(message)
                sent_ns.append(time.monotonic_ns())
                if finished:
                    return

    async def _whole(self, request: Generation, reply: Reply, sequence: Sequence, send: Send) -> None:
        outputs: list[Output] = []
        while ready := await reply.outputs():
            outputs.extend(ready)
            if ready[-1].growth.finish is not None:
                top = request.prompt_logprobs
                scored = None if top is None else self.engine.prompt_logprobs(request.prompt, top)
                await send_json(send, whole_answer(self.served, request, sequence, outputs, int(time.time()), scored), 200)
                reply.truth.sent_ns.append(time.monotonic_ns())
                return


async def send_json(send: Send, body: bytes, status: int) -> None:
    """Sends one JSON body."""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def decoded(body: bytes) -> dict[str, Any]:
    """The request's JSON object.

    Raises:
        RequestError: It is none.
    """
    try:
        value = msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise RequestError(f"the body is not valid JSON: {error}") from None
    except RecursionError:
        raise RequestError("the body is nested too deeply") from None
    if not isinstance(value, dict):
        raise RequestError("the body must be a JSON object")
    return value


async def whole_body(receive: Receive) -> bytes:
    """The request's body; what came of it where the client left early."""
    parts: list[bytes] = []
    more = True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


Fault = Literal["error", "exit"]


def fault_of(number: int, faults: Mapping[str, Any]) -> Fault | None:
    """What happens to the generation request of that number, counted from 1; None where it is served.

    `error_share` of all requests, evenly spread, are answered with status 500; the first request after `exit_after_requests` ends
    the process at once.
    """
    last = faults.get("exit_after_requests")
    if last is not None and number > last:
        return "exit"
    return "error" if is_hit(number, faults.get("error_share", 0.0)) else None


def is_hit(number: int, share: float) -> bool:
    """Whether a fault that hits this share of requests, evenly spread, hits the one of this number, counted from 1."""
    return floor(number * share) > floor((number - 1) * share)
