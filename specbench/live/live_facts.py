"""What a live endpoint says of itself now, by the names that runs use; None where it does not answer, which is no alarm."""

from specbench.arms.arms import bare_arm
from specbench.credentials import secrets_in
from specbench.errors import SpecbenchError
from specbench.net.urls import base_url
from specbench.telemetry import ENGINES
from specbench.telemetry.endpoint import ServedEndpoint, endpoint_of, recognise, served_model


def live_facts(url: str, headers: dict[str, str], model: str | None = None) -> dict[str, str] | None:
    """The endpoint's facts that it tells itself."""
    secrets = secrets_in(headers.values())
    try:
        at = base_url(url)
        engine = recognise(at, headers, secrets) or ENGINES["openai"]
        served = ServedEndpoint(at, headers, served_model(at, headers, model, secrets=secrets).name, secrets)
        told = endpoint_of("speculative", bare_arm(engine.name, url, served.model, headers), served, engine)
    except SpecbenchError:
        return None
    return {name: value for name, value in told.facts.items() if told.sources.get(name) == "read"}
