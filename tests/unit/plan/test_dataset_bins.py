"""What `bins` finds out about a dataset: lengths, labels, beginnings, times, and bins that hold it."""

from pathlib import Path

import pytest

from specbench.model.data.datasets import DatasetReading
from specbench.plan.dataset_bins import BinsRequest, summary_of
from tests.support.datasets import WORDS, lines


def test_times_are_a_rate_and_how_much_requests_come_together(tmp_path: Path) -> None:
    """Ten requests at once every tenth second for 100 s: a tenth of the seconds have ten, the others none."""
    path = tmp_path / "burst.csv"
    rows = [f"{second},GPT-4,{20 + number},9" for second in range(0, 101, 10) for number in range(10)]
    path.write_text("\n".join(["Timestamp,Model,Request tokens,Response tokens", *rows]))
    summary = summary_of(BinsRequest(path=path, reading=DatasetReading()), None)

    assert summary.arrivals is not None
    assert summary.arrivals.span_s == 100.0
    assert summary.arrivals.rate_per_s == pytest.approx(1.1)
    assert summary.arrivals.dispersion == pytest.approx(9.0)
    assert (summary.census.made_up, summary.output_measured) == (110, True)


def test_a_beginning_that_many_requests_share_is_found(tmp_path: Path) -> None:
    """Three in four open alike for 256 characters; a shorter text shares nothing."""
    head = "You are a careful assistant. " * 10
    rows = [{"prompt": f"{head} {number}"} for number in range(30)] + [{"prompt": f"{number}"} for number in range(10)]
    summary = summary_of(BinsRequest(path=lines(tmp_path / "d.jsonl", rows), reading=DatasetReading()), WORDS)

    assert summary.same_beginning == pytest.approx(0.75)
    assert summary.input_tokens["p99"] == 51
    assert summary.arrivals is None


def test_the_same_seed_and_content_propose_the_same(tmp_path: Path) -> None:
    """Lines in another order give the same bins, shares and figures; only the file's own digest differs."""
    rows = [{"prompt": " ".join(["word"] * (3 + number % 300)), "task": ("code", "chat")[number % 2]} for number in range(1_000)]
    reading = DatasetReading(label="task")
    one, other = (
        summary_of(BinsRequest(path=lines(tmp_path / name, held), reading=reading), None)
        for name, held in (("a.jsonl", rows), ("b.jsonl", rows[::-1]))
    )

    assert (one.bins, one.input_tokens, one.labels) == (other.bins, other.input_tokens, other.labels)
    assert (one.census.sampled, one.census.sha256 == other.census.sha256) == (other.census.sampled, False)
