"""What a reader of a verdict is told of a dataset, and what `bins` prints of it."""

from dataclasses import replace

from specbench.explain.dataset.dataset_notes import bins_line, census_notes
from specbench.explain.dataset.dataset_words import dataset_lines
from specbench.model.data.dataset_summary import Arrivals, DatasetSummary
from specbench.model.data.datasets import Census
from specbench.model.scenario import Bin
from tests.support.goldens import same_text

PLAIN = Census(
    path="log.jsonl",
    bytes=1_234,
    sha256="0" * 64,
    shapes={"OpenAI request": 93_214, "ShareGPT": 12},
    rows=93_300,
    used=93_000,
    bins={"short": 60_000, "long": 33_000},
    sampled={"short": 5_000, "long": 4_990},
    counted="the endpoint",
    counted_exactly=1_000,
)
ODD = replace(
    PLAIN,
    outside={"below": 3, "above": 4, "between": 5, "output": 6, "label": 7},
    skipped={"empty prompt": 23},
    copies=20_000,
    unsorted=2,
    counted="estimated",
    left=10,
)


def test_a_plain_dataset_has_one_note() -> None:
    """Its shapes, its rows, its bins."""
    assert len(census_notes(PLAIN, 4.0)) == 1
    same_text("plain", *census_notes(PLAIN, 4.0), bins_line(PLAIN))


def test_what_is_odd_is_a_note_each() -> None:
    """Outside, skipped, copies, order, estimates, rows that left; then texts that are copied or made up."""
    same_text("odd", *census_notes(ODD, 4.0))
    assert len(census_notes(ODD, 4.0)) == 7
    same_text("copied text", census_notes(PLAIN, 107.0)[1])
    same_text("made-up text", census_notes(replace(PLAIN, made_up=9), 107.0)[1])
    assert all(
        census_notes(census, 107.0)[1].startswith("unrepresentative_prompts: ") for census in (PLAIN, replace(PLAIN, made_up=9))
    )


def test_few_copies_are_no_note() -> None:
    """One in twenty of what is used, or fewer."""
    assert len(census_notes(replace(PLAIN, copies=4_650), 4.0)) == 1


def test_the_figures_of_a_dataset_are_a_line_each() -> None:
    """Lengths, labels, beginnings and times."""
    summary = DatasetSummary(
        census=PLAIN,
        bins=(Bin(name="all", input_tokens=(8, 90), output_tokens=(32, 256), weight=1.0),),
        input_tokens={"p1": 8, "p50": 40, "p99": 90},
        output_tokens={"p50": 1_200},
        labels={"code": 0.6, "chat": 0.4},
        same_beginning=0.8,
        arrivals=Arrivals(span_s=3_600.0, rate_per_s=2.5, dispersion=3.25),
        output_measured=True,
    )
    same_text("figures", *dataset_lines(summary))
    bare = replace(summary, output_tokens=None, labels={}, same_beginning=0.05, arrivals=None, output_measured=False)
    same_text("without answers, labels and times", *dataset_lines(bare))
