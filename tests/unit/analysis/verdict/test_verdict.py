"""How a verdict comes about: each rule on a literal case, then every combination of states that three cells can have."""

from dataclasses import replace
from itertools import product
from typing import get_args

import pytest

from specbench.analysis.verdict.verdict import Verdict, verdict_of
from specbench.model.cell_assessment import CellAssessment, RunConditions, state_of
from specbench.model.result import CellState, Finding, FindingState, VerdictWord
from specbench.model.scenario import ArmName, Role
from tests.support.goldens import same_text
from tests.support.judging import a_check, a_finding, an_assessment

SHOWN = a_finding("PASS", "tpot_p50", role="success")
SAFE = a_finding("PASS", "error_rate", role="safety", cell=None)
LETTERS: dict[str, CellState] = {"P": "PASS", "F": "FAIL", "I": "INCONCLUSIVE", "N": "NODATA", "X": "INVALID", "a": "ADVISORY"}
LEVELS = (1.0, 4.0, 16.0)
RANK: dict[VerdictWord, int] = {"PROMOTE": 3, "CAPPED": 2, "HOLD": 1, "ROLLBACK": 0}


def _cells(letters: str, primary: int, benefit: Finding | None = SHOWN) -> list[CellAssessment]:
    """Cells at 1, 4 and 16 streams in these states; the primary one carries the benefit."""
    return [
        an_assessment(LETTERS[letter], level, primary=place == primary, benefit=benefit if place == primary else None)
        for place, (letter, level) in enumerate(zip(letters, LEVELS, strict=False))
    ]


PLAIN = RunConditions()


def _verdict(
    letters: str, primary: int = 0, benefit: Finding | None = SHOWN, safety: Finding = SAFE, conditions: RunConditions = PLAIN
) -> Verdict:
    return verdict_of(_cells(letters, primary, benefit), [safety], [a_check(cell=None)], conditions)


def _cap(verdict: Verdict) -> float | None:
    return None if verdict.enable_range is None else verdict.enable_range.high


def test_everything_passes_and_the_gain_is_shown() -> None:
    """Rule 3; the range is the whole of what was tested, with nothing beyond it."""
    verdict = _verdict("PPP")

    assert verdict.word == "PROMOTE"
    assert verdict.enable_range is not None
    assert (verdict.enable_range.low, verdict.enable_range.high) == (1.0, 16.0)
    assert verdict.enable_range.beyond is None
    assert [reason.code for reason in verdict.reasons] == ["promote", "benefit"]


@pytest.mark.parametrize(
    ("letters", "primary", "word", "cap", "beyond"),
    [
        # primary at the lowest level: what passes from there upward is the range
        ("PPF", 0, "CAPPED", 4.0, "harm_beyond"),
        ("PPI", 0, "CAPPED", 4.0, "not_shown_beyond"),
        ("PPN", 0, "CAPPED", 4.0, "not_shown_beyond"),
        ("PFP", 0, "CAPPED", 1.0, "harm_beyond"),  # a pass beyond a harm does not count
        ("PIP", 0, "CAPPED", 1.0, "not_shown_beyond"),
        ("PFF", 0, "CAPPED", 1.0, "harm_beyond"),
        ("PIF", 0, "CAPPED", 1.0, "harm_beyond"),
        ("PFI", 0, "CAPPED", 1.0, "harm_beyond"),
        ("PII", 0, "CAPPED", 1.0, "not_shown_beyond"),
        # the primary cell itself did not pass: there is no range
        ("FPP", 0, "ROLLBACK", None, None),
        ("IPP", 0, "HOLD", None, None),
        ("IPF", 0, "ROLLBACK", None, None),
        ("NPP", 0, "HOLD", None, None),
        # primary in the middle: what lies below the range must have passed too, as a cap has no lower end
        ("PPF", 1, "CAPPED", 4.0, "harm_beyond"),
        ("PPI", 1, "CAPPED", 4.0, "not_shown_beyond"),
        ("IPP", 1, "HOLD", None, None),
        ("NPP", 1, "HOLD", None, None),
        ("FPP", 1, "ROLLBACK", None, None),
        ("FPF", 1, "ROLLBACK", None, None),
        ("IPF", 1, "ROLLBACK", None, None),
        ("PFP", 1, "ROLLBACK", None, None),
        ("PIP", 1, "HOLD", None, None),
        # primary at the top
        ("PPP", 2, "PROMOTE", 16.0, None),
        ("IPP", 2, "HOLD", None, None),
        ("PIP", 2, "HOLD", None, None),
        ("PFP", 2, "ROLLBACK", None, None),
        # an optional cell decides nothing, whatever it found
        ("PPa", 0, "PROMOTE", 4.0, None),
        ("PaF", 0, "CAPPED", 1.0, "harm_beyond"),
    ],
)
def test_rules_three_to_six(letters: str, primary: int, word: VerdictWord, cap: float | None, beyond: str | None) -> None:
    """With a proven gain and a safe run, the states of the cells alone decide."""
    verdict = _verdict(letters, primary)

    assert (verdict.word, _cap(verdict)) == (word, cap)
    assert (None if verdict.enable_range is None else verdict.enable_range.beyond) == beyond


