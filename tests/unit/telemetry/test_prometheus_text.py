"""Prometheus text becomes finite values by stem and labels, whatever else stands in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics

from specbench.telemetry.prometheus_text import parse


def test_a_counter_has_one_name_with_and_without_total() -> None:
    """M-02: `_total`, a bare counter, OpenMetrics and untyped text give the same stem and the same value."""
    texts = (
        '# TYPE vllm:spec_decode_num_drafts_total counter\nvllm:spec_decode_num_drafts_total{engine="0"} 80.0\n',
        '# TYPE vllm:spec_decode_num_drafts counter\nvllm:spec_decode_num_drafts{engine="0"} 80.0\n',
        '# TYPE vllm:spec_decode_num_drafts counter\nvllm:spec_decode_num_drafts_total{engine="0"} 80.0\n# EOF\n',
        'vllm:spec_decode_num_drafts_total{engine="0"} 80.0\n',
        'vllm:spec_decode_num_drafts{engine="0"} 80\n',
    )

    assert [parse(text).values for text in texts] == [{("vllm:spec_decode_num_drafts", (("engine", "0"),)): 80.0}] * 5


def test_a_creation_time_is_never_data() -> None:
    """M-02: `_created` is kept apart, in both formats."""
    text = 'x_total{engine="0"} 80.0\nx_created{engine="0"} 1.7567367987e+09\n'
    openmetrics = '# TYPE x counter\nx_total{engine="0"} 80.0\nx_created{engine="0"} 1.7567367987e+09\n# EOF\n'

    for parsed in (parse(text), parse(openmetrics)):
        assert parsed.values == {("x", (("engine", "0"),)): 80.0}
        assert list(parsed.created.values()) == [1.7567367987e9]


def test_a_histogram_that_ends_in_total_keeps_its_name() -> None:
    """vLLM's `iteration_tokens_total` is a histogram: its samples are not those of a counter `iteration_tokens`."""
    text = (
        "# TYPE vllm:iteration_tokens_total histogram\nvllm:iteration_tokens_total_sum 7\nvllm:iteration_tokens_total_count 2\n"
    )

    assert parse(text).values == {("vllm:iteration_tokens_total_sum", ()): 7.0, ("vllm:iteration_tokens_total_count", ()): 2.0}


def test_a_sample_that_is_no_number_costs_itself_alone() -> None:
    """M-04: NaN and infinities are set aside one by one; `le="+Inf"` is a label, not a value."""
    parsed = parse(
        "# TYPE sglang:fwd_occupancy gauge\nsglang:fwd_occupancy NaN\n# TYPE some_gauge gauge\nsome_gauge -Inf\n"
        '# TYPE wait histogram\nwait_bucket{le="+Inf"} 3\n# TYPE good counter\ngood_total 5\n'
    )

    assert parsed.values == {("wait_bucket", (("le", "+Inf"),)): 3.0, ("good", ()): 5.0}
    assert parsed.not_finite == {("sglang:fwd_occupancy", ()), ("some_gauge", ())}


def test_labels_hold_spaces_braces_and_quotes_and_lines_hold_timestamps() -> None:
    """M-07: 80 with the label intact, not 0 and not the timestamp."""
    parsed = parse(r'vllm:spec_decode_num_drafts_total{engine="0",model_name="my \"big\" model {v1}, x"} 80 1756736798123')

    assert parsed.values == {("vllm:spec_decode_num_drafts", (("engine", "0"), ("model_name", 'my "big" model {v1}, x'))): 80.0}


def test_a_broken_line_costs_itself_alone() -> None:
    """A line that no parser takes is counted, and the others are read, with their types."""
    parsed = parse('# TYPE a counter\na_total 1\nb{x="1} 3\nbad-name 4\n# TYPE c\nc 5\n# TYPE d histogram\nd_count 6\n')

    assert parsed.values == {("a", ()): 1.0, ("c", ()): 5.0, ("d_count", ()): 6.0}
    assert parsed.unreadable == 2
    assert parsed.monotone == {("a", ()), ("d_count", ())}


def test_an_exemplar_is_not_a_value() -> None:
    """OpenMetrics exemplars leave the sample as it is."""
    parsed = parse('# TYPE x histogram\nx_bucket{le="+Inf"} 3 # {trace_id="a"} 0.5\nx_sum 1\nx_count 3\n# EOF\n')

    assert parsed.values[("x_bucket", (("le", "+Inf"),))] == 3.0


def test_gauges_may_fall_and_counters_may_not() -> None:
    """Only counters and counts are taken for what a restart alone can lower."""
    parsed = parse("# TYPE g gauge\ng 1\n# TYPE c counter\nc_total 1\n# TYPE s summary\ns_sum 1\ns_count 1\nu_total 1\nu 1\n")

    assert {stem for stem, _ in parsed.monotone} == {"c", "s_count", "u"}


@given(
    st.dictionaries(st.text(min_size=1, max_size=20), st.floats(min_value=0, max_value=1e12), max_size=6),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_what_a_client_library_writes_is_read_back(counts: dict[str, float], level: float) -> None:
    """Any label text and any value that prometheus-client exposes comes back the same, in both formats."""
    registry = CollectorRegistry()
    counter = Counter("drafts", "drafts", ["model"], registry=registry)
    for model, value in counts.items():
        counter.labels(model).inc(value)
    Gauge("level", "level", registry=registry).set(level)
    expected = {("drafts", (("model", model),)): value for model, value in counts.items()} | {("level", ()): level}

    assert parse(generate_latest(registry).decode()).values == expected
    assert parse(generate_openmetrics(registry).decode()).values == expected  # type: ignore[no-untyped-call]


LINES = st.lists(
    st.one_of(
        st.text(alphabet='ab_:{}"\\\\=, #0123.eE+-NaInf\t', max_size=30),
        st.sampled_from(
            ["# TYPE a counter", "# TYPE a histogram", "# HELP a x", "# UNIT a s", 'a_bucket{le="1"} 2', "a_total 1", "a 1"]
        ),
    ),
    max_size=8,
).map("\n".join)


@given(st.one_of(st.text(max_size=100), LINES))
def test_no_text_makes_the_parser_fail(text: str) -> None:
    """Whatever a misrouted URL answers, parsing ends in an exposition."""
    parse(text)
    parse(text + "\n# EOF\n")


@pytest.mark.parametrize(
    "behind", ["a_total 9\n", "not a sample {\n", "# TYPE a counter\na_total 7\n# EOF\n", "<html>proxy</html>"]
)
def test_what_stands_behind_the_end_mark_is_not_read(behind: str) -> None:
    """A second page, a proxy's remark or half a line: the page ended before."""
    page = parse("# TYPE a counter\na_total 3\n# EOF\n" + behind)

    assert (page.values, page.unreadable) == ({("a", ()): 3.0}, 0)


def test_an_end_mark_is_a_line_of_its_own() -> None:
    """Within a help text, or with more behind it, it ends nothing; spaces behind it do not hide it."""
    assert parse("# HELP a ends with # EOF here\na 3\nb 4\n").values == {("a", ()): 3.0, ("b", ()): 4.0}
    assert parse("a 3\n# EOFF\nb 4\n").values == {("a", ()): 3.0, ("b", ()): 4.0}
    assert parse("a 3\n# EOF \r\nb 4\n").values == {("a", ()): 3.0}
