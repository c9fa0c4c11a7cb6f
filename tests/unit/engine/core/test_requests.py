"""Requests are read as OpenAI's and vLLM's clients write them, and refused where the engine could not keep its word."""

from typing import Any

import pytest

from specbench.engine.core.output_text import OutputLimits
from specbench.engine.core.requests import NOT_BUILT, RequestError, Route, ServedTerms, generation_of, prompt_of, tokens_of
from specbench.engine.models.distribution import Shaping
from specbench.engine.models.vocabulary import decode, encode
from tests.support.engines import small_models

VOCABULARY = small_models().vocabulary
TERMS = ServedTerms("small", VOCABULARY, 64)
PROMPT = "def f(x):"
PROMPT_TOKENS = len(encode(VOCABULARY, PROMPT))


def asked(route: Route = "completions", **body: Any) -> Any:
    """The request of that body."""
    if "prompt" not in body and "messages" not in body:
        body["prompt"] = PROMPT
    return generation_of(body, route, TERMS)


def refusal(route: Route = "completions", **body: Any) -> RequestError:
    """Why that body is refused."""
    with pytest.raises(RequestError) as caught:
        asked(route, **body)
    return caught.value


@pytest.mark.parametrize(
    ("body", "field", "expected"),
    [
        ({}, "limits", OutputLimits(16)),
        ({"max_tokens": 5, "stop": "\n", "ignore_eos": True}, "limits", OutputLimits(5, ("\n",), True)),
        ({"stop": ["a", "b"]}, "limits", OutputLimits(16, ("a", "b"))),
        ({"max_tokens": 5, "max_completion_tokens": 7}, "limits", OutputLimits(7)),
        ({}, "shaping", Shaping()),
        ({"temperature": 0, "top_p": 0.5, "top_k": 3}, "shaping", Shaping(0.0)),
        ({"temperature": 0.8, "top_p": 0.95, "top_k": -1}, "shaping", Shaping(0.8, 0.95)),
        ({"top_k": 40}, "shaping", Shaping(1.0, 1.0, 40)),
        ({"seed": 7}, "seed", 7),
        ({"logprobs": 3}, "logprobs", 3),
        ({"speculative": False}, "speculative", False),
        ({"stream": True, "stream_options": {"continuous_usage_stats": True}}, "running_usage", False),
        ({"stream": True, "stream_options": {"include_usage": True, "continuous_usage_stats": True}}, "running_usage", True),
        ({"return_token_ids": True}, "token_ids", True),
        ({"prompt_logprobs": 20}, "prompt_logprobs", 20),
        ({"prompt_logprobs": 0}, "prompt_logprobs", 0),
        ({"add_special_tokens": False}, "prompt_logprobs", None),
        ({"model": "small", "n": 1, "min_p": 0, "user": "me", "presence_penalty": 0.0}, "stream", False),
    ],
)
def test_settings_are_read(body: dict[str, Any], field: str, expected: object) -> None:
    """Defaults are vLLM's; settings that change nothing and settings nobody knows are let through."""
    assert getattr(asked(**body), field) == expected


def test_a_chat_may_use_the_whole_context() -> None:
    """Without a limit a chat's answer may fill the context; with logprobs it brings no alternatives unless asked."""
    request = asked("chat", messages=[{"role": "user", "content": PROMPT}], logprobs=True)

    assert request.limits == OutputLimits(64 - PROMPT_TOKENS)
    assert request.logprobs == 0
    assert asked("chat", messages=[{"role": "user", "content": PROMPT}], top_logprobs=2).logprobs is None


def test_a_chat_is_its_texts() -> None:
    """Messages are joined by an empty line; a list of parts is the text of its parts."""
    messages = [{"role": "system", "content": "one"}, {"role": "user", "content": [{"type": "text", "text": "two"}]}]

    assert decode(VOCABULARY, prompt_of({"messages": messages}, VOCABULARY)) == "one\n\ntwo"


