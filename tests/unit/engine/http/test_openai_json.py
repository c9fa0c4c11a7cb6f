"""Answers have the form that vLLM gives its answers, held against recorded ones."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from specbench.engine.core.output_text import OutputLimits
from specbench.engine.core.planned_calls import PlannedCall
from specbench.engine.core.requests import Route
from specbench.engine.http.openai_json import DONE, ServedModel, StreamForm, error_body, json_bytes, told_finish, whole_answer
from specbench.engine.models.distribution import Shaping
from specbench.engine.models.vocabulary import decode
from tests.support.engines import PROMPTS, generation, outputs_of, small_engine, small_models

STREAMS = Path("tests/golden/streams")
SPECULATIVE = {"method": "draft_model", "num_speculative_tokens": 4}
EVERYTHING = {"include_usage": True, "running_usage": True, "token_ids": True}
# What the recorded release adds and this engine leaves out: nulls that say nothing.
LEFT_OUT = {
    "usage.completion_tokens_details",
    "usage.prompt_tokens_details",
    "service_tier",
    "prompt_logprobs",
    "prompt_text",
    "kv_transfer_params",
    "ec_transfer_params",
    *(f"choices[].message.{name}" for name in ("refusal", "annotations", "audio", "function_call", "reasoning")),
    "choices[].routed_experts",
}


def paths(value: Any, at: str = "") -> set[str]:
    """Every key of a JSON value, by its path."""
    if isinstance(value, dict):
        return {f"{at}.{key}".lstrip(".") for key in value} | {
            path for key, each in value.items() for path in paths(each, f"{at}.{key}".lstrip("."))
        }
    if isinstance(value, list):
        return {path for each in value for path in paths(each, f"{at}[]")}
    return set()


def events(stream: bytes) -> list[Any]:
    """The JSON of each event, the end mark left out."""
    assert stream.endswith(DONE)
    return [json.loads(part.removeprefix(b"data: ")) for part in stream.split(b"\n\n")[:-2]]


def streamed(route: Route, engine: dict[str, Any] | None = None, **fields: Any) -> list[Any]:
    """The events of one answer of this engine."""
    served = small_engine(speculative=engine)
    request = generation(route=route, stream=True, limits=OutputLimits(12), **fields)
    sequence = served.submit("name-1", request)
    told = ServedModel("small", "print", small_models().vocabulary, 4)
    form = StreamForm(told, request, "name-1", 1700000000)
    body = form.opening() + b"".join(form.content(output) for output in outputs_of(served)["name-1"])
    return events(body + form.closing(sequence))


def recorded(name: str) -> list[Any]:
    """The events of a recorded answer."""
    text = "".join(json.loads(line)[1] + "\n\n" for line in (STREAMS / f"{name}.timed.jsonl").read_text().splitlines())
    return events(text.encode())


@pytest.mark.parametrize(
    ("route", "recording", "fields"),
    [
        ("chat", "vllm-base-chat-code", {"include_usage": True}),
        ("chat", "vllm-ngram-chat-code-cont-ids", EVERYTHING),
        (
            "completions",
            "vllm-ngram-completions-code-cont-ids",
            EVERYTHING,
        ),
    ],
)
def test_events_have_the_recorded_keys(route: Route, recording: str, fields: dict[str, Any]) -> None:
    """First, middle, last content and usage event carry the keys of a real engine's."""
    ours, theirs = streamed(route, **fields), recorded(recording)
    for place in (0, 1, 2, -2, -1):
        assert paths(theirs[place]) - LEFT_OUT <= paths(ours[place]) <= paths(theirs[place]) | {"prompt_text"}


def test_a_whole_answer_has_the_recorded_keys() -> None:
    """The body of an answer that is not streamed."""
    recording = (STREAMS / "vllm-ngram-var-nonstream.txt").read_text().split("\n\n", 1)[-1].split("\r\n\r\n", 1)[-1]
    theirs = json.loads(recording)
    engine = small_engine()
    request = generation(route="chat")
    sequence = engine.submit("name-1", request)
    ours = json.loads(
        whole_answer(
            ServedModel("small", "print", small_models().vocabulary, 4), request, sequence, outputs_of(engine)["name-1"], 1
        )
    )

    assert paths(theirs) - LEFT_OUT <= paths(ours) <= paths(theirs)
    assert ours["usage"]["completion_tokens"] == 24


