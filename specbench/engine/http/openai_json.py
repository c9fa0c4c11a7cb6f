"""The bytes of every answer, in the form that vLLM gives its answers.

Text and numbers to JSON only; no engine state, no sockets. What is equal in all events of a stream is encoded once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from specbench.engine.core.core import Output, TokenLogprob
from specbench.engine.core.planned_calls import PlannedCall
from specbench.engine.core.requests import Generation
from specbench.engine.core.scheduler import Sequence as Running
from specbench.engine.models.vocabulary import Vocabulary

DONE = b"data: [DONE]\n\n"
_json = msgspec.json.Encoder().encode


def json_bytes(value: object) -> bytes:
    """Compact JSON, text beyond ASCII as UTF-8."""
    return _json(value)


def error_body(message: str, kind: str, param: str | None, status: int) -> bytes:
    """An error as vLLM tells it."""
    return _json({"error": {"message": message, "type": kind, "param": param, "code": status}})


@dataclass(frozen=True, slots=True)
class ServedModel:
    """What the answers of one endpoint have in common."""

    model: str
    fingerprint: str
    vocabulary: Vocabulary
    drafts: int


class StreamForm:
    """The events of one streamed answer; `prompt` goes into the first one when token ids are asked for."""

    def __init__(self, served: ServedModel, request: Generation, name: str, created: int) -> None:
        self._served = served
        self._request = request
        self._name = name
        self._chat = request.route == "chat"
        kind = "chat.completion.chunk" if self._chat else "text_completion"
        shared = {"id": name, "object": kind, "created": created, "model": served.model}
        self._head = b"data: " + _json(shared)[:-1] + b',"choices":['
        self._prompt = len(request.prompt)
        self._sent = 0

    def opening(self) -> bytes:
        """What comes before the first content: a chat's role; nothing for a completion."""
        if not self._chat:
            return b""
        ids = _json(self._request.prompt) if self._request.token_ids else b"null"
        return (
            self._head
            + b'{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]'
            + (b',"usage":' + self._usage() if self._request.running_usage else b"")
            + b',"prompt_token_ids":'
            + ids
            + b',"prompt_text":null}\n\n'
        )

    def content(self, output: Output) -> bytes:
        """The event of one engine step."""
        growth = output.growth
        self._sent += len(growth.tokens)
        logprobs = (
            b"null" if output.logprobs is None else _json(logprobs_value(self._served.vocabulary, output.logprobs, self._chat))
        )
        ids = _json(growth.tokens) if self._request.token_ids else b"null"
        call = self._request.call
        finish = b"null" if growth.finish is None else _json(told_finish(growth.finish, call))
        text = _json(growth.text)
        if self._chat:
            delta = b'{"content":' + text + b"}" if call is None else _json({"tool_calls": [self._fragment(call, output)]})
            stop = b"" if growth.finish is None else b',"stop_reason":' + _json(growth.stop_reason)
            choice = (
                b'{"index":0,"delta":' + delta + b',"logprobs":' + logprobs + b',"finish_reason":' + finish + stop
                + b',"token_ids":' + ids + b"}"
            )  # fmt: skip
        else:
            prompt = _json(self._request.prompt) if output.first and self._request.token_ids else b"null"
            choice = (
                b'{"index":0,"text":' + text + b',"logprobs":' + logprobs + b',"finish_reason":' + finish
                + b',"stop_reason":' + _json(growth.stop_reason)
                + b',"prompt_token_ids":' + prompt + b',"token_ids":' + ids + b"}"
            )  # fmt: skip
        usage = b',"usage":' + self._usage() if self._request.running_usage else b""
        last = (
            b',"system_fingerprint":' + _json(self._served.fingerprint)
            if growth.finish and not self._request.include_usage
            else b""
        )
        return self._head + choice + b"]" + usage + last + b"}\n\n"

    def _fragment(self, call: PlannedCall, output: Output) -> dict[str, Any]:
        """What one step adds to a call: its name with the first, then its arguments as they grow."""
        text = spelled_in_json(output.growth.text) if call.takes_text else ""
        before, after = call.before if output.first else "", call.after if output.growth.finish is not None else ""
        function: dict[str, Any] = {"arguments": before + text + after}
        if not output.first:
            return {"index": 0, "function": function}
        return {"index": 0, "id": f"call_{self._name}", "type": "function", "function": {"name": call.name, **function}}

    def closing(self, running: Running) -> bytes:
        """What comes after the last content: usage where asked for, then the end mark."""
        if not self._request.include_usage:
            return DONE
        metrics = metrics_value(running, self._served.drafts)
        told = b',"metrics":' + _json(metrics) if metrics else b""
        fingerprint = b',"system_fingerprint":' + _json(self._served.fingerprint)
        return self._head + b'],"usage":' + self._usage() + told + fingerprint + b"}\n\n" + DONE

    def _usage(self) -> bytes:
        return _json(usage_value(self._prompt, self._sent))


