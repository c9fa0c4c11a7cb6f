"""docs/engines.md says of each engine what its reader gives, no more and no less."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from specbench.model.facts import FACTS
from specbench.model.records import SpeculationCounts, Telemetry
from specbench.telemetry import ENGINES, telemetry_of
from specbench.telemetry.metrics_pages import Scrape
from tests.support.scrapes import answer, recorded, scrape_of

DOCS = Path("docs/engines.md").read_text()
HEADING = "| quantity |"


def rows(heading: str) -> list[list[str]]:
    """The cells of the table that begins so, its head included and its rule left out."""
    table = DOCS[DOCS.index(heading) :].split("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table if line.startswith("|")]
    return [cells[0], *cells[2:]]


def block(engine: str) -> tuple[Scrape, Scrape, Scrape]:
    """A block in which everything happened that this engine can tell of: before, within and after."""
    if engine == "openai":
        return scrape_of(), scrape_of(second=1), scrape_of(second=2)
    if engine == "vllm":
        text = recorded("vllm-ngram-metrics.txt")
        start = next(line for line in text.splitlines() if line.startswith("process_start_time_seconds "))
        return scrape_of(start), scrape_of(text, second=1), scrape_of(text, second=2)
    if engine == "llamacpp":
        page, slots = recorded("llamacpp-ngram-metrics.txt"), recorded("llamacpp-ngram-slots.txt")
        busy = answer(slots.replace('"is_processing":false', '"is_processing":true'), "http://engine:8000/slots")
        return scrape_of(""), scrape_of(page, busy, second=1), scrape_of(page, second=2)
    if engine == "trtllm":
        ends = [recorded(f"trtllm-prometheus-{end}.txt") for end in ("before", "before", "after")]
        lists = [recorded(f"trtllm-iterations-{end}.json") for end in ("before", "during", "after")]
        times = "trtllm_time_to_first_token_seconds_sum 1\ntrtllm_time_to_first_token_seconds_count 1\n"
        times += times.replace("time_to_first_token", "time_per_output_token")
        url = "http://engine:8000/prometheus/metrics"
        whole = [answer(text + (times if place == 2 else ""), url) for place, text in enumerate(ends)]
        scrapes = [scrape_of(list_, page, second=place) for place, (list_, page) in enumerate(zip(lists, whole, strict=True))]
        return scrapes[0], scrapes[1], scrapes[2]
    before, after = recorded(f"{engine}-before.txt"), recorded(f"{engine}-after.txt")
    gauges = Path(f"tests/golden/metrics/{engine}-during.txt")
    load = "lmdeploy:num_requests_running 1\nlmdeploy:num_requests_waiting 0\n" if engine == "lmdeploy" else gauges.read_text()
    extra = ""
    if engine == "lmdeploy":
        names = ("time_to_first_token_seconds", "iter_token_latency")
        extra = "".join(f"lmdeploy:{name}_sum 1\nlmdeploy:{name}_count 1\n" for name in names)
    return scrape_of(before), scrape_of(before + load, second=1), scrape_of(after + extra, second=2)


def value_of(telemetry: Telemetry, quantity: str) -> object:
    """The value of a quantity or of a part of the acceptance."""
    name, _, part = quantity.partition(".")
    whole = getattr(telemetry, name)
    return getattr(whole, part) if part and whole is not None else whole


@pytest.mark.parametrize("engine", ENGINES)
def test_the_table_of_quantities_is_what_the_reader_gives(engine: str) -> None:
    """A tick where the golden pages give a value, a dash where there is none and a reason instead."""
    head, *lines = rows(HEADING)
    before, within, after = block(engine)
    telemetry = telemetry_of(before, [within], after, ENGINES[engine])
    documented = {line[0]: line[head.index(engine)] for line in lines}
    given = {quantity: "–" if value_of(telemetry, quantity) is None else "✓" for quantity in documented}

    assert documented == given


def test_the_table_has_every_quantity_and_every_engine() -> None:
    """Nothing that is read is left out of the page."""
    head, *lines = rows(HEADING)
    parts = {f"acceptance.{part.name}" for part in fields(SpeculationCounts)}
    quantities = {one.name for one in fields(Telemetry)} - {"acceptance", "restarts", "reset", "absent"}

    assert head[1:] == list(ENGINES)
    assert {line[0] for line in lines} == quantities | parts


def test_every_fact_is_documented() -> None:
    """Each name that `declare` and the table of facts use."""
    documented = {name for line in rows("| fact |")[1:] for name in line[0].split(", ")}

    assert documented == set(FACTS)
    refusing = {name for line in rows("| fact |")[1:] if line[1] == "refuses" for name in line[0].split(", ")}
    assert refusing == {name for name, (kind, _) in FACTS.items() if kind == "must_equal"}


def test_every_reason_is_documented() -> None:
    """The word before the colon of each reason in the code stands in the table of reasons."""
    code = "".join(path.read_text() for path in Path("specbench/telemetry").glob("*.py"))
    used = set(re.findall(r'"((?:not|no|counter|mixed|unreachable|inconsistent|broken)(?:_[a-z_]+)?): ', code))
    documented = {word.strip("`") for line in rows("| reason begins with |")[1:] for word in line[0].split(", ")}

    assert len(used) >= 9
    assert used <= documented
