"""What a client asks for: the bodies of the OpenAI-compatible routes, checked and turned into one frozen value.

No engine state here. What would change the answer and is not built is refused, never ignored.
"""

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard

from specbench.engine.core.output_text import OutputLimits
from specbench.engine.core.planned_calls import PlannedCall, planned_call
from specbench.engine.models.distribution import Shaping
from specbench.engine.models.vocabulary import Vocabulary, encode

Route = Literal["chat", "completions"]
COMPLETION_MAX_TOKENS = 16
MOST_LOGPROBS = 20
# Settings of the OpenAI and vLLM interfaces that change what is drawn or returned, with the values that change nothing.
NOT_BUILT: Mapping[str, tuple[object, ...]] = {
    "n": (None, 1),
    "best_of": (None, 1),
    "min_p": (None, 0, 0.0),
    "logit_bias": (None, {}),
    "presence_penalty": (None, 0, 0.0),
    "frequency_penalty": (None, 0, 0.0),
    "repetition_penalty": (None, 1, 1.0),
    "min_tokens": (None, 0),
    "stop_token_ids": (None, []),
    "include_stop_str_in_output": (None, False),
    "skip_special_tokens": (None, True),
    "bad_words": (None, []),
    # An empty list allows nothing, which is not the same as no list.
    "allowed_token_ids": (None,),
    "logits_processors": (None, []),
    "use_beam_search": (None, False),
    "thinking_token_budget": (None,),
    "functions": (None, []),
    "function_call": (None, "none", "auto"),
    "response_format": (None, {"type": "text"}),
    "structured_outputs": (None, {}),
    "guided_json": (None,),
    "guided_regex": (None, ""),
    "guided_choice": (None, []),
    "guided_grammar": (None, ""),
    "echo": (None, False),
    "suffix": (None, ""),
    "prompt_embeds": (None,),
    "return_tokens_as_token_ids": (None, False),
    # -1 cuts a prompt to the context's length; one that is longer is refused here, so that nothing is cut silently.
    "truncate_prompt_tokens": (None, -1),
}
# Parts of a message that are text; one without a type is told by its text.
TEXT_PARTS = (None, "text", "input_text", "output_text")


class RequestError(Exception):
    """A request that the engine does not serve; `param` names what is wrong with it."""

    def __init__(self, message: str, param: str | None = None, status: int = 400, kind: str = "BadRequestError") -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.status = status
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Generation:
    """One answer to be generated, and how it is to be told; `call` where it is to be a tool call."""

    route: Route
    prompt: tuple[int, ...]
    limits: OutputLimits
    shaping: Shaping
    seed: int | None
    speculative: bool
    logprobs: int | None
    stream: bool
    include_usage: bool
    running_usage: bool
    token_ids: bool
    prompt_logprobs: int | None = None
    call: PlannedCall | None = None


@dataclass(frozen=True, slots=True)
class ServedTerms:
    """What the endpoint serves: its model's name, vocabulary and context length."""

    model: str
    vocabulary: Vocabulary
    max_model_len: int


def generation_of(body: Mapping[str, Any], route: Route, terms: ServedTerms) -> Generation:
    """The request as one value.

    Raises:
        RequestError: 404 for another model, 400 for everything else that is wrong or not built.
    """
    _check_model(body, terms)
    for name, harmless in NOT_BUILT.items():
        if body.get(name) not in harmless:
            raise RequestError(f"{name}={_shown(body[name])} is not supported by this engine", name)
    prompt = prompt_of(body, terms.vocabulary)
    usage = body.get("stream_options") or {}
    if not isinstance(usage, dict):
        raise RequestError(f"stream_options must be an object, got {_shown(usage)}", "stream_options")
    include_usage = _flag(usage, "include_usage", False)
    return Generation(
        route=route,
        prompt=prompt,
        limits=OutputLimits(_max_tokens(body, route, len(prompt), terms), _stop(body), _flag(body, "ignore_eos", False)),
        shaping=_shaping(body),
        seed=_whole(body, "seed", None),
        speculative=_flag(body, "speculative", True),
        logprobs=_logprobs(body, route),
        stream=_flag(body, "stream", False),
        include_usage=include_usage,
        running_usage=include_usage and _flag(usage, "continuous_usage_stats", False),
        token_ids=_flag(body, "return_token_ids", False),
        prompt_logprobs=_prompt_logprobs(body),
        call=_call(body, route, prompt),
    )


