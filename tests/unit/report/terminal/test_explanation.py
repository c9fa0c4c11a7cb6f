"""A run at length: every reason, the questions with their answers, and the arithmetic of one finding."""

from dataclasses import replace
from pathlib import Path

import pytest

from specbench.errors import DataError
from specbench.explain.check_counts import cap_checks
from specbench.model.result import PerArm, Result
from specbench.report import read_result
from specbench.report.terminal.explanation import as_document, explanation, finding_text, reasons_of
from specbench.report.terminal.screen import Screen
from tests.support.goldens import same_text
from tests.support.results import capped, every_verdict, hostile, invalid, sliced

SCREEN = Screen()


@pytest.mark.parametrize("result", [*every_verdict().values(), sliced(), hostile()], ids=lambda found: found.verdict)
def test_every_reason_and_note_is_there_in_full(result: Result) -> None:
    """Wrapped at 80 columns, fit for a terminal."""
    said = explanation(result, SCREEN)
    joined = " ".join(said.split())

    assert said.startswith(f"{result.verdict}  ")
    assert max(map(len, said.splitlines())) <= 80
    assert all(character.isprintable() or character == "\n" for character in said)
    if result.run.name == "code":
        assert all(one.message in joined for one in result.reasons)
        assert all(note in joined for note in result.notes)


def test_the_six_questions_have_their_answers() -> None:
    """Each with the command that acts on it, where there is one."""
    said = explanation(capped(), SCREEN)

    assert said.count("? ") >= 6
    assert "      specbench run code.yaml --profile standard --up-to 4\n" in said
    assert f"  - {cap_checks(capped())[0][1][0]}" in said


def test_a_refused_run_shows_its_arms_side_by_side() -> None:
    """What differs, and what was not compared."""
    arms = invalid().endpoints
    short, long = ({"context_length": length} for length in ("4096", "8192"))
    unequal = PerArm(replace(arms.baseline, facts=long), replace(arms.speculative, facts=short))

    assert "4096" in explanation(replace(invalid(), endpoints=unequal), SCREEN)


def test_the_arithmetic_of_one_finding() -> None:
    """Values, ratio, bounds, the limit as asked and as it decided, p before and after Holm."""
    same_text("one finding", finding_text(read_result(Path("reports/example")), "16", "ttft_p50", SCREEN))


@pytest.mark.parametrize("load", ["16", "c16", "16 streams", "16 STREAMS".casefold()])
@pytest.mark.parametrize("metric", ["pace_p95", "pace p95", "Pace p95, ms", "PACE P95"])
def test_a_finding_is_named_as_people_name_it(load: str, metric: str) -> None:
    """By the code or by what a report calls it."""
    assert finding_text(capped(), load, metric, SCREEN).startswith("16 streams, pace p95, ms\n")


def test_a_quantity_names_all_of_its_percentiles() -> None:
    """`ttft` is every TTFT there is."""
    assert finding_text(capped(), "1", "itl", SCREEN).count("95 % bounds") == 2


@pytest.mark.parametrize(
    ("load", "metric", "said"), [("7", "pace_p95", "known are c1, c4, c16"), ("16", "paec_p95", "did you mean pace_p95?")]
)
def test_what_is_not_there_names_what_is(load: str, metric: str, said: str) -> None:
    """One line."""
    with pytest.raises(DataError, match=said.replace("?", r"\?")):
        finding_text(capped(), load, metric, SCREEN)


def test_a_code_shows_what_this_run_says_under_it() -> None:
    """Its reasons, checks and findings; nothing where there are none."""
    assert "16 streams the time per token rose" not in reasons_of(capped(), "success", SCREEN)
    assert capped().reasons[0].message.split(";")[0] in " ".join(reasons_of(capped(), "harm_beyond", SCREEN).split())
    assert reasons_of(capped(), "generator_lag", SCREEN)
    assert reasons_of(capped(), "tpot-p95", SCREEN).count("\n  - ") == 4  # a reason, and a finding of each load
    assert reasons_of(capped(), "no such thing", SCREEN) == ""


def test_as_values_it_is_the_same() -> None:
    """For JSON."""
    document = as_document(capped())

    assert (document["verdict"], document["next"]) == ("CAPPED", "specbench run code.yaml --profile standard --up-to 4")
    assert [one["code"] for one in document["reasons"]] == [one.code for one in capped().reasons]
    assert len(document["answers"]) == 6
