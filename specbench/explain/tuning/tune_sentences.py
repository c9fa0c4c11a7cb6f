"""What a tune says while it runs and at its end: starts, candidates that are out, picks, the setting and what a table costs.

Values in, text out. Nothing is picked here.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from shlex import quote
from typing import Literal

from specbench.explain.brief import table_words
from specbench.explain.brief.changes import compared
from specbench.explain.numbers import listed, one_of, percent, streams
from specbench.explain.phrases import metric_words
from specbench.model.tuning.tune_values import BASELINE, Confirmation, LoadPick, Setting, TriedCandidate, Tune

MARK = "chosen as the best, not for quoting"
NOT_FOR_QUOTING = f"Figures of picks were {MARK}."
NO_PROOF = "A pick is no proof. Test the setting:"
PREDICTED = (
    "Predicted from the deepest other run of the same method: its answers replayed at this depth, with the cost of its steps."
    " A prediction suggests what to try first. It never picks."
)
TABLE_COSTS = (
    "A table by batch size has costs: at depth 0 the drafter still runs one pass a step, and batches near a threshold keep"
    " switching depth. Engines may use slower graphs with it, or drop it under data parallelism."
)
GivenUp = Literal["predicted", "behind", "hopeless"]
_TABLE_NAMES = "vllm, trtllm, sglang (EAGLE with topk 1) and the embedded engine (draft_model, ngram)"


def planned(name: str, candidates: int, starts: tuple[int, int], blocks: tuple[int, int], minutes: tuple[float, float]) -> str:
    """The size of a tune in one line: from the fewest series to the most."""
    return (
        f"{name}: {one_of(candidates, 'candidate')} and the baseline, {_span(starts)} starts,"
        f" {_span(blocks)} blocks, {_span(minutes)} min or more"
    )


def start_assumed(seconds: float) -> str:
    """That the time of a start is not known."""
    return f"Assumes {seconds / 60:.0f} min a start, as none was measured. `tune` estimates again after its first start."


def start_measured(seconds: float, minutes: tuple[float, float]) -> str:
    """How long the first start lasted, its blocks included, and what the tune takes at that."""
    return f"the first start took {seconds:.0f} s with its blocks; the tune takes {_span(minutes)} min"


def _span(ends: tuple[float, float]) -> str:
    """Whole numbers from one to the other; a single one where they read alike."""
    low, high = (f"{end:.0f}" for end in ends)
    return low if low == high else f"{low} to {high}"


def of_series(series: int) -> str:
    """Which series goes on, counted from 1."""
    return f"series {series}"


def screen() -> str:
    """That the screen goes on: the deepest of each method, from which the other depths are predicted."""
    return "screen"


def start(series: str, place: int, of: int, name: str) -> str:
    """Which start begins, counted from 1."""
    return f"{series}, start {place} of {of}: {name}"


def judging() -> str:
    """That all starts are done."""
    return "judging the candidates"


def dropped(why: GivenUp) -> str:
    """Why a candidate is not started again though nothing failed."""
    return {
        "predicted": "predicted not among the best three at any load",
        "behind": "not among the best three at any load in the first series",
        "hopeless": "almost certainly not the best at any load that is still open",
    }[why]


def started_no_more(name: str, why: str) -> str:
    """That a candidate is out."""
    return f"{name} is not started again: {why}"


def change(ratio: float | None) -> str:
    """A figure against the baseline's, for a cell of the table."""
    return "" if ratio is None else table_words.change(ratio - 1, 0)


def sure(value: float | None) -> str:
    """How sure a pick is, for a cell of the table."""
    return "?" if value is None else f"{100 * value:.0f} %" if value < 0.995 else ">99 %"


def heading(tune: Tune) -> str:
    """The first line: what was tuned, with how many starts; that it is a part, where it is."""
    done = "picked" if tune.picked else "INVALID" if tune.finished is not None else "partial"
    return f"{tune.name}: {done} by {metric_words(tune.rules.metric)}, {size_of(tune)}"