def prompt_of(body: Mapping[str, Any], vocabulary: Vocabulary) -> tuple[int, ...]:
    """The tokens of `messages` or `prompt`.

    A chat is its messages' texts with an empty line between them: these models go on with a text, they do not converse.
    """
    if "messages" in body:
        messages = body["messages"]
        if not isinstance(messages, list) or not messages or not all(isinstance(message, dict) for message in messages):
            raise RequestError("messages must be a list of at least one message", "messages")
        return tuple(encode(vocabulary, "\n\n".join(_content(message) for message in messages)))
    prompt = body.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str | list):
        prompt = prompt[0]
    if isinstance(prompt, str):
        return tuple(encode(vocabulary, prompt))
    if prompt and _are_tokens(prompt, vocabulary):
        return tuple(prompt)
    raise RequestError("prompt must be one text or one list of token ids of this vocabulary", "prompt")


def tokens_of(body: Mapping[str, Any], vocabulary: Vocabulary) -> tuple[int, ...]:
    """The tokens that are to be told as text; there may be none of them."""
    tokens = body.get("tokens")
    if not _are_tokens(tokens, vocabulary):
        raise RequestError("tokens must be a list of token ids of this vocabulary", "tokens")
    return tuple(tokens)


def _are_tokens(value: object, vocabulary: Vocabulary) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(type(token) is int and 0 <= token < len(vocabulary) for token in value)


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if content is None and isinstance(calls := message.get("tool_calls"), list):
        return "\n".join(_said_by_call(call) for call in calls)
    if isinstance(content, list):
        content = "".join(_text(part) for part in content)
    if not isinstance(content, str):
        raise RequestError("a message's content must be text", "messages")
    return content


