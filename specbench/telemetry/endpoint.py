"""Asks an endpoint, before any load, who it is and what it says of itself.

What the answers mean is known by each engine's file; whether two endpoints may be compared is for `arms/comparability.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specbench.credentials import LONGEST_WORD, NO_SECRETS, Secrets, one_line
from specbench.errors import RefusedError, UnreachableError
from specbench.model.records import Endpoint
from specbench.model.scenario import Arm, ArmName
from specbench.telemetry import ENGINES
from specbench.telemetry.endpoint_facts import about, fingerprint, model_names, token_ids, with_sources
from specbench.telemetry.engine import EngineSupport
from specbench.telemetry.http import HttpGetter, proxy_name
from specbench.telemetry.metrics_pages import HttpAnswer, HttpAnswers, unreachable

MODELS = "/v1/models"
TIMEOUT_S = 5.0
LONGEST_FACT = 2000  # characters; how an engine drafts takes some hundred
# Accents, another script, digits, code, white space and an emoji: vocabularies and their normalisation part ways on these.
PROBE_TEXT = "Tokens: naïve café, 今日は世界, 12345 == x[i] += 1;\n\t  def f():\n🙂 end"


@dataclass(frozen=True, slots=True)
class ServedEndpoint:
    """Where a model is served: the base URL without `/v1`, the headers that requests carry, and the model to ask for.

    `secrets` are taken out of what it says.
    """

    url: str
    headers: Mapping[str, str]
    model: str
    secrets: Secrets = NO_SECRETS


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """The model to ask for, and what the endpoint lists instead where that is not in its list: servers resolve more names."""

    name: str
    listed_instead: tuple[str, ...] = ()


def get_all(url: str, headers: Mapping[str, str], paths: Sequence[str], secrets: Secrets = NO_SECRETS) -> HttpAnswers:
    """What each of these paths answers, by path; the ones after a refused connection are not asked and left out."""
    answers: dict[str, HttpAnswer] = {}
    with HttpGetter(secrets) as getter:
        for path in paths:
            answers[path] = getter.get(url + path, headers, TIMEOUT_S)
            if not answers[path].connected:
                break
    return answers


def served_model(
    url: str,
    headers: Mapping[str, str],
    named: str | None,
    arm: ArmName | None = None,
    listed_at: str = MODELS,
    secrets: Secrets = NO_SECRETS,
) -> ChosenModel:
    """The model to ask for: the one that was named, listed or not, or else the only one that the endpoint lists.

    Args:
        arm: Which arm of a run it is; its endpoint must answer, where that of none need only be there for a model that is named.
        listed_at: The path of the list.
        secrets: Taken out of what it says.

    Raises:
        UnreachableError: nothing answers there.
        RefusedError: it lists no model or several, and none was named.
    """
    answer = get_all(url, headers, [listed_at], secrets)[listed_at]
    where = url if arm is None else f"arms.{arm}: {url}"
    if answer.failure is not None and (arm is not None or named is None or not answer.connected):
        raise UnreachableError(("" if arm is None else f"arms.{arm}: ") + unreachable(url, answer))
    models = model_names({MODELS: answer})
    if named is None:
        if len(models) == 1:
            return ChosenModel(models[0])
        raise RefusedError(f"{where} {_unlisted(answer, models)}")
    return ChosenModel(named, () if named in models else tuple(models))


def recognise(url: str, headers: Mapping[str, str], secrets: Secrets = NO_SECRETS) -> EngineSupport | None:
    """The engine that serves `url` (without `/v1`), told by its answers; None where nothing answers as an engine does.

    Order: the table's, so that a plain OpenAI endpoint is what is left when no engine knows itself.
    """
    paths = dict.fromkeys(path for engine in ENGINES.values() for path in engine.fact_paths)
    answers = get_all(url, headers, list(paths), secrets)
    return next((engine for engine in ENGINES.values() if engine.recognises(answers)), None)


def endpoint_of(name: ArmName, arm: Arm, served: ServedEndpoint, engine: EngineSupport) -> Endpoint:
    """What the endpoint of one arm says of itself, and for the rest what the scenario declares.

    Args:
        name: Which arm.
        arm: What the scenario says of it.
        served: Where it is and which model is asked for.
        engine: Whose file knows what the answers mean.
    """
    answers = about(get_all(served.url, served.headers, engine.fact_paths, served.secrets), served.model)
    read = {"model": served.model, "proxy": proxy_name(served.url) or "none", **engine.facts(answers)}
    if engine.recognises(answers):
        read["engine"] = engine.name
    tokenizer = _tokenizer(served, engine)
    if tokenizer is not None:
        read["tokenizer"] = tokenizer
    declared = {name: served.secrets.out_of(value) for name, value in arm.declare.items()}
    facts, sources = with_sources({name: _kept(value) for name, value in read.items()}, {"engine": engine.name, **declared})
    return Endpoint(
        arm=name,
        url=served.url,
        model=_kept(served.model),
        engine=engine.name,
        engine_version=facts.get("engine_version"),
        facts=facts,
        sources=sources,
    )


def _unlisted(answer: HttpAnswer, models: list[str]) -> str:
    """Why no model can be chosen, and what to do."""
    if models:
        more = ", ..." if len(models) > 5 else ""
        return f"lists {len(models)} models at {MODELS} ({_few(models, 5)}{more}); name one with --model"
    if answer.status in (401, 403):
        key = "the environment variable with its key (--api-key-env; of an arm: api_key_env)"
        return f"refuses {MODELS} (HTTP {answer.status}); give {key}"
    page = "a web page" if "html" in answer.headers.get("content-type", "") else "no list of models"
    return (
        f"answers {MODELS} with {page} (HTTP {answer.status}); is this the address of the API? If it is, name the model (--model)"
    )


def _few(models: Sequence[str], most: int) -> str:
    return ", ".join(one_line(model, LONGEST_WORD) for model in models[:most])


def _kept(told: str) -> str:
    """What an endpoint said of itself, on one line; of what is very long the beginning, and a fingerprint of the whole."""
    whole = one_line(told)
    return whole if len(whole) <= LONGEST_FACT else f"{whole[:LONGEST_WORD]}… ({len(whole)} characters, {fingerprint(whole)})"


def _tokenizer(served: ServedEndpoint, engine: EngineSupport) -> str | None:
    """The tokenizer by what it does: the number of ids of a fixed text and their fingerprint."""
    if engine.tokenize is None:
        return None
    path, body = engine.tokenize(served.model, PROBE_TEXT)
    with HttpGetter(served.secrets) as getter:
        ids = token_ids(getter.post(served.url + path, served.headers, TIMEOUT_S, body).json())
    return None if ids is None else f"{len(ids)} ids {fingerprint(' '.join(map(str, ids)))}"
