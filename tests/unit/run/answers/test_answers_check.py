"""The check of answers alone: what it changes in the arms, as nothing is timed."""

from specbench.run.answers.answers_check import untimed
from tests.support.scenarios import code


def test_an_embedded_engine_serves_ten_times_as_fast() -> None:
    """Unless the scenario says how fast; whoever brings an endpoint keeps it as it is."""
    own = code(("arms.baseline.options.times_as_fast", "2")).baseline
    served = code(("arms.baseline.url", "http://127.0.0.1:8000"), ("arms.speculative.url", "http://127.0.0.1:8001")).baseline

    assert untimed(code().baseline).options == {"times_as_fast": 10}
    assert untimed(own).options == {"times_as_fast": 2}
    assert untimed(served) == served
