"""A run that was refused shows on the terminal what differs between its arms, and what each difference means."""

from dataclasses import replace

from specbench.model.result import PerArm
from specbench.model.run_info import EndpointInfo
from specbench.report.terminal.explanation import explanation
from specbench.report.terminal.screen import Screen
from specbench.report.view.fairness import fairness, side_by_side
from tests.support.goldens import same_text
from tests.support.results import invalid, promote

READ = {"context_length": "8192", "prefix_caching": "on", "speculation": "off", "quantization": "awq"}


def endpoint(url: str, **facts: str) -> EndpointInfo:
    """An endpoint that tells READ but for what is changed."""
    told = READ | facts
    return EndpointInfo(
        url=url,
        model="m",
        engine="vllm",
        engine_version="0.33",
        speculation=None,
        facts=told,
        sources=dict.fromkeys(told, "read"),
    )


def test_the_arms_stand_side_by_side_in_80_columns() -> None:
    """What refuses the run comes first; then what the treatment brings, what nobody knows, and what is equal."""
    arms = PerArm(
        endpoint("http://gpu1:8000"),
        endpoint(
            "http://inference-gateway.example.internal:8000",
            context_length="4096",
            prefix_caching="off",
            speculation="on",
            speculation_config="eagle3, 4 tokens",
        ),
    )

    lines = side_by_side(replace(invalid(), cells=(), endpoints=arms))
    assert max(map(len, lines)) <= 80
    same_text("unequal arms", *lines)


def test_the_table_is_for_refused_runs_alone() -> None:
    """Equal arms need none, and the page of a measured run has its own."""
    unequal = PerArm(endpoint("http://a"), endpoint("http://b", context_length="1"))

    assert side_by_side(replace(invalid(), cells=(), endpoints=PerArm(endpoint("http://a"), endpoint("http://b")))) == []
    assert side_by_side(replace(promote(), endpoints=unequal)) == []
    assert "The arms side by side" in explanation(replace(invalid(), cells=(), endpoints=unequal), Screen())


def test_a_difference_that_was_accepted_is_not_among_those_that_refuse_the_run() -> None:
    """It stands under a heading of its own; where nothing else differs there is no table."""
    arms = PerArm(endpoint("http://a"), endpoint("http://b", context_length="4096", prefix_caching="off"))
    result = replace(invalid(), cells=(), endpoints=arms)
    accepting = replace(result, config=replace(result.config, accept_differences=("prefix_caching",)))
    lines = side_by_side(accepting)

    same_text("one of two differences accepted", *lines)
    every = replace(accepting, config=replace(result.config, accept_differences=("prefix_caching", "context_length")))
    assert side_by_side(every) == []


def test_an_arm_that_tells_nothing_of_its_speculation_is_not_called_off() -> None:
    """Off is what an endpoint says or a scenario declares; the source says which."""
    silent = replace(endpoint("http://a"), facts={}, sources={})
    drafts = replace(silent, speculation="method ngram")
    rows = {
        (row.baseline, row.speculative): row.source
        for arms in (PerArm(silent, drafts), PerArm(endpoint("http://a"), drafts))
        for row in fairness(arms)
        if row.label == "speculation"
    }

    assert rows == {("not reported", "method ngram"): "not declared, given", ("off", "method ngram"): "read, given"}
