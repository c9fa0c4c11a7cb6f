"""Pages are fetched from the right URLs with the right keys, beside the load and when the engine is idle."""

import time
from dataclasses import replace
from typing import Any

import pytest

from specbench.errors import ScenarioError
from specbench.model.scenario import Arm
from specbench.telemetry import ENGINES, telemetry_of
from specbench.telemetry.scrape import MetricsSource, Sampler, metrics_source, scrape, scrape_idle
from tests.support.answering import Table, answering
from tests.support.evidence import an_arm
from tests.support.scrapes import recorded

API = "http://gpu:8000"
KEY = {"Authorization": "Bearer api-key", "X-Team": "a"}


def arm(metrics_url: str | None = None, **options: Any) -> Arm:
    """An arm with what matters here."""
    return replace(an_arm(API), metrics_url=metrics_url, options=options)


@pytest.mark.parametrize(
    ("engine", "metrics_url", "urls"),
    [
        ("vllm", None, ["http://gpu:8000/metrics"]),
        ("vllm", "http://gpu:9000", ["http://gpu:9000/metrics"]),
        ("vllm", "http://gpu:9000/v1/", ["http://gpu:9000/metrics"]),
        ("vllm", "http://gateway/team-a/v1", ["http://gateway/team-a/metrics"]),
        ("vllm", "http://a:1/metrics, http://b:2/metrics", ["http://a:1/metrics", "http://b:2/metrics"]),
        ("vllm", "http://gateway/worker-3/prom", ["http://gateway/worker-3/prom"]),
        ("vllm", "http://gateway/worker-3/metrics", ["http://gateway/worker-3/metrics"]),
        ("llamacpp", "http://a:1/metrics", ["http://a:1/metrics", "http://a:1/slots"]),
        ("trtllm", "http://a:1/prometheus/metrics", ["http://a:1/metrics", "http://a:1/prometheus/metrics"]),
        ("openai", None, []),
    ],
)
def test_where_the_pages_are(engine: str, metrics_url: str | None, urls: list[str]) -> None:
    """Beside the API, at a base of their own, at several replicas, or at a path that a gateway made up."""
    assert [url for url, _ in metrics_source(arm(metrics_url), API, {}, ENGINES[engine]).urls] == urls


def test_behind_an_api_with_a_prefix_the_pages_have_it_too() -> None:
    """The prefix is no page of metrics."""
    source = metrics_source(arm(), "http://gateway/team-a", {}, ENGINES["llamacpp"])

    assert [url for url, _ in source.urls] == ["http://gateway/team-a/metrics", "http://gateway/team-a/slots"]


def test_the_key_stays_at_its_own_origin() -> None:
    """M-09: the API's key goes to the same origin only."""
    source = metrics_source(
        arm("http://gpu:8000/metrics,http://gpu:9000/metrics,http://other/metrics"), API, KEY, ENGINES["vllm"]
    )

    assert [headers for _, headers in source.urls] == [KEY, {}, {}]


def test_a_key_of_the_metrics_own_goes_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """M-09: its own setting comes before the API's key."""
    monkeypatch.setenv("METRICS_KEY", "own ")
    source = metrics_source(
        arm(
            "http://gpu:8000,http://other:1",
            metrics_api_key_env="METRICS_KEY",
            gpu_metrics_url="http://node:9400/metrics",
            gpus=[0],
        ),
        API,
        KEY,
        ENGINES["vllm"],
    )

    assert [headers for _, headers in source.urls] == [{**KEY, "Authorization": "Bearer own"}, {"Authorization": "Bearer own"}]
    assert source.gpu_urls == (("http://node:9400/metrics", {"Authorization": "Bearer own"}),)
    assert source.gpus == {"0"}