def answer(tune: Tune) -> str:
    """The picks in one sentence, a proposal; or why there is none."""
    open_loads = [load.streams for load in tune.loads if load.pick is None]
    if tune.finished is not None and open_loads:
        return f"INVALID: nothing can be picked at {streams_of(open_loads)}"
    if not tune.loads:
        return "Partial: nothing was measured yet" if tune.finished is None else "INVALID: nothing was measured"
    known = [load for load in tune.loads if load.pick is not None]
    first = [f"{_pick_words(load)} at {streams(load.streams)}" for load in known[:1]]
    said = ", ".join([*first, *(f"{_pick_words(load)} at {load.streams}" for load in known[1:])]) or "none"
    return f"{'Picks so far' if tune.finished is None else 'Picks'}: {said}"


def streams_of(loads: Sequence[int]) -> str:
    """Loads in a sentence: '1 stream', '1, 4 and 8 streams'."""
    return streams(loads[0]) if len(loads) == 1 else f"{listed([str(one) for one in loads])} streams"


def _pick_words(load: LoadPick) -> str:
    name = pick_name(load)
    return f"depth {name}" if name.isdecimal() else name


def candidate_head(name: str) -> str:
    """What stands above a candidate's column."""
    return name.replace("depth-", "depth ", 1) if name.startswith("depth-") else name


def size_of(tune: Tune) -> str:
    """With how many series and starts."""
    return f"{one_of(tune.series, 'series', 'series')}, {one_of(tune.starts, 'start')}"


def against_baseline(tune: Tune) -> str:
    """What the figures of the table are."""
    return (
        f"{metric_words(tune.rules.metric)} against the baseline, over all starts. Shaded: the pick, the smallest depth that"
        f" surely loses less than {percent(tune.rules.within)} to the best, else the best. In brackets: may not be picked there."
    )


def scatter(tune: Tune) -> str:
    """How far starts differ; nothing where it is not known."""
    if tune.start_sd is None:
        return ""
    return f"Starts scatter by {percent(tune.start_sd)} (pooled over loads, {tune.start_df} degrees of freedom)."


def scatter_use(tune: Tune) -> str:
    """What the scatter is good for in a scenario; nothing where it is not known."""
    if tune.start_sd is None:
        return ""
    return f"In a scenario: `matrix.start_sd: {{sd: {percent(tune.start_sd).replace(' ', '')}, df: {tune.start_df}}}`."


def remarks(tune: Tune) -> tuple[str, ...]:
    """What to know of the picks: that they are no figures to quote, the scatter of starts, and what `notes_of` says."""
    found = scatter(tune)
    return (NOT_FOR_QUOTING, *([found] if found else []), *notes_of(tune))


def notes_of(tune: Tune) -> tuple[str, ...]:
    """Open picks, candidates that are out, what was ruled out and why, what to try, and loads between which picks change."""
    said = []
    if tune.finished is not None and tune.loads and not tune.settled:
        level = percent(1 - (1 - tune.rules.sure) / len(tune.loads))
        said.append(f"Some picks are less sure than required ({level} at each load). Run more series (--series).")
    if tune.finished is None:
        said.append("Partial: the tune was cut off, so these are the picks so far, and there is no setting.")
    said += [_out(one) for one in tune.candidates if one.reason is not None]
    for load in tune.loads:
        harmed = [
            f"{candidate_head(one.candidate)} ({metric_words(one.ruled_out)})"
            for one in load.figures
            if one.ruled_out is not None and one.ruled_out != "failed"
        ]
        if harmed:
            said.append(f"At {streams(load.streams)}, ruled out as worse: {', '.join(harmed)}.")
        if load.pick is None:
            said.append(f"At {streams(load.streams)}, nothing can be picked.")
        if load.better_untried:
            depths = listed([str(depth) for depth in load.better_untried])
            margin = percent(tune.rules.within)
            said.append(f"At {streams(load.streams)}, try depth {depths}: predicted to beat the pick by more than {margin}.")
    if tune.setting is not None and tune.setting.kind in ("table", "capped") and (between := untested_between(tune.loads)):
        said.append(_untested(tune, between))
    return tuple(said)


