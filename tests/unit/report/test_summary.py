"""What a reader must not have to guess: shares of the traffic, tested and untested loads, which checks failed where."""

from dataclasses import replace

from specbench.explain.check_counts import cap_checks, tally
from specbench.explain.load_ranges import mix, range_sentence
from specbench.explain.next_run import next_run
from specbench.explain.notes import WHY_P50, table_remarks
from specbench.explain.reader_questions import confirmation, reader_questions
from specbench.model.queries import side_metrics
from specbench.model.result import Finding, LoadRange, Result
from specbench.model.shown import TrafficBin
from specbench.report.formats.text import text
from specbench.report.view.report_view import view_of
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
    assert mix(_asked(capped(), two)) == (
        "75 % complete (16 to 48 prompt tokens as drawn, output tokens limited to a number drawn from 32 to 96); 25 % edit (64"
        " prompt tokens as drawn, output tokens limited to a number drawn from 48 to 128); in each, half of the requests greedy"
        " (temperature 0) and half sampled (temperature 0.8, top_p 0.95); prompts from prompts.jsonl"
    )
    assert "; all greedy (temperature 0); prompts" in mix(_asked(capped(), two[:1]))
    assert "; in each, 1 in 4 of the requests a and 1 in 4 b and 1 in 4 c and 1 in 4 d; " in mix(
        _asked(capped(), ("a", "b", "c", "d"))
    )
    assert "a third of the requests a and a third b and a third c" in mix(_asked(capped(), ("a", "b", "c")))


def test_forced_answers_have_a_length_and_no_limit() -> None:
    """With `length: forced` each answer has as many tokens as were drawn."""
    bins = (BINS[0], replace(BINS[1], output_tokens=(128, 128)))
    forced = _asked(capped(), ("greedy (temperature 0)",))
    forced = replace(forced, config=replace(forced.config, bins=bins, length="forced"))
    assert mix(forced).startswith(
        "75 % complete (16 to 48 prompt tokens as drawn, output tokens forced to a number drawn from 32 to 96); 25 % edit (64"
        " prompt tokens as drawn, exactly 128 output tokens); "
    )
    natural = replace(forced, config=replace(forced.config, length="natural"))
    assert "25 % edit (64 prompt tokens as drawn, at most 128 output tokens)" in mix(natural)


def test_a_result_of_an_earlier_version_names_the_bins_that_it_met() -> None:
    """Where the traffic that was asked for is not told, what was served is."""
    assert mix(capped()) == "bins complete, edit; sampling greedy, sampled"
    assert mix(replace(capped(), cells=())) == "of one kind"


def test_loads_that_nobody_tested_are_named() -> None:
    """Between 1, 4 and 16 streams lie untested ones; rates have no whole numbers in between to name."""
    found = capped().enable_range
    assert found is not None
    assert range_sentence(capped(), found) == (
        "Tested and passed: 1 stream, 4 streams. Above the cap: 16 streams, harm shown. Not tested: 2 to 3, 5 to 15 and above 16"
        " streams; those below 4 are taken to be like their neighbours. Server limit: at most 4 running requests, as 3.6 were"
        " running on average at 4 streams, by the server's own gauge."
    )
    every = promote().enable_range
    assert every is not None
    assert "Not tested: 2 to 3, 5 to 15 and above 16 streams" in range_sentence(promote(), every)
    assert "erver limit" not in range_sentence(promote(), replace(every, running_at_cap=None))


def test_an_optional_load_inside_the_range_did_not_pass() -> None:
    """Whatever it showed, it was not judged."""
    primary, four, high = promote().cells
    found = promote().enable_range
    assert found is not None
    said = range_sentence(replace(promote(), cells=(primary, replace(four, required=False, state="ADVISORY"), high)), found)
    assert said.startswith("Tested and passed: 1 stream, 16 streams. Tested, not judged (optional): 4 streams. Not tested: ")


def test_one_running_request_is_no_plural() -> None:
    """A server with one stream runs one request."""
    found = promote().enable_range
    assert found is not None
    said = range_sentence(promote(), replace(found, running_at_cap=1.0))
    assert "at most 1 running request, as 1 was running on average" in said


