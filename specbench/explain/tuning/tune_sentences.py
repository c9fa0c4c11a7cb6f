"""What a tune says while it runs and at its end: starts, candidates that are out, picks, the setting and what a table costs.

Values in, text out. Nothing is picked here.
"""

from shlex import quote

from specbench.explain.brief.changes import compared
from specbench.explain.numbers import one_of, percent, streams
from specbench.explain.phrases import metric_words
from specbench.model.tuning.tune_values import BASELINE, Confirmation, LoadPick, Setting, Tune

NOT_FOR_QUOTING = "Figures of picks were chosen for being the best: not for quoting."
TABLE_COSTS = (
    "A table by batch size has costs: at depth 0 the drafter still runs one pass a step, and batches at a border switch back"
    " and forth. Engines may use slower graphs with it, or drop it under data parallelism."
)
_TABLE_NAMES = "vllm, trtllm, sglang (EAGLE with topk 1) and the embedded engine (draft_model, ngram)"


def planned(name: str, candidates: int, starts: tuple[int, int], blocks: tuple[int, int], minutes: tuple[float, float]) -> str:
    """The size of a tune in one line: from the fewest series to the most."""
    return (
        f"{name}: {one_of(candidates, 'candidate')} and the baseline, {starts[0]} to {starts[1]} starts,"
        f" {blocks[0]} to {blocks[1]} blocks, {minutes[0]:.0f} to {minutes[1]:.0f} min or more"
    )


def start_assumed(seconds: float) -> str:
    """That the time of a start is not known."""
    return f"A start is taken to last {seconds / 60:.0f} min, as none was measured; `tune` says the time again after its first."


def start_measured(seconds: float, minutes: tuple[float, float]) -> str:
    """How long the first start lasted, its blocks included, and what the tune takes at that."""
    return f"the first start took {seconds:.0f} s with its blocks; the tune takes {minutes[0]:.0f} to {minutes[1]:.0f} min"


def start(series: int, place: int, of: int, name: str) -> str:
    """Which start begins; all count from 1."""
    return f"series {series}, start {place} of {of}: {name}"


def judging() -> str:
    """That all starts are done."""
    return "judging the candidates"


def dropped(by_screen: bool) -> str:
    """Why a candidate is started no more though nothing failed."""
    return "behind the first three at every load in the first series" if by_screen else "surely not the best at any load"


def started_no_more(name: str, why: str) -> str:
    """That a candidate is out."""
    return f"{name} is started no more: {why}"


def change(ratio: float | None) -> str:
    """A figure against the baseline's, for a cell of the table."""
    return "" if ratio is None else f"{100 * (ratio - 1):+.0f} %"


def sure(value: float | None) -> str:
    """How sure a pick is, for a cell of the table."""
    return "?" if value is None else f"{100 * value:.0f} %" if value < 0.995 else ">99 %"


def heading(tune: Tune) -> str:
    """The first line: what was tuned, with how many starts; that it is a part, where it is."""
    done = "picked" if tune.picked else "INVALID" if tune.finished is not None else "partial"
    size = f"{one_of(tune.series, 'series', 'series')}, {one_of(tune.starts, 'start')}"
    return f"{tune.name}: {done} by {metric_words(tune.rules.metric)}, {size}"


def remarks(tune: Tune) -> tuple[str, ...]:
    """What to know of the picks: the scatter of starts, open picks, candidates that are out, what was ruled out, and why."""
    said = [NOT_FOR_QUOTING]
    if tune.start_sd is not None:
        said.append(f"Starts scatter by {percent(tune.start_sd)} (pooled over loads, {tune.start_df} degrees of freedom).")
    if tune.finished is not None and tune.loads and not tune.settled:
        level = percent(1 - (1 - tune.rules.sure) / len(tune.loads))
        said.append(f"Not every pick is as sure as asked ({level} at each load); give more series (--series).")
    if tune.finished is None:
        said.append("Partial: the tune was cut off, so these are the picks so far, and there is no setting.")
    said += [f"{one.candidate.name} is out: {one.reason}." for one in tune.candidates if one.reason is not None]
    for load in tune.loads:
        harmed = [f"{one.candidate} ({one.ruled_out})" for one in load.figures if one.ruled_out not in (None, "failed")]
        if harmed:
            said.append(f"At {streams(load.streams)}, ruled out: {', '.join(harmed)}.")
        if load.pick is None:
            said.append(f"At {streams(load.streams)}, nothing can be picked.")
    return tuple(said)


def setting_lines(setting: Setting | None) -> tuple[str, ...]:
    """The setting in words, and what a table costs; nothing where there is none."""
    if setting is None:
        return ()
    if setting.kind == "off":
        return ("Setting: no speculation. No candidate is better than the baseline where it may be picked.",)
    if setting.kind == "static":
        return (f"Setting ({setting.engine}), the same at every load:", setting.words)
    if setting.kind == "table":
        return (
            f"Setting ({setting.engine}), by batch size:",
            setting.words,
            *((setting.file[1].strip(),) if setting.file else ()),
            TABLE_COSTS,
        )
    cap = streams(setting.cap or 0)
    return (f"Setting ({setting.engine}), which has no table: let the router send at most {cap} to it:", setting.words)


def next_step(tune: Tune, folder: str) -> str:
    """What to do with the picks."""
    if tune.setting is None or tune.setting.kind == "off":
        return ""
    return f"A pick is no proof. Test the setting: specbench confirm {quote(folder)}"


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
