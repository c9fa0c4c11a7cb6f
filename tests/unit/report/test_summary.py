"""What a reader must not have to guess: shares of the traffic, tested and untested loads, which checks failed where."""

from dataclasses import replace

from specbench.explain.check_counts import cap_checks, tally
from specbench.explain.next_run import next_run
from specbench.explain.notes import table_remarks
from specbench.explain.reader_questions import confirmation, reader_questions
from specbench.explain.rules.load_ranges import mix, range_sentence
from specbench.model.result import LoadRange, Result
from specbench.model.shown import TrafficBin
from specbench.report.formats.text import text
from specbench.report.terminal.explanation import explanation
from specbench.report.terminal.screen import Screen
from specbench.report.view.report_view import view_of
from tests.support.goldens import same_text
from tests.support.result_parts import a_cell
from tests.support.results import a_result, capped, hold, large, promote, reason, rollback, sliced

BINS = (
    TrafficBin(name="complete", input_tokens=(16, 48), output_tokens=(32, 96), share=0.75),
    TrafficBin(name="edit", input_tokens=(64, 64), output_tokens=(48, 128), share=0.25),
)


def _asked(result: Result, sampling: tuple[str, ...]) -> Result:
    return replace(result, config=replace(result.config, bins=BINS, sampling=sampling, source="prompts.jsonl"))


def test_the_traffic_has_its_lengths_and_shares() -> None:
    """Each bin with its share and bands, the sampling settings in turn, and where the prompts came from."""
    two = ("greedy (temperature 0)", "sampled (temperature 0.8, top_p 0.95)")
    same_text("two samplings", mix(_asked(capped(), two)))
    same_text("one sampling", mix(_asked(capped(), two[:1])))
    same_text("four samplings", mix(_asked(capped(), ("a", "b", "c", "d"))))
    same_text("three samplings", mix(_asked(capped(), ("a", "b", "c"))))


def test_forced_answers_have_a_length_and_no_limit() -> None:
    """With `length: forced` each answer has as many tokens as were drawn."""
    bins = (BINS[0], replace(BINS[1], output_tokens=(128, 128)))
    forced = _asked(capped(), ("greedy (temperature 0)",))
    forced = replace(forced, config=replace(forced.config, bins=bins, length="forced"))
    same_text("forced lengths", mix(forced))
    natural = replace(forced, config=replace(forced.config, length="natural"))
    same_text("natural lengths", mix(natural))


def test_a_result_of_an_earlier_version_names_the_bins_that_it_met() -> None:
    """Where the traffic that was asked for is not told, what was served is."""
    same_text("bins that were met", mix(capped()))
    same_text("no traffic", mix(replace(capped(), cells=())))


def test_loads_that_nobody_tested_are_named() -> None:
    """Between 1, 4 and 16 streams lie untested ones; rates have no whole numbers in between to name."""
    found = capped().enable_range
    assert found is not None
    same_text("capped", range_sentence(capped(), found))
    every = promote().enable_range
    assert every is not None
    same_text("promoted", range_sentence(promote(), every))
    same_text("no gauge", range_sentence(promote(), replace(every, running_at_cap=None)))


def test_an_optional_load_inside_the_range_did_not_pass() -> None:
    """Whatever it showed, it was not judged."""
    primary, four, high = promote().cells
    found = promote().enable_range
    assert found is not None
    said = range_sentence(replace(promote(), cells=(primary, replace(four, required=False, state="ADVISORY"), high)), found)
    same_text("an optional load", said)


def test_one_running_request_is_no_plural() -> None:
    """A server with one stream runs one request."""
    found = promote().enable_range
    assert found is not None
    said = range_sentence(promote(), replace(found, running_at_cap=1.0))
    same_text("one running request", said)


def test_neighbouring_loads_leave_nothing_untested() -> None:
    """From 1 to 2 streams there is no load in between; between rates there always is."""
    cells = (a_cell(1, 0.5, primary=True), a_cell(2, 0.6))
    span = LoadRange(low=1, high=2, running_at_cap=None, by="concurrency", beyond=None, method="")
    same_text("neighbours", range_sentence(a_result("PROMOTE", cells, (reason("x", "y"),), span), span))
    rated = tuple(
        replace(cell, axes=replace(cell.axes, concurrency=None, rate=rate)) for cell, rate in zip(cells, (0.5, 2.5), strict=True)
    )
    by_rate = replace(span, by="rate", low=0.5, high=2.5)
    same_text("rates", range_sentence(a_result("PROMOTE", rated, (), by_rate), by_rate))


def test_checks_are_told_by_load_and_by_side_of_the_cap() -> None:
    """What passed is counted, what did not is named; loads where everything passed share a sentence."""
    same_text("tally: capped", *tally(capped()))
    same_text("tally: hold", tally(hold())[1])
    same_text("tally: sliced", *[line.partition(":")[0] for line in tally(sliced())])
    same_text("tally: rollback", *tally(rollback()))