def untested_between(loads: Sequence[LoadPick]) -> tuple[int, ...]:
    """A load between each two that are more than twice apart and have different picks."""
    return tuple(
        round(sqrt(low.streams * high.streams))
        for low, high in pairwise(loads)
        if None not in (low.pick, high.pick) and low.pick != high.pick and high.streams > 2 * low.streams
    )


def _untested(tune: Tune, between: Sequence[int]) -> str:
    whole = ",".join(map(str, sorted({*(load.streams for load in tune.loads), *between})))
    there = " The table has the smaller depth there." if tune.setting is not None and tune.setting.kind == "table" else ""
    return (
        f"The pick changes between loads more than a factor of 2 apart; where exactly was not measured.{there} To know, add"
        f" {listed([str(one) for one in between])}: --set='matrix.concurrency=[{whole}]'."
    )


def _out(one: TriedCandidate) -> str:
    if one.state == "failed":
        return f"{one.candidate.name} is out: {one.reason}."
    return f"{one.candidate.name} was not started again after {one_of(one.series, 'series', 'series')}: {one.reason}."


def setting_name(setting: Setting) -> str:
    """What kind of setting it is, of which engine."""
    if setting.kind == "off":
        return "Setting: no speculation. No candidate is better than the baseline where it may be picked."
    if setting.kind == "static":
        return f"Setting ({setting.engine}), the same at every load:"
    if setting.kind == "table":
        return f"Setting ({setting.engine}), by batch size:"
    return f"Setting ({setting.engine}), which has no table: let the router send at most {streams(setting.cap or 0)} to it:"


def setting_words(setting: Setting) -> tuple[str, ...]:
    """The setting in the engine's own words, with the text of its file; nothing where there is no speculation."""
    if setting.kind == "off":
        return ()
    return (setting.words, *((setting.file[1].strip(),) if setting.file else ()))


def setting_lines(setting: Setting | None) -> tuple[str, ...]:
    """The setting in words, and what a table costs; nothing where there is none."""
    if setting is None:
        return ()
    costs = (TABLE_COSTS,) if setting.kind == "table" else ()
    return (setting_name(setting), *setting_words(setting), *costs)


def confirm_command(tune: Tune, folder: str) -> str:
    """The command that tests the setting; nothing where there is none to test."""
    return "" if tune.setting is None or tune.setting.kind == "off" else f"specbench confirm {quote(folder)}"


def next_step(tune: Tune, folder: str) -> str:
    """What to do with the picks."""
    command = confirm_command(tune, folder)
    return f"{NO_PROOF} {command}" if command else ""


def as_page(file: str) -> str:
    """Where the same stands as a page."""
    return f"{file} has the same as a page, with predictions."


def setting_text(tune: Tune, folder: object) -> str:
    """The text of setting.txt: the setting alone, with what it costs and how it is tested."""
    return "\n".join([*setting_lines(tune.setting), next_step(tune, str(folder))]).strip()


def pick_name(load: LoadPick) -> str:
    """The pick, for a cell of the table."""
    return "none" if load.pick is None else "off" if load.pick == BASELINE else load.pick.removeprefix("depth-")


def no_table(engine: str) -> str:
    """That an engine cannot enforce a cap itself."""
    return f"--enforce engine: {engine} takes no table by batch size; those that do: {_TABLE_NAMES}. Use --enforce router"


def confirms(confirmation: Confirmation, alpha: float) -> str:
    """What the run confirms, as which try, and how often a chain of tries errs."""
    by = "the engine" if confirmation.enforced_by == "engine" else f"a router with at most {streams(confirmation.cap or 0)}"
    first = alpha * 2 ** (confirmation.try_number - 1)
    return (
        f"This run confirms the setting of {confirmation.of}, enforced by {by}. It is try {confirmation.try_number}, judged"
        f" at alpha {alpha:g}. A chain of tries errs at most {percent(2 * first)}, twice the alpha of one."
    )


def gain(ratio: float) -> str:
    """A ratio in words."""
    return compared(ratio)