def test_neighbouring_loads_leave_nothing_untested() -> None:
    """From 1 to 2 streams there is no load in between; between rates there always is."""
    cells = (a_cell(1, 0.5, primary=True), a_cell(2, 0.6))
    span = LoadRange(low=1, high=2, running_at_cap=None, by="concurrency", beyond=None, method="")
    assert range_sentence(a_result("PROMOTE", cells, (reason("x", "y"),), span), span) == (
        "Tested and passed: 1 stream, 2 streams. Not tested: above 2 streams."
    )
    rated = tuple(
        replace(cell, axes=replace(cell.axes, concurrency=None, rate=rate)) for cell, rate in zip(cells, (0.5, 2.5), strict=True)
    )
    by_rate = replace(span, by="rate", low=0.5, high=2.5)
    assert "Not tested: rates between these and above 2.5 requests/s." in range_sentence(
        a_result("PROMOTE", rated, (), by_rate), by_rate
    )


def test_checks_are_told_by_load_and_by_side_of_the_cap() -> None:
    """What passed is counted, what did not is named; loads where everything passed share a sentence."""
    assert tally(capped()) == (
        "At 1 and 4 streams, inside the cap: 10 PASS; the benefit (TPOT p50) PASS.",
        "At 16 streams, above the cap: 5 FAIL: TPOT p95, pace p95, TTFT p95, E2E p95, output TPS; the benefit (TPOT p50) FAIL.",
        "Over the whole run: 1 PASS.",
    )
    assert "2 open (INCONCLUSIVE): TPOT p95, pace p95; 1 without data (NODATA): TTFT p95" in tally(hold())[1]
    assert [line.partition(":")[0] for line in tally(sliced())] == [
        "At 1 stream of complete, greedy, inside the cap",
        "At 1 stream of creative, greedy, not enabled",
        "Over the whole run",
    ]
    assert "cap" not in " ".join(tally(rollback()))


def test_many_loads_are_told_by_the_cells() -> None:
    """How sure the verdict is rests on six points at most; INVALID rests on none."""
    assert reader_questions(capped())[3].points == tally(capped())
    assert reader_questions(replace(capped(), verdict="INVALID"))[3].points == ()
    first, *others = large(24).cells
    many = reader_questions(replace(large(24), cells=(replace(first, primary=True), *others)))[3].points
    assert (len(many), many[-1]) == (6, "The other loads: see the cells.")


def test_a_cap_says_which_run_confirms_it() -> None:
    """The command repeats the run up to the cap alone, at a profile that is meant for decisions."""
    assert confirmation(capped()) == "specbench run code.yaml --profile standard --up-to 4"
    full = replace(capped(), run=replace(capped().run, profile="full", scenario="my scenarios/code.yaml"))
    assert confirmation(full) == "specbench run 'my scenarios/code.yaml' --profile full --up-to 4"
    assert [confirmation(one) for one in (promote(), hold(), rollback(), sliced())] == ["", "", "", ""]
    assert reader_questions(capped())[0].command == confirmation(capped())
    assert "says PROMOTE, switch speculation on up to 4 streams and keep it off above" in reader_questions(capped())[0].text


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
    at = next(index for index, line in enumerate(lines) if line.strip().startswith("specbench run "))
    assert lines[at].endswith(" \\")
    joined = " ".join(line.strip().removesuffix(" \\") for line in lines[at : at + 3])
    assert joined.startswith(
        "specbench run code.yaml --profile standard --baseline http://gpu1:8000 --set 'matrix.block={min_s: 30}'"
    )


def test_more_pairs_are_told_in_all_and_beyond_this_run() -> None:
    """A reader need not guess whether 14 pairs come on top."""
    assert next_run(hold()) == (
        "About 14 pairs in all",
        "3 required checks are open (TPOT p95, pace p95, TTFT p95); the hardest needs about 14 pairs a cell in all, 10 more than"
        " this run (`--set matrix.pairs=14`).",
    )


def test_above_a_harmed_load_pairs_do_not_help_and_at_an_open_one_they_do() -> None:
    """What would raise the cap depends on the next tested load: loads in between, or pairs there."""
    assert next_run(capped())[1].endswith(
        "Optional, for a higher cap: at 16 streams harm is shown, so more pairs there would not raise it; loads between 4 and 16"
        " in `matrix.concurrency` might."
    )
    still_open = replace(capped(), cells=(*capped().cells[:2], replace(hold().cells[1], axes=capped().cells[2].axes)))
    assert next_run(still_open)[1].endswith(
        "Optional, for a higher cap: another run of all loads that settles 16 streams (TPOT p95 ×1.07, at most ×1.103, limit"
        " ×1.10 (+10 %, at least 0.5 ms); pace p95 ×1.07, at most ×1.103, limit ×1.10 (+10 %, at least 0.5 ms); TTFT p95): about"
        " 14 pairs a cell in all, 10 more than this run (`--set matrix.pairs=14`)."
    )
    cell = still_open.cells[2]
    beyond = tuple(replace(f, ratio=1.2) if f.metric == "pace_p95" else f for f in cell.findings)
    past_its_limit = replace(still_open, cells=(*still_open.cells[:2], replace(cell, findings=beyond)))
    assert next_run(past_its_limit)[1].endswith(" As measured that is past its limit, so more pairs may as well show harm.")


