"""A cache that one arm alone has shows in the first tokens of prompts that come again."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from specbench.analysis.integrity.repeated_prompts import cached_alike, has_cache
from specbench.analysis.judge import judge
from specbench.explain.verdict import refused
from specbench.model.facts import RepeatedPrompt
from specbench.model.scenario import ArmName
from specbench.units import ns_of_ms
from tests.support.evidence import ONE_CELL, Effect, evidence
from tests.support.goldens import same_text

KEPT = [(50, 12)] * 6
FRESH = [(50, 48), (50, 53), (50, 40)]


def times(arm: ArmName, *pairs: tuple[float, float]) -> tuple[RepeatedPrompt, ...]:
    """An arm's times to first token, at first and again, in milliseconds."""
    return tuple(RepeatedPrompt(arm=arm, first_ns=ns_of_ms(first), again_ns=ns_of_ms(again)) for first, again in pairs)


@pytest.mark.parametrize(
    ("pairs", "cache"),
    [
        (KEPT, True),
        ([*KEPT[:5], (50, 49)], True),
        ([*KEPT[:4], (50, 49), (50, 49)], None),
        ([*KEPT[:3], (50, 49), (50, 49), (50, 49)], None),
        ([*KEPT[:2], (50, 49), (50, 49), (50, 49), (50, 49)], False),
        (FRESH, False),
        ([KEPT[0], (50, 49), (50, 49)], False),
        (KEPT[:3], None),  # too few to say that it has one
        (FRESH[:2], None),  # and too few to say that it has none
        ([], None),
        ([(50, 31)] * 6, False),  # 0.62 times as long
        ([(50, 30)] * 6, True),
        ([(8, 4)] * 6, False),  # a few milliseconds are the machine's
    ],
)
def test_an_arm_has_a_cache_where_nearly_all_first_tokens_come_much_sooner(
    pairs: Sequence[tuple[float, float]], cache: bool | None
) -> None:
    """At least 5 of 6, and at most a third where it has none; in between it is open."""
    assert has_cache(times("baseline", *pairs)) is cache


@pytest.mark.parametrize(
    ("baseline", "speculative", "ok"),
    [
        (KEPT, FRESH, False),
        (FRESH, KEPT, False),
        (KEPT, KEPT, True),
        (FRESH, FRESH, True),
        (KEPT, KEPT[:4], None),
        (KEPT, [], None),
    ],
)
def test_a_cache_in_one_arm_alone_is_an_imbalance(
    baseline: Sequence[tuple[float, float]], speculative: Sequence[tuple[float, float]], ok: bool | None
) -> None:
    """In both or in neither is none, and where one arm leaves it open nothing is said."""
    (check,) = cached_alike(ONE_CELL, times("baseline", *baseline) + times("speculative", *speculative))

    assert (check.id, check.cell, check.ok) == ("cache_imbalance", None, ok)


def test_a_cache_that_was_accepted_is_named_and_voids_nothing() -> None:
    """By the name of the fact that says it."""
    agreed = replace(ONE_CELL, accept_differences=("prefix_caching",))
    (check,) = cached_alike(agreed, times("baseline", *KEPT) + times("speculative", *FRESH))

    assert check.ok is True
    same_text("accepted", check.message)


def test_a_run_of_an_older_version_has_no_such_check() -> None:
    """Nothing was asked twice."""
    assert cached_alike(ONE_CELL, ()) == ()


def test_an_imbalance_is_the_reason_of_a_run_that_was_refused_for_it() -> None:
    """By its own code, with no cell."""
    found = evidence(Effect(), ONE_CELL, requests=5)
    repeated = times("baseline", *KEPT) + times("speculative", *FRESH)
    (check,) = cached_alike(ONE_CELL, repeated)
    manifest = replace(found.manifest, repeated=repeated)
    result = judge(replace(found, manifest=manifest, blocks=(), records=(), problems=(check.message,)), "0")

    assert (result.verdict, result.cells) == ("INVALID", ())
    assert [reason.code for reason in result.reasons] == ["cache_imbalance"]
    assert [reason.code for reason in refused(["another"], [check])] == ["refused"]
    same_text("refused", result.reasons[0].message)
