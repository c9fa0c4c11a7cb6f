"""What a value of a dataset is, told by its keys: one row of `SHAPES` for each shape that such files have in the field.

A reader makes requests of a value, or says why it is none. What a shape's lists of turns hold is `conversations.py`'s, what logs
and traces hold `traces.py`'s.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from specbench.model.data.datasets import DatasetReading, Kept, ShapeName
from specbench.prompts.dataset import traces
from specbench.prompts.dataset.conversations import EMPTY, NotUsableError, requests_in
from specbench.prompts.dataset.row import Found, FoundSeveral, Row, field_at, whole_number
from specbench.prompts.dataset.traces import ms_of, usage_of

UNKNOWN = "no shape that is known"
PLACEHOLDER = "FULL BENCHMARK DATA SHOULD BE FETCHED"  # SPEED-Bench's published rows, until their texts are assembled
_SAMPLING = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
    "stop",
)
_FIELDS: dict[Kept, tuple[str, ...]] = {
    "tools": ("tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"),
    "response_format": ("response_format",),
    "max_tokens": ("max_tokens", "max_completion_tokens"),
    "sampling": _SAMPLING,
}
_OTHER_MEDIA = ("image", "images", "audio", "audios", "video", "videos")
Value = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape: its name in a scenario and for people, the keys that tell it (all of one set), and its reader."""

    name: ShapeName
    label: str
    keys: tuple[frozenset[str], ...]
    read: Callable[[Value, DatasetReading], FoundSeveral]


@lru_cache
def _names_of(keep: tuple[Kept, ...]) -> tuple[str, ...]:
    return tuple(key for kept in keep for key in _FIELDS[kept])


def body_rows(body: Any, reading: DatasetReading) -> Found:
    """The requests of a body as an OpenAI endpoint takes it."""
    if not isinstance(body, dict):
        return "a body that is no mapping"
    listed = body.get("messages")
    if isinstance(listed, list):
        found = requests_in(listed, reading.turns)
    elif "input" in body and "prompt" not in body:
        found = "an embeddings request is no prompt" if isinstance(body["input"], str | list) else UNKNOWN
    else:
        found = _one_text(body.get("prompt", body.get("text")))
    if isinstance(found, str):
        return found
    fields = {key: body[key] for key in _names_of(reading.keep) if key in body and body[key] is not None}
    return [row._replace(fields=fields) for row in found] if fields else found


def _one_text(value: Any) -> Found:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        value = value[0]
    if isinstance(value, list) and value and all(isinstance(one, int) for one in value):
        return "a prompt of token ids"
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return requests_in(value, None)
    if not isinstance(value, str):
        return "a prompt that is no text"
    return [Row(value)] if value.strip() else EMPTY


def _with_usage(found: Found, value: Value) -> Found:
    """The requests, with the lengths that were recorded, where all that was recorded is sent."""
    before, after = usage_of(value)
    if isinstance(found, str) or len(found) != 1 or (before is None and after is None):
        return found
    listed = value.get("messages")
    questions = sum(isinstance(one, dict) and one.get("role") == "user" for one in listed) if isinstance(listed, list) else 1
    if questions > 1 and not found[0].messages:
        return found
    return [found[0]._replace(input_tokens=before or None, output_tokens=after)]


def _request(value: Value, reading: DatasetReading) -> Found:
    found = _with_usage(body_rows(value, reading), value)
    return traces.timed(found, ms_of(value.get("timestamp"))) if "timestamp" in value else found


def _batch(value: Value, reading: DatasetReading) -> Found:
    url = str(value.get("url", ""))
    if url and not url.rstrip("/").endswith("completions"):
        return f"a request to {url[:40]} is no prompt" if "embeddings" not in url else "an embeddings request is no prompt"
    if "body" not in value:
        return "an answer of a batch without its request"
    return body_rows(value["body"], reading)


def _talk(value: Value, reading: DatasetReading) -> Found:
    listed = next((value[key] for key in ("conversations", "conversation") if key in value), None)
    if isinstance(listed, str):
        return _one_text(listed)
    system = value.get("system", value.get("system_prompt"))
    return (
        requests_in(listed, reading.turns, system if isinstance(system, str) else None)
        if isinstance(listed, list)
        else "no turns"
    )


