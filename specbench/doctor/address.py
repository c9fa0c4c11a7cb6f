"""Which model is served at an address; where none is, what is wrong with it in one line."""

from collections.abc import Mapping

from specbench.errors import RefusedError, UnreachableError
from specbench.telemetry.endpoint import ask
from specbench.telemetry.facts import model_names
from specbench.telemetry.pages import REMEDIES, Answer

MODELS = "/v1/models"


def model_at(url: str, headers: Mapping[str, str], named: str | None) -> str:
    """The model that was named, or else the only one that the endpoint lists.

    Raises:
        UnreachableError: nothing answers there.
        RefusedError: what answers lists no model or several, and none was named.
    """
    answers = ask(url, headers, [MODELS])
    answer = answers[MODELS]
    if answer.failure is not None and not (named is not None and answer.connected):
        raise UnreachableError(f"{url} does not answer ({answer.problem}); {REMEDIES[answer.failure]}")
    if named is not None:
        return named
    models = model_names(answers)
    if len(models) == 1:
        return models[0]
    raise RefusedError(f"{url}: {_unlisted(answer, models)}")


def _unlisted(answer: Answer, models: list[str]) -> str:
    """Why no model can be chosen, and what to do."""
    if models:
        few = ", ".join(models[:5]) + (", ..." if len(models) > 5 else "")
        return f"lists {len(models)} models at {MODELS} ({few}); name one with --model"
    if answer.status in (401, 403):
        return f"refuses {MODELS} (HTTP {answer.status}); give the environment variable with its key (--api-key-env)"
    page = "a web page" if "html" in answer.headers.get("content-type", "") else "no list of models"
    return (
        f"answers {MODELS} with {page} (HTTP {answer.status}); is this the address of the API? If it is, name the model (--model)"
    )
