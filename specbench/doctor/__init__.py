"""Is this machine's client true, and is this endpoint's stream fit to be measured? A straight script over the parts.

Nothing is decided here: `accuracy_sweep.py` holds the client to an endpoint that knows what it sent, `symptoms.py` reads answers.
"""

from collections.abc import Callable, Mapping

from specbench.doctor.accuracy_sweep import sweep
from specbench.doctor.diagnosis import Diagnosis, as_text
from specbench.doctor.endpoint_check import endpoint_diagnosis
from specbench.doctor.machine import machine_diagnosis, machine_facts
from specbench.model.scenario import Asking


def doctor(
    url: str | None,
    *,
    model: str | None = None,
    engine: str | None = None,
    headers: Mapping[str, str] | None = None,
    asking: Asking | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Diagnosis:
    """What is to be said of this machine, or with a URL of the endpoint there; takes about half a minute, or four answers.

    Args:
        model: the model to ask for; None where the endpoint serves only one.
        engine: the engine's name; None where the endpoint's own answers are to tell.
        headers: what requests carry beside the client's own, a key for example.
        asking: how to ask where not as most endpoints are asked.
        say: told in a line now and then how far it is.

    Raises:
        ScenarioError: there is no engine of that name, or the URL is none.
        UnreachableError: nothing answers at the URL, or the endpoint that knows what it sent did not come up.
        RefusedError: the endpoint lists several models, or none, and none was named.
    """
    if url is None:
        return machine_diagnosis(sweep(say), machine_facts())
    return endpoint_diagnosis(url, model, engine, dict(headers or {}), asking or Asking())


__all__ = ["Diagnosis", "as_text", "doctor"]
