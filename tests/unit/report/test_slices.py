"""Slices of the traffic by name: which may be switched on, which first need their cap confirmed, and how sure that is."""

from dataclasses import replace

from specbench.explain.reader_questions import confirmation, reader_questions
from specbench.explain.verdict import headline
from specbench.model.result import PerArm, Result
from specbench.report.view.report_view import slices
from tests.support.results import reason, slices_with_a_cap


def _real(result: Result) -> Result:
    arms = result.endpoints
    return replace(result, endpoints=PerArm(replace(arms.baseline, engine="vllm"), replace(arms.speculative, engine="vllm")))


def _short(result: Result) -> list[str]:
    return [found.short for found in reader_questions(result)]


def test_a_slice_is_named_by_bin_and_sampling() -> None:
    """Of one bin one sampling may win and another do harm."""
    found = _real(slices_with_a_cap("PROMOTE", "ROLLBACK"))
    assert headline(found) == "Switch speculation on for complete/greedy only"
    assert (
        reader_questions(found)[0].text
        == "It wins for complete/greedy. For the other slices it is not shown to be safe and useful."
    )
    assert (
        reader_questions(found)[1].text == "Eligible: complete/greedy (from 1 to 16 streams). Not: complete/sampled (ROLLBACK)."
    )
    assert [one.name for one in slices(found)] == ["complete/greedy", "complete/sampled"]


def test_the_cap_of_a_slice_is_confirmed_first() -> None:
    """What passed up to a cap is no order to switch on, whether or not other slices passed everywhere."""
    both = _real(slices_with_a_cap("PROMOTE", "CAPPED"))
    assert headline(both) == (
        "Switch speculation on for complete/greedy only; first confirm the cap of 4 streams for complete/sampled"
    )
    enable, traffic = reader_questions(both)[:2]
    assert (enable.short, enable.command) == ("Yes, for some slices", "specbench run code.yaml --profile standard --up-to 4")
    assert enable.text == (
        "It wins for complete/greedy. First confirm the cap of 4 streams for complete/sampled: run the tested loads up to the cap"
        " alone, by the command here, with the same arms. Where that run says PROMOTE for such a slice, switch speculation on for"
        " it up to its cap; else keep it off."
    )
    assert traffic.short == "complete/greedy, complete/sampled once its cap is confirmed"
    assert traffic.text == (
        "Eligible: complete/greedy (from 1 to 16 streams). Once the cap is confirmed: complete/sampled (from 1 to 4 streams)."
        " Not: none."
    )
    capped_only = _real(slices_with_a_cap("CAPPED", "ROLLBACK", cap=1.0))
    assert headline(capped_only) == (
        "Not yet: first confirm the cap of 1 stream for complete/greedy, then switch on up to it and no further, for that traffic"
        " alone"
    )
    assert _short(capped_only)[:2] == [
        "Not yet: first confirm the cap of 1 stream for complete/greedy",
        "complete/greedy once its cap is confirmed",
    ]


def test_slices_of_different_caps_need_a_run_each() -> None:
    """No one command goes up to two caps; equal ones share it."""
    first, second = slices_with_a_cap("CAPPED", "CAPPED"), slices_with_a_cap("CAPPED", "CAPPED", cap=1.0)
    assert confirmation(first) == "specbench run code.yaml --profile standard --up-to 4"
    mixed = replace(first, slices=(first.slices[0], second.slices[1]))
    assert confirmation(mixed) == ""
    assert reader_questions(mixed)[4].short == "A run up to the cap"
    assert reader_questions(mixed)[4].text == (
        "It confirms the cap of 4 streams for complete/greedy; of 1 stream for complete/sampled: one run up to each, 10 pairs a"
        " cell (profile standard); this run had 4 pairs."
    )
    assert reader_questions(first)[4].text.startswith(
        "It confirms the cap of 4 streams for complete/greedy and complete/sampled: one command (above), 10 pairs a cell"
    )


def test_how_sure_is_told_of_the_first_eligible_slice() -> None:
    """A slice that does harm comes first in the plan, and is not the one that may be switched on."""
    found = reader_questions(slices_with_a_cap("ROLLBACK", "PROMOTE"))[3]
    assert found.short == "95 % sure: TPOT p50 below ×0.515, for complete/sampled"
    assert found.text.startswith("At 1 stream of complete/sampled, TPOT p50 was 0.50 times the baseline's")


def test_a_benefit_is_ruled_out_only_where_every_slice_rules_it_out() -> None:
    """One slice without a gain says nothing of another that is open."""
    two = slices_with_a_cap("HOLD", "HOLD")
    none, still_open = (reason("no_benefit", "No gain."),), (reason("insufficient_evidence", "Open."),)
    one = replace(
        _real(two),
        verdict="HOLD",
        reasons=(reason("slices", "No slice."), *none, *still_open),
        slices=(replace(two.slices[0], reasons=none), replace(two.slices[1], reasons=still_open)),
    )
    assert _short(one)[0] == "Not yet"
    assert _short(one)[4] != "Nothing: another draft"
    every = replace(one, slices=tuple(replace(part, reasons=none) for part in one.slices))
    assert _short(every)[0] == "No: no benefit"
    assert _short(every)[4] == "Nothing: another draft"
