"""Asks an endpoint, before any load, who it is and what it says of itself.

What the answers mean is known by each engine's file; whether two endpoints may be compared is for `fair.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specbench.model.asked import Arm, ArmName
from specbench.model.seen import Endpoint
from specbench.telemetry import ENGINES
from specbench.telemetry.engine import Engine
from specbench.telemetry.facts import about, fingerprint, token_ids, with_sources
from specbench.telemetry.fetch import Getter, proxy_name
from specbench.telemetry.pages import Answer, Answers

TIMEOUT_S = 5.0
# Accents, another script, digits, code, white space and an emoji: vocabularies and their normalisation part ways on these.
PROBE_TEXT = "Tokens: naïve café, 今日は世界, 12345 == x[i] += 1;\n\t  def f():\n🙂 end"


@dataclass(frozen=True, slots=True)
class Served:
    """Where a model is served: the base URL without `/v1`, the headers that requests carry, and the model to ask for."""

    url: str
    headers: Mapping[str, str]
    model: str


def ask(url: str, headers: Mapping[str, str], paths: Sequence[str]) -> Answers:
    """What each of these paths answers, by path; the ones after a refused connection are not asked and left out."""
    answers: dict[str, Answer] = {}
    with Getter() as getter:
        for path in paths:
            answers[path] = getter.get(url + path, headers, TIMEOUT_S)
            if not answers[path].connected:
                break
    return answers


def recognise(url: str, headers: Mapping[str, str]) -> Engine | None:
    """The engine that serves `url` (without `/v1`), told by its answers; None where nothing answers as an engine does.

    Order: the table's, so that a plain OpenAI endpoint is what is left when no engine knows itself.
    """
    paths = dict.fromkeys(path for engine in ENGINES.values() for path in engine.fact_paths)
    answers = ask(url, headers, list(paths))
    return next((engine for engine in ENGINES.values() if engine.recognises(answers)), None)


def endpoint_of(name: ArmName, arm: Arm, served: Served, engine: Engine) -> Endpoint:
    """What the endpoint of one arm says of itself, and for the rest what the scenario declares.

    Args:
        name: Which arm.
        arm: What the scenario says of it.
        served: Where it is and which model is asked for.
        engine: Whose file knows what the answers mean.
    """
    answers = about(ask(served.url, served.headers, engine.fact_paths), served.model)
    read = {"model": served.model, "proxy": proxy_name(served.url) or "none", **engine.facts(answers)}
    if engine.recognises(answers):
        read["engine"] = engine.name
    tokenizer = _tokenizer(served, engine)
    if tokenizer is not None:
        read["tokenizer"] = tokenizer
    facts, sources = with_sources(read, {"engine": engine.name, **arm.declare})
    return Endpoint(
        arm=name,
        url=served.url,
        model=served.model,
        engine=engine.name,
        engine_version=facts.get("engine_version"),
        facts=facts,
        sources=sources,
    )


def _tokenizer(served: Served, engine: Engine) -> str | None:
    """The tokenizer by what it does: the number of ids of a fixed text and their fingerprint."""
    if engine.tokenize is None:
        return None
    path, body = engine.tokenize(served.model, PROBE_TEXT)
    with Getter() as getter:
        ids = token_ids(getter.post(served.url + path, served.headers, TIMEOUT_S, body).json())
    return None if ids is None else f"{len(ids)} ids {fingerprint(' '.join(map(str, ids)))}"