def test_a_stream_adds_up() -> None:
    """Texts, ids and running usage of the events give text, tokens and final usage of the answer."""
    told = streamed("completions", SPECULATIVE, **EVERYTHING)
    content, usage = told[:-1], told[-1]["usage"]
    ids = [token for event in content for token in event["choices"][0]["token_ids"]]
    running = [event["usage"]["completion_tokens"] for event in content]

    assert "".join(event["choices"][0]["text"] for event in content) == decode(small_models().vocabulary, ids)
    assert running == [sum(len(each["choices"][0]["token_ids"]) for each in content[: i + 1]) for i in range(len(content))]
    assert (usage["completion_tokens"], usage["total_tokens"] - usage["prompt_tokens"]) == (12, 12)
    assert [event["choices"][0]["finish_reason"] for event in content] == [None] * (len(content) - 1) + ["length"]
    assert content[0]["choices"][0]["prompt_token_ids"] is not None
    assert content[1]["choices"][0]["prompt_token_ids"] is None


def test_speculation_is_told_with_the_usage() -> None:
    """Counts of this request in vLLM's words: the histogram's weights are the rounds, its moment the accepted tokens."""
    told = streamed("chat", SPECULATIVE, include_usage=True)[-1]["metrics"]["speculative_decoding"]
    histogram = told["acceptance_histogram"]

    assert len(histogram) == 5
    assert told["num_spec_steps"] == sum(histogram)
    assert told["num_accepted_draft_tokens"] == sum(i * n for i, n in enumerate(histogram))
    assert told["num_draft_tokens"] == 4 * told["num_spec_steps"]
    assert told["mean_acceptance_length"] == pytest.approx(1 + told["num_accepted_draft_tokens"] / told["num_spec_steps"])
    assert told["draft_acceptance_rate"] == pytest.approx(told["num_accepted_draft_tokens"] / told["num_draft_tokens"])


def test_no_speculation_no_counts() -> None:
    """A request without speculation has no such metrics, and an answer of one token none that would divide by nothing."""
    assert "metrics" not in streamed("chat", None, include_usage=True)[-1]
    assert "metrics" not in streamed("chat", SPECULATIVE, include_usage=True, speculative=False)[-1]
    engine = small_engine(speculative=SPECULATIVE)
    request = generation(limits=OutputLimits(1))
    sequence = engine.submit("one", request)
    body = whole_answer(
        ServedModel("small", "print", small_models().vocabulary, 4), request, sequence, outputs_of(engine)["one"], 1
    )
    told = json.loads(body)["metrics"]["speculative_decoding"]
    assert (told["mean_acceptance_length"], told["draft_acceptance_rate"], told["num_spec_steps"]) == (None, None, 0)


def test_usage_comes_only_when_asked_for() -> None:
    """Without include_usage the stream ends with its last content, which then carries the fingerprint."""
    told = streamed("completions")

    assert all("usage" not in event for event in told)
    assert told[-1]["choices"][0]["finish_reason"] == "length"
    assert told[-1]["system_fingerprint"] == "print"


@pytest.mark.parametrize("route", ["chat", "completions"])
def test_logprobs_come_in_the_form_of_the_route(route: Route) -> None:
    """One entry a token, with the alternatives asked for."""
    told = streamed(route, logprobs=2, shaping=Shaping(1.0), token_ids=True, seed=1)
    for event in told[1:]:
        choice = event["choices"][0]
        entries = choice["logprobs"]["content" if route == "chat" else "tokens"]
        assert len(entries) == len(choice["token_ids"])
    last = told[-1]["choices"][0]["logprobs"]
    if route == "chat":
        assert set(last["content"][0]) == {"token", "logprob", "bytes", "top_logprobs"}
        assert len(last["content"][0]["top_logprobs"]) == 2
    else:
        assert last["token_logprobs"][0] <= 0
        assert len(last["top_logprobs"][0]) == 2


