"""A run that was refused shows on the terminal what differs between its arms, and what each difference means."""

from dataclasses import replace

from specbench.model.judged import EndpointInfo, PerArm
from specbench.report.side_by_side import side_by_side
from specbench.report.text import text
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
    """What must be equal and is not comes first; then what the treatment brings, what nobody knows, and what is equal."""
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

    assert side_by_side(replace(invalid(), cells=(), endpoints=arms)) == [
        "The arms side by side",
        "                          baseline                    speculative",
        "  must be equal, and is not:",
        "    context length        8192                        4096",
        "    prefix caching        on                          off",
        "  comes with the change under test, or is weighed by the verdict; shown only:",
        "    URL                   http://gpu1:8000            http://inference-gateway.e",
        "                                                      xample.internal:8000",
        "    speculation           off                         on",
        "    speculation config    not told                    eagle3, 4 tokens",
        "  not told by at least one arm and not declared, so not compared:",
        "    revision, tokenizer, KV cache format, chat template, sampling defaults",
        "  equal:",
        "    model, quantization, engine, engine version",
    ]


def test_the_table_is_for_refused_runs_alone() -> None:
    """Equal arms need none, and the page of a measured run has its own."""
    unequal = PerArm(endpoint("http://a"), endpoint("http://b", context_length="1"))

    assert side_by_side(replace(invalid(), cells=(), endpoints=PerArm(endpoint("http://a"), endpoint("http://b")))) == []
    assert side_by_side(replace(promote(), endpoints=unequal)) == []
    assert "The arms side by side" in text(replace(invalid(), cells=(), endpoints=unequal))