def _logged_talk(value: Value, reading: DatasetReading) -> Found:
    return traces.timed(_talk(value, reading), value.get("timestamp"))


def _turns(value: Value, reading: DatasetReading) -> Found:
    """Questions of which each later one speaks of the answer to the one before, so that the first alone can be sent."""
    listed = value["turns"] if isinstance(value["turns"], list) else []
    return _one_text(listed[0]) if listed else "no user turn"


def _assembled(value: Value, reading: DatasetReading) -> Found:
    return requests_in(value["messages"], reading.turns) if isinstance(value.get("messages"), list) else "no turns"


def _single(value: Value, reading: DatasetReading) -> Found:
    media = next((key for key in _OTHER_MEDIA if value.get(key)), None)
    if media is not None:
        return f"holds more than text ({media})"
    held = value.get("text")
    if held is None and isinstance(value.get("texts"), list):
        held = "\n".join(str(one) for one in value["texts"])
    found = _one_text(held)
    if isinstance(found, str):
        return found
    extra = value.get("extra")
    fields = body_rows({"prompt": "x", **extra}, reading) if isinstance(extra, dict) else found
    row = found[0]._replace(
        fields={} if isinstance(fields, str) else fields[0].fields,
        output_tokens=whole_number(value.get("output_length")),
        at_s=ms_of(value.get("timestamp")),
        session=_name_of(value.get("session_id")),
    )
    return [row]


def _several(value: Value, reading: DatasetReading) -> Found:
    """AIPerf's turns: a leading system turn belongs to all, and later questions wait for live answers."""
    listed = [turn for turn in value["turns"] if isinstance(turn, dict)] if isinstance(value["turns"], list) else []
    system = None
    if listed and listed[0].get("role") == "system":
        system, listed = str(listed[0].get("text") or ""), listed[1:]
    found = _single(listed[0], reading) if listed else "no user turn"
    if isinstance(found, str):
        return found
    return [found[0]._replace(system=system or None, session=_name_of(value.get("session_id")))]


def _sent_bodies(value: Value, reading: DatasetReading) -> FoundSeveral:
    bodies = value["payloads"] if isinstance(value["payloads"], list) else []
    session = _name_of(value.get("session_id"))
    rows: list[Row | str] = []
    for turn, body in enumerate(bodies):
        found = body_rows(body, reading)
        rows.append(found if isinstance(found, str) else found[0]._replace(turn=turn, session=session))
    return rows or "no payload"


def _mooncake(value: Value, reading: DatasetReading) -> Found:
    """A trace's row: a text, messages or a body where it has them, else the lengths alone."""
    if isinstance(value.get("payload"), dict):
        found = body_rows(value["payload"], reading)
    elif isinstance(value.get("messages"), list):
        found = body_rows(value, reading)
    elif "text_input" in value:
        found = _one_text(value["text_input"])
    else:
        found = traces.of_lengths(value.get("input_length"), value.get("output_length"), value.get("hash_ids"))
    if isinstance(found, str):
        return found
    output, session = whole_number(value.get("output_length")), _name_of(value.get("session_id"))
    at_s = ms_of(value.get("timestamp"))
    return [row._replace(output_tokens=row.output_tokens or output, at_s=at_s, session=session) for row in found]


def _litellm(value: Value, reading: DatasetReading) -> Found:
    return traces.litellm(value, lambda body: body_rows(body, reading))


def _spans(value: Value, reading: DatasetReading) -> FoundSeveral:
    return traces.spans(value, reading.turns)


def _name_of(value: Any) -> str | None:
    return None if value is None else str(value)


def _sets(*names: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(one.split("+")) for one in names)