@pytest.mark.parametrize(
    "parts",
    [
        ["one two"],
        [{"text": "one two"}],
        [{"type": "text", "text": "one ", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "two"}],
        [{"type": "input_text", "text": "one "}, {"type": "output_text", "text": "two"}],
    ],
    ids=str,
)
def test_parts_of_text_are_joined(parts: list[Any]) -> None:
    """However clients spell a part of text, none of it is lost."""
    assert decode(VOCABULARY, prompt_of({"messages": [{"role": "user", "content": parts}]}, VOCABULARY)) == "one two"


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
        {"type": "image_url", "text": "a picture"},
        {"type": "text"},
        {"type": "text", "text": None},
        {"type": ["text"], "text": "a"},
        None,
        3,
    ],
    ids=str,
)
def test_a_part_that_is_no_text_is_refused(part: object) -> None:
    """An image that the answer would not see is an error, not a gap in the prompt."""
    error = refusal("chat", messages=[{"role": "user", "content": [{"type": "text", "text": "What is this?"}, part]}])

    assert (error.status, error.param) == (400, "messages")


@pytest.mark.parametrize("prompt", ["ab", ["ab"], [97, 98], [[97, 98]]], ids=str)
def test_a_prompt_is_a_text_or_tokens(prompt: object) -> None:
    """Alone or as a list of one."""
    assert prompt_of({"prompt": prompt}, VOCABULARY) == tuple(b"ab")


@pytest.mark.parametrize("tokens", [[], [97, 98]], ids=str)
def test_tokens_to_be_told_may_be_none(tokens: list[int]) -> None:
    """An empty text has no tokens, and no tokens are an empty text."""
    assert tokens_of({"tokens": tokens}, VOCABULARY) == tuple(tokens)