@pytest.mark.parametrize(
    ("benefit", "code"),
    [("FAIL", "no_benefit"), ("INCONCLUSIVE", "insufficient_evidence"), ("NODATA", "insufficient_evidence")],
)
def test_without_a_shown_gain_nothing_is_switched_on(benefit: FindingState, code: str) -> None:
    """Rule 6: all guardrails pass, and the reason says whether the gain is excluded or still open."""
    verdict = _verdict("PPP", benefit=a_finding(benefit, "tpot_p50", role="success"))

    assert (verdict.word, verdict.reasons[0].code) == ("HOLD", code)


def test_harm_above_the_range_is_a_rollback_where_no_gain_is_shown() -> None:
    """Rule 5: there is nothing to cap for."""
    assert _verdict("PPF", benefit=a_finding("INCONCLUSIVE", "tpot_p50", role="success")).word == "ROLLBACK"


def test_no_success_finding_at_all_is_a_hold() -> None:
    """A run that never judged its benefit has not shown one."""
    assert _verdict("PPP", benefit=None).word == "HOLD"


def test_safety_comes_first() -> None:
    """Rule 1 beats rule 2: a late client does not excuse failed requests."""
    unsafe = a_finding("FAIL", "error_rate", role="safety", cell=None)

    assert _verdict("XXX", safety=unsafe).word == "ROLLBACK"
    assert _verdict("XXX").word == "INVALID"


def test_a_safety_finding_of_one_cell_rolls_back_too() -> None:
    """Answers of another length, with forced lengths, are found cell by cell."""
    cells = _cells("PPP", 0)
    cells[2] = replace(cells[2], state="FAIL", findings=(a_finding("FAIL", "output_length", role="safety", cell="c16"),))

    verdict = verdict_of(cells, [SAFE], [], RunConditions())

    assert verdict.word == "ROLLBACK"
    assert [reason.metric for reason in verdict.reasons] == [None, "output_length"]


def test_a_dead_speculative_arm_is_a_rollback_and_a_dead_baseline_is_no_judgement() -> None:
    """Whoever is dead decides; both dead is no judgement either, whatever safety says of equal failures."""
    alive = _cells("PPN", 0)

    def ends(*dead: ArmName) -> VerdictWord:
        last = replace(alive[2], dead=dead)
        return verdict_of([*alive[:2], last], [SAFE], [], RunConditions()).word

    assert ends("speculative") == "ROLLBACK"
    assert ends("baseline") == "INVALID"
    assert ends("baseline", "speculative") == "INVALID"


def test_integrity_of_the_run_counts_as_that_of_a_cell() -> None:
    """Unequal arms void every cell."""
    verdict = verdict_of(_cells("PPP", 0), [SAFE], [a_check(False, "arms_equal", cell=None)], RunConditions())

    assert (verdict.word, verdict.reasons[1].code) == ("INVALID", "arms_equal")


def test_a_check_that_cannot_tell_stops_nothing() -> None:
    """What an endpoint does not tell is shown, never refused."""
    cells = [replace(cell, integrity=(a_check(None),)) for cell in _cells("PPP", 0)]

    assert verdict_of(cells, [SAFE], [a_check(None, cell=None)], RunConditions()).word == "PROMOTE"


