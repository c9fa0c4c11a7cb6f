"""Slices of the traffic by name: which may be switched on, which first need their cap confirmed, and how sure that is."""

from dataclasses import replace

from specbench.explain.reader_questions import confirmation, reader_questions
from specbench.explain.verdict import headline
from specbench.model.result import PerArm, Result
from specbench.report.view.report_view import slices
from tests.support.goldens import same_text
from tests.support.results import reason, slices_with_a_cap


def _real(result: Result) -> Result:
    arms = result.endpoints
    return replace(result, endpoints=PerArm(replace(arms.baseline, engine="vllm"), replace(arms.speculative, engine="vllm")))


def _short(result: Result) -> list[str]:
    return [found.short for found in reader_questions(result)]


def test_a_slice_is_named_by_bin_and_sampling() -> None:
    """Of one bin one sampling may win and another do harm."""
    found = _real(slices_with_a_cap("PROMOTE", "ROLLBACK"))
    same_text("one slice: headline", headline(found))
    same_text("one slice", reader_questions(found)[0].text)
    same_text("one slice: traffic", reader_questions(found)[1].text)
    assert [one.name for one in slices(found)] == ["complete/greedy", "complete/sampled"]


def test_the_cap_of_a_slice_is_confirmed_first() -> None:
    """What passed up to a cap is no order to switch on, whether or not other slices passed everywhere."""
    both = _real(slices_with_a_cap("PROMOTE", "CAPPED"))
    same_text("two slices: headline", headline(both))
    enable, traffic = reader_questions(both)[:2]
    assert enable.command == "specbench run code.yaml --profile standard --up-to 4"
    same_text("two slices", enable.short, enable.text)
    same_text("two slices: traffic, short", traffic.short)
    same_text("two slices: traffic", traffic.text)
    capped_only = _real(slices_with_a_cap("CAPPED", "ROLLBACK", cap=1.0))
    same_text("a cap alone: headline", headline(capped_only))
    same_text("a cap alone", *_short(capped_only)[:2])


def test_slices_of_different_caps_need_a_run_each() -> None:
    """No one command goes up to two caps; equal ones share it."""
    first, second = slices_with_a_cap("CAPPED", "CAPPED"), slices_with_a_cap("CAPPED", "CAPPED", cap=1.0)
    assert confirmation(first) == "specbench run code.yaml --profile standard --up-to 4"
    mixed = replace(first, slices=(first.slices[0], second.slices[1]))
    assert confirmation(mixed) == ""
    same_text("two caps: surer, short", reader_questions(mixed)[4].short)
    same_text("two caps: surer", reader_questions(mixed)[4].text)
    same_text("one cap: surer", reader_questions(first)[4].text)


def test_how_sure_is_told_of_the_first_eligible_slice() -> None:
    """A slice that does harm comes first in the plan, and is not the one that may be switched on."""
    found = reader_questions(slices_with_a_cap("ROLLBACK", "PROMOTE"))[3]
    same_text("sure, short", found.short)
    same_text("sure", found.text)


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
    every = replace(one, slices=tuple(replace(part, reasons=none) for part in one.slices))
    same_text("one open slice", _short(one)[0])
    assert _short(one)[4] != _short(every)[4]
    same_text("ruled out everywhere", _short(every)[0])
    same_text("ruled out: surer", _short(every)[4])