def test_errors_are_told_as_vllm_tells_them() -> None:
    """One object with message, type, parameter and code."""
    assert json.loads(error_body("no", "NotFoundError", "model", 404)) == {
        "error": {"message": "no", "type": "NotFoundError", "param": "model", "code": 404}
    }


def test_json_is_compact_and_readable() -> None:
    """Text beyond ASCII stays text; control characters and quotes are escaped."""
    assert json_bytes({"text": 'é"\n'}) == '{"text":"é\\"\\n"}'.encode()


CALL = PlannedCall("write", '{"n": 0, "path": "', '"}', True)


@pytest.mark.parametrize("call", [CALL, PlannedCall("count", '{"n": 0}', "", False)], ids=lambda call: call.name)
def test_a_streamed_call_joins_to_the_whole_one(call: PlannedCall) -> None:
    """The name comes once, with the first content; arguments grow, and are JSON whatever was generated."""
    engine = small_engine()
    request = generation(route="chat", call=call)
    sequence = engine.submit("name-1", request)
    told = ServedModel("small", "print", small_models().vocabulary, 4)
    body = whole_answer(told, request, sequence, outputs_of(engine)["name-1"], 1)
    whole = json.loads(body)["choices"][0]
    deltas = [event["choices"][0]["delta"] for event in streamed("chat", call=call)[1:]]
    fragments = [delta["tool_calls"][0] for delta in deltas]
    streamed_arguments = "".join(each["function"]["arguments"] for each in fragments)

    assert [each["function"].get("name") for each in fragments] == [call.name, *[None] * (len(fragments) - 1)]
    assert fragments[0]["id"] == "call_name-1"
    assert not any("content" in delta for delta in deltas)
    assert json.loads(streamed_arguments)["n"] == 0
    assert (whole["message"]["content"], whole["finish_reason"]) == (None, "length")
    assert json.loads(whole["message"]["tool_calls"][0]["function"]["arguments"]).keys() == json.loads(streamed_arguments).keys()


@pytest.mark.parametrize(
    ("finish", "call", "told"), [("stop", CALL, "tool_calls"), ("length", CALL, "length"), ("stop", None, "stop")]
)
def test_how_a_call_ends(finish: str, call: PlannedCall | None, told: str) -> None:
    """It says that it is one, unless its limit cut it off."""
    assert told_finish(finish, call) == told


@pytest.mark.parametrize("route", ["chat", "completions"])
def test_a_prompt_is_scored_token_by_token(route: Route) -> None:
    """The first token has no score; each other one has its own and those of the best two, before any temperature."""
    vocabulary, target = small_models().vocabulary, small_models().target
    engine = small_engine()
    request = generation(PROMPTS[2], route=route, prompt_logprobs=2, shaping=Shaping(0.3))
    sequence = engine.submit("name-1", request)
    outputs = outputs_of(engine)["name-1"]
    told = engine.prompt_logprobs(request.prompt, 2)
    body = json.loads(whole_answer(ServedModel("small", "print", vocabulary, 4), request, sequence, outputs, 1, told))
    scored = body["prompt_logprobs"] if route == "chat" else body["choices"][0]["prompt_logprobs"]

    assert scored[0] is None
    assert len(scored) == len(request.prompt)
    for i, entry in enumerate(scored[1:], 1):
        p = target.next_token(request.prompt[:i])
        token = request.prompt[i]
        best = {str(p.tokens[place]): (place + 1, math.log(p.probabilities[place])) for place in (0, 1)}

        assert {str(token), *best} == set(entry)
        for name, (rank, logprob) in best.items():
            assert (entry[name]["rank"], entry[name]["logprob"]) == (rank, pytest.approx(logprob))
        assert entry[str(token)]["decoded_token"] == decode(vocabulary, [token])
        if token not in p.tokens:
            assert (entry[str(token)]["logprob"], entry[str(token)]["rank"]) == (-9999.0, len(p.tokens) + 1)