# The more particular shape stands first: a log's row has `messages` too.
SHAPES: tuple[Shape, ...] = (
    Shape("otel", "OTel GenAI span", _sets(*traces.SPANS), _spans),
    Shape("litellm", "LiteLLM log", _sets(*traces.LITELLM), _litellm),
    Shape("batch", "OpenAI batch", _sets("custom_id+body", "custom_id+response"), _batch),
    Shape("aiperf_inputs", "AIPerf inputs", _sets("payloads"), _sent_bodies),
    Shape("wildchat", "WildChat", _sets("conversation_hash+conversation"), _logged_talk),
    Shape("lmsys", "LMSYS-Chat", _sets("conversation_id+conversation"), _logged_talk),
    Shape("speed_bench", "SPEED-Bench", _sets("question_id+messages"), _assembled),
    Shape("multi_turn", "AIPerf multi_turn", _sets("turns+session_id"), _several),
    Shape("turns", "Spec-Bench or MT-Bench turns", _sets("turns"), _turns),
    Shape("mooncake", "Mooncake trace", _sets(*traces.MOONCAKE), _mooncake),
    Shape("burstgpt", "BurstGPT", _sets("Request tokens+Response tokens"), traces.burstgpt),
    Shape("azure", "Azure LLM trace", _sets("ContextTokens+GeneratedTokens"), traces.azure),
    Shape("openai", "OpenAI request", _sets("messages"), _request),
    Shape("sharegpt", "ShareGPT", _sets("conversations", "conversation"), _talk),
    Shape("single_turn", "AIPerf single_turn", _sets("texts", *(f"text+{key}" for key in traces.SINGLE_TURN)), _single),
    Shape("prompt", "prompt", _sets("prompt"), _request),
    Shape("text", "text", _sets("text"), _request),
    Shape("random_pool", "AIPerf random_pool", _sets("texts", "text"), _single),
)
BY_NAME = {shape.name: shape for shape in SHAPES}


@lru_cache(maxsize=4096)
def _with_keys(keys: tuple[str, ...], forced: ShapeName) -> tuple[Shape, ...]:
    """The shapes that these keys may tell, in the order in which they are to be tried."""
    held = set(keys)
    among = SHAPES if forced == "auto" else (BY_NAME[forced],)
    return tuple(shape for shape in among if any(named <= held for named in shape.keys))


def shape_of(value: Any, forced: ShapeName = "auto") -> Shape | None:
    """The shape that a value has, or that is forced upon it; None where it has none that is known."""
    if isinstance(value, str):
        return BY_NAME["text"] if forced in ("auto", "text") else None
    if not isinstance(value, dict):
        return None
    keys = tuple(key for key in value if value[key] is not None) if None in value.values() else tuple(value)
    for shape in _with_keys(keys, forced):
        if shape.name != "otel" or traces.is_span(value):
            return shape
    return None


def rows_of(value: Any, reading: DatasetReading) -> tuple[str, FoundSeveral]:
    """The shape of a value as people call it, and its requests or the reason why it makes none."""
    if not isinstance(value, str | dict):
        return "", "neither text nor a mapping"
    shape = shape_of(value, reading.shape)
    if shape is None:
        return "", UNKNOWN if reading.shape == "auto" else f"not of the shape {reading.shape}"
    try:
        return shape.label, _one_text(value) if isinstance(value, str) else shape.read(value, reading)
    except NotUsableError as reason:
        return shape.label, str(reason)


def label_of(value: Any, reading: DatasetReading) -> str | None:
    """What stands under the field that bins name a row by; None where nothing does."""
    if reading.label is None or not isinstance(value, dict):
        return None
    held = field_at(value, reading.label)
    return None if held is None else str(held)


def nearest_shape(keys: Sequence[str]) -> Shape | None:
    """The shape that most of these keys may be meant for, in other letters or with a word too many; None where there is none."""
    held = {_letters(key) for key in keys}
    best: tuple[float, Shape] | None = None
    for shape in SHAPES:
        for named in shape.keys:
            share = sum(_resemblance(_letters(key), held) for key in named) / len(named)
            if share >= 0.5 and (best is None or share > best[0]):
                best = (share, shape)
    return None if best is None else best[1]


def _letters(key: str) -> str:
    return "".join(filter(str.isalnum, key.casefold()))


def _resemblance(wanted: str, held: set[str]) -> float:
    """1 for a key that is there, less for one of which a part is."""
    if wanted in held:
        return 1.0
    return 0.6 if any(len(one) > 3 and (wanted in one or one in wanted) for one in held) else 0.0
