"""Metrics text: read back by the client library's own parsers, stable in its labels, quiet about what is not known."""

import math

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus_text

from specbench.model.result import Result
from specbench.report.formats.prometheus import gitlab, prometheus
from tests.support.results import capped, every_verdict, hold, hostile, invalid, large, sliced, twice_judged

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def _samples(text: bytes, parser: object = prometheus_text) -> Samples:
    assert callable(parser)
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in parser(text.decode())
        for sample in family.samples
    }


def _of(samples: Samples, name: str, **labels: str) -> float:
    found = [value for (sample, told), value in samples.items() if sample == name and labels.items() <= dict(told).items()]
    assert len(found) == 1
    return found[0]


KINDS = [*every_verdict().values(), sliced(), hostile(), large(24), twice_judged()]


@pytest.mark.parametrize("result", KINDS, ids=lambda found: found.verdict)
def test_both_texts_are_read_back_by_their_parsers(result: Result) -> None:
    """Every verdict, and names with quotes and brackets, parse; no sample is NaN or infinite, none comes twice."""
    text, metrics = prometheus(result), gitlab(result)
    for parsed, raw in ((_samples(text), text), (_samples(metrics, openmetrics), metrics)):
        lines = [line for line in raw.decode().splitlines() if not line.startswith("#")]
        assert len(parsed) == len(lines)
        assert all(math.isfinite(value) for value in parsed.values())


def test_the_verdict_is_one_state_of_five() -> None:
    """Exactly one state is 1, so an alert may ask for it; the time says how old it is."""
    samples = _samples(prometheus(capped()))
    states = {dict(told)["specbench_verdict"]: value for (name, told), value in samples.items() if name == "specbench_verdict"}
    assert states == {"PROMOTE": 0.0, "CAPPED": 1.0, "HOLD": 0.0, "ROLLBACK": 0.0, "INVALID": 0.0}
    assert _of(samples, "specbench_exit_code") == 11
    assert _of(samples, "specbench_enabled_up_to", by="concurrency") == 4
    assert _of(samples, "specbench_run_timestamp_seconds") == 1735787138


def test_figures_are_labelled_by_cell_and_metric() -> None:
    """Ratio and ends, values of both arms, acceptance and state of a finding."""
    samples = _samples(prometheus(capped()))
    assert _of(samples, "specbench_ratio", cell="c16", metric="tpot_p95", bound="point") == 1.31
    assert _of(samples, "specbench_value", cell="c1", metric="ttft_p95", arm="baseline", unit="ms") == 50.0
    assert _of(samples, "specbench_acceptance_length", cell="c4") == 3.4
    assert _of(samples, "specbench_finding", cell="c16", metric="tpot_p95", specbench_finding="FAIL") == 1
    assert _of(samples, "specbench_run_info", id="20250102-030405-code", engine="embedded") == 1


def test_two_guardrails_on_one_metric_are_two_series() -> None:
    """Role and number tell them apart."""
    samples = _samples(prometheus(twice_judged()))
    assert _of(samples, "specbench_finding", metric="tpot_p50", role="success", specbench_finding="PASS") == 1
    assert _of(samples, "specbench_finding", metric="tpot_p50", role="guardrail", specbench_finding="FAIL") == 1
    for number, state in (("1", "PASS"), ("2", "INCONCLUSIVE")):
        assert _of(samples, "specbench_finding", metric="ttft_p95", number=number, specbench_finding=state) == 1
    for number, state in (("1", "FAIL"), ("2", "PASS")):
        assert _of(samples, "specbench_finding", cell="", metric="error_rate", number=number, specbench_finding=state) == 1


def test_what_is_not_known_is_no_sample() -> None:
    """A metric without a figure is absent, never 0; a run without cells has a verdict and no ratios."""
    samples = _samples(prometheus(hold()))
    assert not [
        told for (name, told) in samples if name == "specbench_ratio" and {("cell", "c4"), ("metric", "ttft_p95")} <= told
    ]
    assert not [name for (name, _) in _samples(prometheus(invalid())) if name == "specbench_ratio"]


def test_gitlab_gets_rounded_values_and_no_time() -> None:
    """GitLab compares values as text between pipelines, so only what matters may differ."""
    text = gitlab(capped()).decode()
    assert text.endswith("# EOF\n")
    assert 'specbench_ratio{bound="point",cell="c16",metric="e2e_p95",run="code"} 1.28\n' in text
    assert "timestamp" not in text