def _said_by_call(call: object) -> str:
    """A tool call of an earlier turn as the text that these models go on with."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        raise RequestError("a message's tool call must be of a function", "messages")
    return f"{function.get('name')}({function.get('arguments')})"


def _text(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or part.get("type") not in TEXT_PARTS or not isinstance(part.get("text"), str):
        raise RequestError(f"a message may have parts of text only, got {_shown(part)}", "messages")
    return str(part["text"])


def _check_model(body: Mapping[str, Any], terms: ServedTerms) -> None:
    model = body.get("model", terms.model)
    if model != terms.model:
        shown = model if isinstance(model, str) else _shown(model)
        raise RequestError(f"The model `{shown}` does not exist. Valid aliases: {terms.model}.", "model", 404, "NotFoundError")


def _max_tokens(body: Mapping[str, Any], route: Route, prompt: int, terms: ServedTerms) -> int:
    if not prompt:
        raise RequestError("the prompt is empty", "prompt")
    limit = f"This model's maximum context length is {terms.max_model_len} tokens."
    if prompt >= terms.max_model_len:
        raise RequestError(f"{limit} However, your prompt contains {prompt} input tokens. Please shorten it.", "input_tokens")
    room = terms.max_model_len - prompt
    asked = _whole(body, "max_completion_tokens", _whole(body, "max_tokens", None))
    if asked is None:
        return room if route == "chat" else min(COMPLETION_MAX_TOKENS, room)
    if asked < 1:
        raise RequestError(f"max_tokens must be at least 1, got {asked}.", "max_tokens")
    if asked > room:
        asks = f"you requested {asked} output tokens and your prompt contains {prompt} input tokens"
        raise RequestError(f"{limit} However, {asks}. Please shorten either.", "max_tokens")
    return asked


def _shaping(body: Mapping[str, Any]) -> Shaping:
    temperature = _number(body, "temperature", 1.0)
    top_p = _number(body, "top_p", 1.0)
    top_k = _whole(body, "top_k", 0) or 0
    if not 0.0 <= temperature <= 100.0:
        raise RequestError(f"temperature must lie in 0 to 100, got {temperature}.", "temperature")
    if not 0.0 < top_p <= 1.0:
        raise RequestError(f"top_p must be in (0, 1], got {top_p}.", "top_p")
    if top_k < -1:
        raise RequestError(f"top_k must be 0 or -1 (disable), or at least 1, got {top_k}.", "top_k")
    if temperature == 0.0:
        return Shaping(0.0)
    return Shaping(temperature, top_p, max(top_k, 0))


def _stop(body: Mapping[str, Any]) -> tuple[str, ...]:
    stop = body.get("stop") or []
    texts = [stop] if isinstance(stop, str) else stop
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise RequestError("stop must be a text or a list of texts, none of them empty", "stop")
    return tuple(texts)


def _logprobs(body: Mapping[str, Any], route: Route) -> int | None:
    if route == "chat":
        wanted = (_whole(body, "top_logprobs", 0) or 0) if _flag(body, "logprobs", False) else None
    else:
        wanted = _whole(body, "logprobs", None)
    if wanted is not None and not 0 <= wanted <= MOST_LOGPROBS:
        raise RequestError(f"at most {MOST_LOGPROBS} log probabilities a token, got {wanted}.", "logprobs")
    return wanted


def _prompt_logprobs(body: Mapping[str, Any]) -> int | None:
    wanted = _whole(body, "prompt_logprobs", None)
    if wanted is None:
        return None
    if not 0 <= wanted <= MOST_LOGPROBS:
        raise RequestError(f"at most {MOST_LOGPROBS} log probabilities a token of the prompt, got {wanted}.", "prompt_logprobs")
    if _flag(body, "stream", False):
        raise RequestError("prompt_logprobs are told in whole answers only: leave out stream", "prompt_logprobs")
    return wanted


def _call(body: Mapping[str, Any], route: Route, prompt: tuple[int, ...]) -> PlannedCall | None:
    """The call of a chat that offers tools; none where it forbids calls."""
    tools, choice = body.get("tools") or [], body.get("tool_choice")
    named: str | None = None
    if isinstance(choice, dict):
        function = choice.get("function")
        named = function.get("name") if isinstance(function, dict) else None
    if not (named if isinstance(choice, dict) else choice in (None, "none", "auto", "required")):
        raise RequestError(f"tool_choice must be none, auto, required or name a function, got {_shown(choice)}", "tool_choice")
    if not isinstance(tools, list) or not all(map(_is_tool, tools)):
        raise RequestError("tools must be a list of functions, each with a name and the schema of its parameters", "tools")
    functions = [tool["function"] for tool in tools]
    if named is not None and named not in [function["name"] for function in functions]:
        raise RequestError(f"tool_choice names {_shown(named)}, which is not among the tools", "tool_choice")
    if not tools and choice not in (None, "none", "auto"):
        raise RequestError("tool_choice asks for a call, and there are no tools", "tool_choice")
    if tools and route != "chat":
        raise RequestError("tools are for chats", "tools")
    return planned_call(functions, named, prompt) if tools and choice != "none" else None


def _is_tool(tool: object) -> bool:
    function = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return False
    schema = function.get("parameters")
    return schema is None or (isinstance(schema, dict) and isinstance(schema.get("properties", {}), dict))


def _flag(body: Mapping[str, Any], name: str, default: bool) -> bool:
    return bool(_field(body, name, default, "true or false", bool))


def _whole(body: Mapping[str, Any], name: str, default: int | None) -> int | None:
    value: int | None = _field(body, name, default, "a whole number", int)
    return value


def _number(body: Mapping[str, Any], name: str, default: float) -> float:
    try:
        return float(_field(body, name, default, "a number", int, float))
    except OverflowError:
        raise RequestError(f"{name} has too many digits, got {_shown(body[name])}", name) from None


def _field(body: Mapping[str, Any], name: str, default: Any, wanted: str, *types: type) -> Any:
    """The field where it is of one of these very types (a truth value is no number), the default where it is not there."""
    value = body.get(name)
    if value is not None and type(value) not in types:
        raise RequestError(f"{name} must be {wanted}, got {_shown(value)}", name)
    return default if value is None else value


def _shown(value: object) -> str:
    # A client may send anything: megabytes, or lists nested deeper than `repr` goes.
    return reprlib.repr(value)