def test_many_loads_are_told_by_the_cells() -> None:
    """How sure the verdict is rests on six points at most; INVALID rests on none."""
    assert reader_questions(capped())[3].points == tally(capped())
    assert reader_questions(replace(capped(), verdict="INVALID"))[3].points == ()
    first, *others = large(24).cells
    many = reader_questions(replace(large(24), cells=(replace(first, primary=True), *others)))[3].points
    assert len(many) == 6
    same_text("many loads", many[-1])


def test_a_cap_says_which_run_confirms_it() -> None:
    """The command repeats the run with no load above its cap, at a profile that is meant for decisions."""
    assert confirmation(capped()) == "specbench run code.yaml --profile standard --up-to 4"
    full = replace(capped(), run=replace(capped().run, profile="full", scenario="my scenarios/code.yaml"))
    assert confirmation(full) == "specbench run 'my scenarios/code.yaml' --profile full --up-to 4"
    assert [confirmation(one) for one in (promote(), hold(), rollback(), sliced())] == ["", "", "", ""]
    assert reader_questions(capped())[0].command == confirmation(capped())
    same_text("confirm the cap", reader_questions(capped())[0].text)


FLAGS = ("--baseline", "http://gpu1:8000", "--set", "matrix.block={min_s: 30}", "--place", "code-aa")


def test_the_confirming_run_is_asked_as_this_one_was() -> None:
    """What the command line changed is repeated, the arms stay exchanged, and each axis has its own cap."""
    swapped = replace(capped(), run=replace(capped().run, flags=FLAGS), config=replace(capped().config, design="swap"))
    by_rate = replace(
        swapped,
        rate_range=LoadRange(low=0.5, high=2.5, running_at_cap=None, by="rate", beyond="harm_beyond", method=""),
    )
    assert confirmation(by_rate) == (
        "specbench run code.yaml --profile standard --baseline http://gpu1:8000 --set 'matrix.block={min_s: 30}' --place code-aa"
        " --swap --up-to 4 --rate-up-to 2.5"
    )


def test_the_run_can_be_made_again_as_it_was_asked() -> None:
    """What the command line changed stands in the command, quoted for a shell."""
    asked = replace(capped(), run=replace(capped().run, flags=FLAGS))
    assert view_of(asked).reproduce[0] == (
        "specbench run code.yaml --profile smoke --baseline http://gpu1:8000 --set 'matrix.block={min_s: 30}' --place code-aa"
        " --set seed=7"
    )


def test_a_long_command_is_continued_as_a_shell_takes_it() -> None:
    """80 columns hold it in lines that can be pasted."""
    lines = text(replace(capped(), run=replace(capped().run, flags=FLAGS))).splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("next "))
    assert lines[at].endswith(" \\")
    joined = " ".join(line.removeprefix("next").strip().removesuffix(" \\") for line in lines[at : at + 3])
    assert joined.startswith(
        "specbench run code.yaml --profile standard --baseline http://gpu1:8000 --set 'matrix.block={min_s: 30}'"
    )


def test_more_pairs_are_told_in_all_and_beyond_this_run() -> None:
    """A reader need not guess whether 14 pairs come on top."""
    same_text("surer: hold", *next_run(hold()))


def test_above_a_harmed_load_pairs_do_not_help_and_at_an_open_one_they_do() -> None:
    """What would raise the cap depends on the next tested load: loads in between, or pairs there."""
    same_text("surer: above a harmed load", next_run(capped())[1])
    still_open = replace(capped(), cells=(*capped().cells[:2], replace(hold().cells[1], axes=capped().cells[2].axes)))
    same_text("surer: above an open load", next_run(still_open)[1])
    cell = still_open.cells[2]
    beyond = tuple(replace(f, ratio=1.2) if f.metric == "pace_p95" else f for f in cell.findings)
    past_its_limit = replace(still_open, cells=(*still_open.cells[:2], replace(cell, findings=beyond)))
    same_text("surer: past its limit", next_run(past_its_limit)[1])


def test_remarks_say_what_an_interval_is() -> None:
    """And where the benefit is not asked for."""
    same_text("remarks", *table_remarks(capped()))


def test_checks_inside_the_cap_have_their_bound_and_limit() -> None:
    """A line each: the ratio, how far the truth may lie, the limit as it was asked for; the benefit first."""
    (title, checks), (second, _) = cap_checks(capped())
    same_text("titles of checks", *(title, second))
    same_text("checks inside the cap", *checks)
    assert f"  - {checks[0]}" in explanation(capped(), Screen())
    assert cap_checks(hold()) == cap_checks(sliced()) == ()


def test_where_the_benefit_is_judged_is_said_where_other_cells_leave_it() -> None:
    """A cell slower in the metric of the benefit is no contradiction to its state."""
    primary, *others = capped().cells
    guarded = tuple(replace(cell, findings=tuple(f for f in cell.findings if f.role != "success")) for cell in others)
    same_text("remarks: the benefit", table_remarks(replace(capped(), cells=(primary, *guarded)))[-1])