def test_a_refused_run_is_invalid_with_its_refusals_as_reasons() -> None:
    """Nothing was measured, so there is nothing else to say."""
    verdict = verdict_of([], [], [], RunConditions(refusals=("arms.speculative: does not stream",)))

    assert verdict.word == "INVALID"
    assert [(r.code, r.message) for r in verdict.reasons] == [("refused", "arms.speculative: does not stream.")]


def test_a_run_without_a_required_cell_is_no_judgement() -> None:
    """A verdict of nothing would be a pass by default."""
    assert _verdict("aaa").word == "INVALID"


@pytest.mark.parametrize(("letters", "word"), [("PPP", "HOLD"), ("PPF", "HOLD"), ("FPP", "ROLLBACK"), ("XPP", "INVALID")])
def test_a_partial_run_never_promotes(letters: str, word: VerdictWord) -> None:
    """What was measured may prove harm, but not the absence of it in what was not."""
    verdict = _verdict(letters, conditions=RunConditions(partial=True))

    assert verdict.word == word
    assert word != "HOLD" or verdict.reasons[0].code == "partial"


@pytest.mark.parametrize("letters", ["PPP", "PPF", "FPP"])
def test_two_places_decide_nothing_until_they_are_shown_alike(letters: str) -> None:
    """PROMOTE, CAPPED and the ROLLBACK of rule 5 all wait for the place; safety does not."""
    elsewhere = RunConditions(place_controlled=False)
    verdict = _verdict(letters, conditions=elsewhere)

    assert (verdict.word, verdict.reasons[0].code) == ("HOLD", "place_not_controlled")
    assert _verdict(letters, safety=replace(SAFE, state="FAIL"), conditions=elsewhere).word == "ROLLBACK"


@pytest.mark.parametrize(("letters", "word"), [("PPP", "HOLD"), ("PPF", "HOLD"), ("FPP", "ROLLBACK"), ("XPP", "INVALID")])
def test_made_up_text_never_promotes(letters: str, word: VerdictWord) -> None:
    """Neither whole nor capped; what proves harm, or voids the run, stands."""
    verdict = _verdict(letters, conditions=RunConditions(made_up=(50, 50)))

    assert verdict.word == word
    assert word != "HOLD" or verdict.reasons[0].code == "made_up_text"


@pytest.mark.parametrize(("letters", "word"), [("PPP", "HOLD"), ("PPF", "HOLD"), ("FPP", "ROLLBACK")])
def test_too_few_launches_promote_nothing(letters: str, word: VerdictWord) -> None:
    """Where the launch is the unit, fewer than four per arm are no evidence for switching on."""
    assert _verdict(letters, conditions=RunConditions(enough_launches=False)).word == word


def test_the_cap_is_given_in_streams_and_in_running_requests() -> None:
    """The server sees running requests, the client its streams: both are in the sentence and in the range."""
    verdict = _verdict("PPF")

    assert verdict.enable_range is not None
    assert verdict.enable_range.running_at_cap == 4.0
    same_text("the cap", verdict.reasons[0].message)


def test_rate_cells_form_a_range_of_their_own() -> None:
    """Closed loop all through, open loop up to 2 requests per second: capped by the rate."""
    streams = _cells("PPP", 0)
    rates = [
        an_assessment("PASS", 1.0, id="r1", axis="rate", primary=True),
        an_assessment("PASS", 2.0, id="r2", axis="rate"),
        an_assessment("FAIL", 4.0, id="r4", axis="rate"),
    ]

    verdict = verdict_of([*streams, *rates], [SAFE], [], RunConditions())

    assert verdict.word == "CAPPED"
    assert verdict.enable_range is not None
    assert verdict.rate_range is not None
    assert (verdict.enable_range.high, verdict.rate_range.high) == (16.0, 2.0)
    assert (verdict.enable_range.beyond, verdict.rate_range.beyond) == (None, "harm_beyond")


ALL_STATES: tuple[FindingState, ...] = get_args(FindingState)


def _every_case() -> list[tuple[str, int, FindingState, FindingState, bool, bool]]:
    return list(
        product(
            ("".join(letters) for letters in product("PFINX", repeat=3)),
            (0, 1, 2),
            ALL_STATES,
            ALL_STATES,
            (True, False),
            (True, False),
        )
    )