@pytest.mark.parametrize("body", [{}, {"tokens": "ab"}, {"tokens": [-1]}, {"tokens": [99999]}, {"tokens": [[97]]}], ids=str)
def test_what_are_no_tokens_is_named(body: dict[str, Any]) -> None:
    """Only ids of the vocabulary can be told as text."""
    with pytest.raises(RequestError) as caught:
        tokens_of(body, VOCABULARY)

    assert (caught.value.status, caught.value.param) == (400, "tokens")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": "5"}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"max_tokens": 64}, "max_tokens"),
        ({"temperature": -1}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": 10**400}, "temperature"),
        ({"temperature": -(10**400)}, "temperature"),
        ({"top_p": 10**400}, "top_p"),
        ({"top_p": 0}, "top_p"),
        ({"top_p": 1.5}, "top_p"),
        ({"top_k": -2}, "top_k"),
        ({"stop": [""]}, "stop"),
        ({"stop": 3}, "stop"),
        ({"logprobs": 21}, "logprobs"),
        ({"prompt_logprobs": 21}, "prompt_logprobs"),
        ({"prompt_logprobs": -1}, "prompt_logprobs"),
        ({"prompt_logprobs": True}, "prompt_logprobs"),
        ({"prompt_logprobs": 1, "stream": True}, "prompt_logprobs"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools"),
        ({"prompt": ""}, "prompt"),
        ({"prompt": None}, "prompt"),
        ({"prompt": ["a", "b"]}, "prompt"),
        ({"prompt": []}, "prompt"),
        ({"prompt": [99999]}, "prompt"),
        ({"prompt": [1.5]}, "prompt"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user"}]}, "messages"),
        ({"stream_options": "yes"}, "stream_options"),
        ({"stream": "yes"}, "stream"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_wrong_is_named(body: dict[str, Any], param: str) -> None:
    """Status 400, and the parameter at fault."""
    error = refusal(**body)

    assert (error.status, error.param) == (400, param)


@pytest.mark.parametrize("name", NOT_BUILT)
def test_what_is_not_built_is_refused(name: str) -> None:
    """A setting that would change the answer and does not work is an error, not a silent default."""
    body: dict[str, Any] = {name: 2}

    assert refusal(**body).param == name


@pytest.mark.parametrize(
    "body",
    [
        {"include_stop_str_in_output": True},
        {"skip_special_tokens": False},
        {"bad_words": ["return"]},
        {"allowed_token_ids": [97]},
        {"allowed_token_ids": []},
        {"use_beam_search": True},
        {"thinking_token_budget": 100},
        {"tool_choice": "required"},
        {"tool_choice": {"type": "function", "function": {"name": "f"}}},
        {"functions": [{"name": "f"}]},
        {"function_call": {"name": "f"}},
        {"structured_outputs": {"regex": "[0-9]+"}},
        {"guided_json": {"type": "object"}},
        {"guided_json": {}},
        {"guided_regex": "[0-9]+"},
        {"guided_choice": ["yes", "no"]},
        {"guided_grammar": "root ::= [0-9]"},
        {"prompt_embeds": "AAAA"},
        {"truncate_prompt_tokens": 10},
        {"return_tokens_as_token_ids": True},
    ],
    ids=str,
)
def test_a_setting_that_changes_the_answer_is_refused(body: dict[str, Any]) -> None:
    """As its clients would spell it: status 400, and its name."""
    error = refusal(**body)

    assert (error.status, error.param) == (400, next(iter(body)))


@pytest.mark.parametrize(
    ("route", "body"),
    [
        (
            "completions",
            {"repetition_penalty": 1.0, "max_tokens": 5, "logprobs": None, "stream_options": {"include_usage": True}},
        ),
        (
            "completions",
            {"prompt": [PROMPT], "n": 1, "top_p": 1, "frequency_penalty": 0, "presence_penalty": 0, "logit_bias": {}},
        ),
        ("completions", {"best_of": 1, "use_beam_search": False, "min_p": 0.0, "echo": False, "suffix": None, "user": "me"}),
        ("completions", {"guided_regex": "", "guided_grammar": "", "guided_choice": [], "guided_json": None, "bad_words": []}),
        (
            "completions",
            {"include_stop_str_in_output": False, "skip_special_tokens": True, "spaces_between_special_tokens": True},
        ),
        (
            "completions",
            {"truncate_prompt_tokens": -1, "allowed_token_ids": None, "prompt_embeds": None, "add_special_tokens": True},
        ),
        ("chat", {"tools": None, "tool_choice": "none", "parallel_tool_calls": True, "response_format": {"type": "text"}}),
        ("chat", {"tools": [], "tool_choice": "auto", "functions": [], "function_call": "none", "structured_outputs": None}),
        ("chat", {"reasoning_effort": None, "thinking_token_budget": None, "chat_template_kwargs": {"enable_thinking": False}}),
        ("chat", {"max_completion_tokens": 5, "store": False, "metadata": {}, "service_tier": "auto", "priority": 0}),
    ],
    ids=str,
)
def test_what_clients_send_by_default_passes(route: Route, body: dict[str, Any]) -> None:
    """Values that change nothing, as benchmark clients, libraries and gateways write them."""
    chat = {"messages": [{"role": "user", "content": PROMPT}]} if route == "chat" else {}

    assert len(asked(route, **chat, **body).prompt) == PROMPT_TOKENS


def test_a_refusal_does_not_repeat_what_has_no_end() -> None:
    """Megabytes, or lists nested as deep as JSON is read, are told in a few words."""
    nested: list[Any] = []
    for _ in range(5000):
        nested = [nested]

    assert len(refusal(prompt_embeds="A" * 1_000_000).message) < 100
    assert refusal(n=nested).param == "n"
    assert refusal(model=nested).param == "model"


def test_another_model_is_not_found() -> None:
    """Status 404, as vLLM."""
    error = refusal(model="gpt")

    assert (error.status, error.kind, error.param) == (404, "NotFoundError", "model")
    assert "gpt" in error.message


def test_a_long_prompt_is_refused() -> None:
    """A prompt that leaves no room for an answer is an error that names both lengths."""
    error = refusal(prompt=[97] * 64)

    assert (error.status, error.param) == (400, "input_tokens")
    assert "64" in error.message