def test_the_first_token_is_shown_as_it_is_judged() -> None:
    """Where p50 stands in for p95 the table shows p50 and says why; with both, the loads are named."""
    assert side_metrics(capped()) == ["pace_p95", "ttft_p95", "output_tps"]
    assert table_remarks(capped()) == ("Intervals are two-sided at 95 %; the checks use one-sided bounds.",)
    at_p50 = replace(capped(), cells=tuple(replace(cell, findings=_at_p50(cell.findings)) for cell in capped().cells))
    assert side_metrics(at_p50) == ["pace_p95", "ttft_p50", "output_tps"]
    assert table_remarks(at_p50)[1] == f"TTFT is judged at p50: {WHY_P50}"
    both = replace(capped(), cells=(at_p50.cells[0], *capped().cells[1:]))
    assert side_metrics(both) == ["pace_p95", "ttft_p95", "output_tps"]
    assert table_remarks(both)[1] == f"At 1 stream TTFT is judged at p50: {WHY_P50}"


def _at_p50(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    return tuple(replace(one, metric="ttft_p50", notes=("ttft_at_p50",)) if one.metric == "ttft_p95" else one for one in findings)


def test_a_guardrail_on_the_median_is_no_stand_in() -> None:
    """Who asks for TTFT p50 is judged by it at any number of requests, and the table does not say that they were few."""
    asked = tuple(
        replace(cell, findings=tuple(replace(one, notes=()) for one in _at_p50(cell.findings))) for cell in capped().cells
    )
    assert side_metrics(replace(capped(), cells=asked)) == ["pace_p95", "ttft_p50", "output_tps"]
    assert table_remarks(replace(capped(), cells=asked)) == ("Intervals are two-sided at 95 %; the checks use one-sided bounds.",)


def test_words_of_the_report_are_explained_at_its_end() -> None:
    """Every term that stands in it, and none that does not."""
    said = text(capped()).partition("\nWords\n")[2]
    terms = [line.strip()[2:].partition(":")[0] for line in said.splitlines() if line.startswith("  - ")]
    assert {"Ratio", "Interval", "TTFT", "TPOT", "Pace", "Output TPS", "Acceptance length", "PASS", "FAIL"} <= set(terms)
    assert "ITL" not in terms
    assert "NODATA" not in terms
    assert "NODATA: " in text(hold())
    assert {"CAPPED", "PROMOTE", "Arm, baseline", "Stream", "Range, cap", "Primary cell", "Steady window"} <= set(terms)
    assert "HOLD" not in terms
    assert "  - HOLD: " in text(hold())


def test_checks_inside_the_cap_have_their_bound_and_limit() -> None:
    """A line each: the ratio, how far the truth may lie, the limit as it was asked for; the benefit first."""
    (title, checks), (second, _) = cap_checks(capped())
    assert (title, second) == ("Checks at 1 stream: all passed", "Checks at 4 streams: all passed")
    assert checks[0] == "TPOT p50 ×0.45, at most ×0.464, target ×0.95 (−5 %)"
    assert "TTFT p95 ×1.02, at most ×1.051, limit ×1.15 (+15 %, at least 20 ms)" in checks
    assert f"  - {checks[0]}" in text(capped())
    assert cap_checks(hold()) == cap_checks(sliced()) == ()


def test_where_the_benefit_is_judged_is_said_where_other_cells_leave_it() -> None:
    """A cell slower in the metric of the benefit is no contradiction to its state."""
    primary, *others = capped().cells
    guarded = tuple(replace(cell, findings=tuple(f for f in cell.findings if f.role != "success")) for cell in others)
    assert table_remarks(replace(capped(), cells=(primary, *guarded)))[-1] == (
        "TPOT p50 is judged in the primary cell alone, as the benefit; TPOT p95 and pace p95 guard the others."
    )