def _judged(case: tuple[str, int, FindingState, FindingState, bool, bool]) -> Verdict:
    letters, primary, benefit, safety, place, partial = case
    return _verdict(
        letters,
        primary,
        a_finding(benefit, "tpot_p50", role="success"),
        replace(SAFE, state=safety),
        RunConditions(place_controlled=place, partial=partial),
    )


def test_every_combination_follows_the_rules() -> None:
    """All states of three cells, of the gain and of safety, in every place of the primary cell: 24,000 verdicts."""
    for case in _every_case():
        letters, primary, benefit, safety, place, partial = case
        verdict = _judged(case)
        where = f"{case} gave {verdict.word}"
        range_open = letters[primary] == "P" and set(letters[:primary]) <= {"P"}
        may_enable = range_open and benefit == "PASS" and safety == "PASS" and place and not partial
        if safety == "FAIL":
            assert verdict.word == "ROLLBACK", where
        elif "X" in letters:
            assert verdict.word == "INVALID", where
        elif may_enable:
            assert verdict.word == ("PROMOTE" if letters == "PPP" else "CAPPED"), where
        elif range_open and benefit == "PASS" and safety == "PASS":
            assert verdict.word == "HOLD", where
        elif "F" in letters:
            assert verdict.word == ("ROLLBACK" if place else "HOLD"), where
        else:
            assert verdict.word == "HOLD", where
        assert verdict.reasons, where
        assert (verdict.enable_range is not None) == (verdict.word in ("PROMOTE", "CAPPED")), where


def test_missing_data_never_promotes() -> None:
    """Wherever a NODATA stands among what is required, the verdict is no PROMOTE, and no cap lies at or above such a cell."""
    for case in _every_case():
        letters, _, benefit, safety, _, _ = case
        if "N" not in letters and "NODATA" not in (benefit, safety):
            continue
        verdict = _judged(case)
        assert verdict.word != "PROMOTE", case
        if verdict.word == "CAPPED":
            assert (_cap(verdict) or 0.0) < LEVELS[letters.index("N")], case
            assert "NODATA" not in (benefit, safety), case


def test_worsening_anything_never_improves_the_verdict() -> None:
    """PASS to INCONCLUSIVE to FAIL in any one place moves the verdict down or not at all, and a cap never up."""
    worse = {"P": "I", "I": "F"}
    worse_state: dict[FindingState, FindingState] = {"PASS": "INCONCLUSIVE", "INCONCLUSIVE": "FAIL"}
    for case in _every_case():
        letters, primary, benefit, safety, place, partial = case
        if set(letters) & {"X", "N"} or "NODATA" in (benefit, safety):
            continue
        before = _judged(case)
        neighbours = [
            (letters[:i] + worse[letter] + letters[i + 1 :], primary, benefit, safety, place, partial)
            for i, letter in enumerate(letters)
            if letter in worse
        ]
        if benefit in worse_state:
            neighbours.append((letters, primary, worse_state[benefit], safety, place, partial))
        if safety in worse_state:
            neighbours.append((letters, primary, benefit, worse_state[safety], place, partial))
        for neighbour in neighbours:
            after = _judged(neighbour)
            assert RANK[after.word] <= RANK[before.word], (case, neighbour)
            assert (_cap(after) or 0.0) <= (_cap(before) or 0.0), (case, neighbour)


SURPLUS = a_finding("FAIL", "error_rate", role="safety")


def _with_surplus(letters: str, primary: int, benefit: FindingState = "PASS", conditions: RunConditions = PLAIN) -> Verdict:
    """Cells in these states; S is one that fails by a surplus of failures of its own."""
    shown = a_finding(benefit, "tpot_p50", role="success")
    cells = [
        replace(cell, findings=(replace(SURPLUS, cell=cell.id),)) if letter == "S" else cell
        for letter, cell in zip(letters, _cells(letters.replace("S", "F"), primary, shown), strict=True)
    ]
    return verdict_of(cells, [SAFE], [], conditions)


def test_every_place_of_a_surplus_follows_the_rules() -> None:
    """Above a range that passes without it, it caps; in the primary cell, below it, or with no such range it is a rollback."""
    for letters, primary, benefit in product(map("".join, product("PFINXS", repeat=3)), (0, 1, 2), ALL_STATES):
        if "S" not in letters:
            continue
        verdict = _with_surplus(letters, primary, benefit)
        where = f"{letters}, primary {primary}, gain {benefit}: {verdict.word}"
        range_open = set(letters[: primary + 1]) == {"P"}
        if "X" in letters or not range_open or benefit != "PASS":
            assert (verdict.word, verdict.reasons[0].code) == ("ROLLBACK", "unsafe"), where
        else:
            top = LEVELS[next(place for place, letter in enumerate(letters) if place > primary and letter != "P") - 1]
            assert (verdict.word, _cap(verdict)) == ("CAPPED", top), where