def told_finish(finish: str, call: PlannedCall | None) -> str:
    """The finish reason on the wire: a call that its limit did not cut off says that it is one."""
    return "tool_calls" if call is not None and finish == "stop" else finish


def spelled_in_json(text: str) -> str:
    """The text as it stands between the quotes of a JSON string."""
    return _json(text)[1:-1].decode()


def whole_answer(
    served: ServedModel,
    request: Generation,
    running: Running,
    outputs: Sequence[Output],
    created: int,
    prompt_logprobs: Sequence[TokenLogprob] | None = None,
) -> bytes:
    """The one body of an answer that is not streamed."""
    chat = request.route == "chat"
    last = outputs[-1].growth
    tokens = [token for output in outputs for token in output.growth.tokens]
    text = "".join(output.growth.text for output in outputs)
    logprobs = None
    if request.logprobs is not None:
        logprobs = logprobs_value(served.vocabulary, [each for output in outputs for each in output.logprobs or ()], chat)
    choice: dict[str, Any] = {"index": 0}
    call = request.call
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if call is not None:
        arguments = call.before + (spelled_in_json(text) if call.takes_text else "") + call.after
        function = {"name": call.name, "arguments": arguments}
        message |= {"content": None, "tool_calls": [{"id": f"call_{running.id}", "type": "function", "function": function}]}
    choice |= {"message": message} if chat else {"text": text}
    choice |= {"logprobs": logprobs, "finish_reason": told_finish(last.finish or "", call), "stop_reason": last.stop_reason}
    choice |= {"token_ids": tokens if request.token_ids else None}
    scored: dict[str, Any] = {}
    if prompt_logprobs is not None:
        scored = {"prompt_logprobs": prompt_logprobs_value(served.vocabulary, prompt_logprobs)}
        choice |= {} if chat else scored
    return _json(
        {
            **(scored if chat else {}),
            "id": running.id,
            "object": "chat.completion" if chat else "text_completion",
            "created": created,
            "model": served.model,
            "choices": [choice],
            "system_fingerprint": served.fingerprint,
            "usage": usage_value(len(request.prompt), len(tokens)),
            "prompt_token_ids": request.prompt if request.token_ids else None,
            "metrics": metrics_value(running, served.drafts) or None,
        }
    )


def usage_value(prompt: int, completion: int) -> dict[str, int]:
    """Token counts in vLLM's order."""
    return {"prompt_tokens": prompt, "total_tokens": prompt + completion, "completion_tokens": completion}


def metrics_value(running: Running, drafts: int) -> dict[str, Any]:
    """`metrics` of one answer: speculation as it went, in vLLM 0.33's words; empty where the request had none.

    A mean over no rounds is null.
    """
    if not running.speculate:
        return {}
    rounds, accepted, drafted = len(running.accepted_by_round), sum(running.accepted_by_round), sum(running.drafted_by_round)
    histogram = [running.accepted_by_round.count(n) for n in range(drafts + 1)]
    return {
        "speculative_decoding": {
            "mean_acceptance_length": 1 + accepted / rounds if rounds else None,
            "draft_acceptance_rate": accepted / drafted if drafted else None,
            "acceptance_histogram": histogram,
            "num_spec_steps": rounds,
            "num_accepted_draft_tokens": accepted,
            "num_draft_tokens": drafted,
            "num_spec_tokens": drafts,
        }
    }


def prompt_logprobs_value(vocabulary: Vocabulary, told: Sequence[TokenLogprob]) -> list[dict[int, dict[str, Any]] | None]:
    """Log probabilities of a prompt's tokens, the first of which has none: by id, the best ones and the token itself."""

    def entry(token: int, logprob: float, rank: int) -> dict[str, Any]:
        spelled = vocabulary.spellings[token].decode("utf-8", errors="replace")
        return {"logprob": logprob, "rank": rank, "decoded_token": spelled}

    return [
        None,
        *(
            {token: entry(token, logprob, rank) for rank, (token, logprob) in enumerate(each.top, 1)}
            | {each.token: entry(each.token, each.logprob, each.rank)}
            for each in told
        ),
    ]


def logprobs_value(vocabulary: Vocabulary, told: Sequence[TokenLogprob], chat: bool) -> dict[str, Any]:
    """Log probabilities in the form of the route."""
    spellings = vocabulary.spellings

    def text(token: int) -> str:
        return spellings[token].decode("utf-8", errors="replace")

    if not chat:
        return {
            "tokens": [text(each.token) for each in told],
            "token_logprobs": [each.logprob for each in told],
            "top_logprobs": [{text(token): logprob for token, logprob in each.top} for each in told],
        }

    def entry(token: int, logprob: float) -> dict[str, Any]:
        return {"token": text(token), "logprob": logprob, "bytes": list(spellings[token])}

    return {"content": [entry(each.token, each.logprob) | {"top_logprobs": [entry(*top) for top in each.top]} for each in told]}