def test_a_key_that_is_not_set_is_an_error_of_the_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any load, in one line."""
    monkeypatch.delenv("METRICS_KEY", raising=False)

    with pytest.raises(ScenarioError, match=r"options\.metrics_api_key_env: the environment variable METRICS_KEY is not set"):
        metrics_source(arm(metrics_api_key_env="METRICS_KEY"), API, KEY, ENGINES["vllm"])


def test_a_refused_page_does_not_stop_anything() -> None:
    """M-09: 401 without a key, 403 with a wrong one: a reason, and the load goes on."""
    with answering(Table({"/metrics": [(401, "no"), (403, "no")]})) as table:
        source = MetricsSource(urls=((f"{table.url}/metrics", {}),))
        pages = [scrape(source).pages[0], scrape(source).pages[0]]

    assert [(page.absent or "").split(":")[0] for page in pages] == ["http_401", "http_403"]


def test_a_block_is_scraped_at_both_ends_and_within() -> None:
    """Counters from the ends, gauges from the samples; the engine's start header is kept."""
    page, gauge = recorded("llamacpp-base-metrics.txt"), "llamacpp:requests_processing "
    busy = page.replace(gauge + "0", gauge + "3")
    table = Table({"/metrics": [(200, page), (200, busy)]}, headers={"Process-Start-Time-Unix": "111"})
    with answering(table) as served:
        source = MetricsSource(urls=((f"{served.url}/metrics", {}),))
        before = scrape(source)
        with Sampler(source, period_s=0.02) as sampler:
            while sum(path == "/metrics" for path, _, _ in served.asked) < 4:
                time.sleep(0.01)
        after = scrape(source)
    telemetry = telemetry_of(before, sampler.scrapes, after, ENGINES["llamacpp"])

    assert before.pages[0].process == "111"
    assert len(sampler.scrapes) >= 3
    assert [one.at_ns for one in sampler.scrapes] == sorted(one.at_ns for one in sampler.scrapes)
    assert (telemetry.running_mean, telemetry.generated_tokens, telemetry.restarts) == (3.0, 0, 0)


def test_a_sampler_without_urls_does_nothing() -> None:
    """An engine without metrics costs no thread."""
    with Sampler(MetricsSource(urls=())) as sampler:
        pass

    assert sampler.scrapes == ()


def test_the_sampler_stops_when_the_load_fails() -> None:
    """An exception within the block ends the thread and goes on."""
    with answering(Table({"/metrics": (200, "")})) as table:
        sampler = Sampler(MetricsSource(urls=((f"{table.url}/metrics", {}),)), period_s=0.01)
        with pytest.raises(KeyError), sampler:
            raise KeyError
        asked = len(table.asked)
        time.sleep(0.05)

        assert len(table.asked) == asked


def test_the_closing_scrape_waits_for_the_last_request() -> None:
    """Counters that move when a request ends are read when none runs and none waits."""
    pages = [
        (200, f"vllm:num_requests_running {n}\nvllm:num_requests_waiting 0\nvllm:generation_tokens_total {9 - n}\n")
        for n in (2, 1, 0)
    ]
    with answering(Table({"/metrics": pages})) as table:
        last = scrape_idle(MetricsSource(urls=((f"{table.url}/metrics", {}),)), ENGINES["vllm"])

    assert last.pages[0].samples is not None
    assert last.pages[0].samples.values[("vllm:generation_tokens", ())] == 9.0


def test_the_closing_scrape_does_not_wait_for_ever() -> None:
    """Foreign traffic keeps an engine busy; the scrape comes anyway."""
    with answering(Table({"/metrics": (200, "vllm:num_requests_running 2\n")})) as table:
        last = scrape_idle(MetricsSource(urls=((f"{table.url}/metrics", {}),)), ENGINES["vllm"], limit_s=0.15)
        tries = len(table.asked)

    assert last.pages[0].absent is None
    assert tries >= 2


def test_the_closing_scrape_keeps_every_record_that_it_drained() -> None:
    """TensorRT-LLM's page gives each iteration once; waiting must lose none."""
    pages = [(200, '[{"iter": 1, "numActiveRequests": 2, "iterLatencyMS": 5}]'), (200, '[{"iter": 2}]'), (200, "[]")]
    with answering(Table({"/metrics": pages})) as table:
        last = scrape_idle(MetricsSource(urls=((f"{table.url}/metrics", {}),)), ENGINES["trtllm"])

    assert [record["iter"] for record in last.pages[0].records] == [1, 2]


def test_large_pages_beside_the_load_take_a_bounded_time_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of pages that take long every second or tenth is read, evenly; of what is held while the load lasts, half is let go."""
    monkeypatch.setattr("specbench.telemetry.scrape.READING_S", 0.001)
    monkeypatch.setattr("specbench.telemetry.scrape.HELD_BYTES", 600_000)
    page = "".join(f'vllm:s{{i="{number}"}} 1\n' for number in range(2_000))
    with (
        answering(Table({"/metrics": (200, page)})) as served,
        Sampler(MetricsSource(urls=((f"{served.url}/metrics", {}),)), period_s=0.01) as sampler,
    ):
        while sum(path == "/metrics" for path, _, _ in served.asked) < 30:
            time.sleep(0.01)
        held = sum(raw.size for raw in sampler._raw)

    assert held <= 600_000 + 2 * len(page)
    assert 1 <= len(sampler.scrapes) < 10
