"""How an endpoint is asked where not as most are: its path, the name of the token limit, further fields of the body. Pure."""

import json
import re
from typing import Any

from specbench.errors import ScenarioError
from specbench.model.scenario import Arm, Asking, Route
from specbench.net.urls import route_of, without_route, without_secrets
from specbench.scenario.text.secret_detection import has_secret_query

_PATH = re.compile(r"/(?!/)[!\"$-~]*")  # printable ASCII but for #, and no second host
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_TAKEN = frozenset(
    {"model", "messages", "prompt", "stream", "stream_options", "temperature", "top_p", "top_k", "seed", "ignore_eos"}
)


def path_fault(path: str) -> str | None:
    """What is wrong with the path of an endpoint, as the end of a sentence that begins with its name; None where nothing is."""
    if not _PATH.fullmatch(path):
        return "must start with one / and hold no #, white space or letters beyond ASCII, as in /chat/completions?api-version=1"
    if has_secret_query(path):
        return "holds what looks like a secret in its query; name the environment variable of a key instead (api_key_env)"
    return None


def limit_fault(name: str) -> str | None:
    """What is wrong with the name of the field that limits an answer's tokens, said likewise; None where nothing is."""
    if _FIELD.fullmatch(name) and name not in _TAKEN:
        return None
    return "must be the name of a field of its own, such as max_completion_tokens"


def asking_of(path: str | None = None, limit_key: str | None = None, extra_body: str | None = None) -> Asking:
    """What the command line says of how to ask.

    Args:
        extra_body: JSON.

    Raises:
        ScenarioError: it cannot be asked so.
    """
    for flag, value, fault_of in (("--path", path, path_fault), ("--limit-key", limit_key, limit_fault)):
        if value is not None and (fault := fault_of(value)) is not None:
            raise ScenarioError(f"{flag}: {fault}")
    return Asking(path=path, limit_key=limit_key or Asking.limit_key, extra_body=_fields(extra_body))


def other_route(arm: Arm, route: Route) -> str | None:
    """What is wrong where the arm's path is that of another route, as a sentence; None where it is not."""
    named = route_of(arm.path or "")
    if named in (None, route):
        return None
    return f"the path {arm.path} is that of {named}, and workload.route is {route}: make them agree"


def check_asking(url: str, asking: Asking) -> None:
    """Nothing, where a chat can be asked for so at this URL.

    Raises:
        ScenarioError: the URL and `--path` both name a path, it is of the other route, or it holds a secret.
    """
    _, pasted = without_route(url)
    if pasted is not None and asking.path is not None:
        raise ScenarioError("--path: the URL names a path already; leave one of them out")
    path = asking.path or pasted
    if path is None:
        return
    if (fault := path_fault(path)) is not None:
        raise ScenarioError(f"{without_secrets(path)}: {fault}")
    if route_of(path) == "completions":
        raise ScenarioError(f"{without_secrets(path)}: is the path of completions; use /chat/completions")


def _fields(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        fields = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"--extra-body: not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise ScenarioError('--extra-body: a JSON object is needed, such as {"stream_options": null}')
    return fields


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")