def test_a_surplus_waits_for_no_place() -> None:
    """Above a range it would cap, which waits for the places; without a gain to cap for it is a rollback at once."""
    elsewhere = RunConditions(place_controlled=False)

    assert _with_surplus("PPS", 0, conditions=elsewhere).reasons[0].code == "place_not_controlled"
    assert _with_surplus("PPS", 0, "FAIL", elsewhere).word == "ROLLBACK"
    assert _with_surplus("PSP", 2, conditions=elsewhere).word == "ROLLBACK"


def _with_answers(case: tuple[str, int, FindingState], state: FindingState, *, role: Role = "safety") -> Verdict:
    """Cells in these states and the finding on greedy answers in this one, which is required unless it has no data."""
    letters, primary, benefit = case
    required = state != "NODATA" and role == "safety"
    answers = a_finding(state, "answers_greedy", role=role, cell=None, required=required)
    cells = _cells(letters, primary, a_finding(benefit, "tpot_p50", role="success"))
    return verdict_of(cells, [SAFE, answers], [], RunConditions())


def test_every_state_of_the_answers_follows_the_rules() -> None:
    """A proven change is a rollback whatever else; an open one takes PROMOTE and CAPPED alone; no data and advice nothing."""
    for case in product(map("".join, product("PFINX", repeat=3)), (0, 1, 2), ALL_STATES):
        passed, failed, open_, none = (_with_answers(case, state) for state in ("PASS", "FAIL", "INCONCLUSIVE", "NODATA"))
        advised = _with_answers(case, "FAIL", role="advisory")
        where = f"{case}: {passed.word}"
        assert (failed.word, failed.reasons[0].code) == ("ROLLBACK", "unsafe"), where
        assert (none.word, advised.word) == (passed.word, passed.word), where
        if passed.word in ("PROMOTE", "CAPPED"):
            assert (open_.word, open_.reasons[0].code) == ("HOLD", "answers_not_shown"), where
        else:
            assert (open_.word, open_.reasons[0].code) == (passed.word, passed.reasons[0].code), where


def test_open_answers_of_a_partial_run_are_not_its_first_trouble() -> None:
    """It ended early; what it would have said of the answers comes second."""
    answers = a_finding("INCONCLUSIVE", "answers_form", role="safety", cell=None)

    assert verdict_of(_cells("PPP", 0), [SAFE, answers], [], RunConditions(partial=True)).reasons[0].code == "partial"


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (("PASS", "PASS"), "PASS"),
        (("PASS", "INCONCLUSIVE"), "INCONCLUSIVE"),
        (("INCONCLUSIVE", "NODATA"), "NODATA"),
        (("NODATA", "FAIL"), "FAIL"),
        ((), "PASS"),
    ],
)
def test_a_cell_is_as_good_as_its_worst_required_finding(states: tuple[FindingState, ...], expected: CellState) -> None:
    """A harm outweighs a gap in the data, a gap outweighs doubt."""
    findings = [a_finding(state) for state in states]

    assert state_of(findings, [a_check()], True, pairs_used=10) == expected
    assert state_of(findings, [a_check(False)], True, pairs_used=10) == "INVALID"
    assert state_of(findings, [a_check()], False, pairs_used=10) == "ADVISORY"


def test_a_cell_without_pairs_has_no_data_even_where_no_guardrail_applies() -> None:
    """An unmeasured cell never passes."""
    assert state_of([], [], True, pairs_used=0) == "NODATA"
    assert state_of([a_finding("PASS")], [], True, pairs_used=0) == "NODATA"


def test_advisory_and_success_findings_do_not_touch_the_state_of_a_cell() -> None:
    """Advice is shown; the gain is weighed apart."""
    findings = [a_finding("FAIL", role="advisory"), a_finding("FAIL", role="success"), a_finding("PASS")]

    assert state_of(findings, [a_check()], True, pairs_used=10) == "PASS"
