"""Whether two arms that another tool measured did the same work: a reason with its numbers for each way in which they did not."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import fmean

from specbench.model.data.imported import ImportedRun

UNLIKE_PROMPTS = 0.01  # of the requests
UNLIKE_OUTPUTS = 0.10  # of the mean length of an answer
UNLIKE_MEANS = 0.10  # of the mean length of a prompt, where requests cannot be paired
# What must be one and the same in both arms, where both files tell it.
_SAME = (("tool", "tools"), ("model", "models"), ("route", "routes"), ("dataset", "datasets"), ("seed", "seeds"))
_ONE_AN_ARM = ("tool", "model", "route")  # seeds and datasets may differ from one repeat to the next


@dataclass(frozen=True, slots=True)
class Unlike:
    """Why two arms cannot be compared: a code and what both of them have; `inside`: one arm has both."""

    code: str
    baseline: str
    speculative: str
    inside: bool = False


def unlike(baseline: Sequence[ImportedRun], speculative: Sequence[ImportedRun]) -> tuple[Unlike, ...]:
    """Every reason why these runs cannot be compared, () where there is none."""
    found = [one for attribute, code in _SAME if (one := _other(baseline, speculative, attribute, code)) is not None]
    found += [one for name, runs in _arms(baseline, speculative) for one in _several(name, runs)]
    if tools := [one for one in found if one.code == "tools"]:
        return tuple(tools[:1])  # nothing else has the same meaning in both
    found += [_not_whole(run, name) for name, runs in _arms(baseline, speculative) for run in runs if run.broken_off is not None]
    found += [
        Unlike("not_streamed", *_placed(name, ", ".join(file.path for file in run.files)))
        for name, runs in _arms(baseline, speculative)
        for run in runs
        if run.streamed is False
    ]
    if not any(run.succeeded is None or run.succeeded for run in baseline):
        found.append(Unlike("baseline_failed", f"{sum(run.attempted or 0 for run in baseline)}", ""))
    return tuple(found)


def unlike_work(baseline: Sequence[ImportedRun], speculative: Sequence[ImportedRun]) -> tuple[Unlike, ...]:
    """Why the runs at one load did other work: other prompts, or answers of another length."""
    prompts = next((one for a, b in _paired_runs(baseline, speculative) if (one := _prompts(a, b)) is not None), None)
    if prompts is not None:
        return (prompts,)
    before, after = mean_output(baseline), mean_output(speculative)
    if before and after is not None and abs(after / before - 1) > UNLIKE_OUTPUTS:
        return (Unlike("outputs", f"{before:.1f}", f"{after:.1f}"),)
    return ()


def mean_output(runs: Sequence[ImportedRun]) -> float | None:
    """The mean length of a successful answer over these runs; None where no file tells it."""
    lengths = [one.output_tokens for run in runs for one in run.requests if one.ok and one.output_tokens is not None]
    return fmean(lengths) if lengths else None


def same_prompts(baseline: ImportedRun, speculative: ImportedRun) -> bool:
    """Whether requests of the two can be paired, and do ask the same."""
    return (
        baseline.pairing is not None
        and baseline.pairing == speculative.pairing
        and all(one.prompt is not None for run in (baseline, speculative) for one in run.requests)
        and _prompts(baseline, speculative) is None
    )


def _several(arm: str, runs: Sequence[ImportedRun]) -> list[Unlike]:
    """What one arm has two of, such as models, so that its runs are no repeats of each other."""
    found = []
    for attribute, code in (pair for pair in _SAME if pair[0] in _ONE_AN_ARM):
        held = sorted({str(value) for run in runs if (value := getattr(run, attribute)) is not None})
        if len(held) > 1:
            found.append(Unlike(code, *_placed(arm, ", ".join(held)), inside=True))
    mixed = [
        load
        for load in dict.fromkeys(run.load for run in runs)
        if len({bool(run.speculated) for run in runs if run.load == load}) > 1
    ]
    return [*found, *(Unlike("drafts", *_placed(arm, load), inside=True) for load in mixed)]


def _arms(baseline: Sequence[ImportedRun], speculative: Sequence[ImportedRun]) -> tuple[tuple[str, Sequence[ImportedRun]], ...]:
    return (("baseline", baseline), ("speculative", speculative))


def _placed(arm: str, word: str) -> tuple[str, str]:
    return (word, "") if arm == "baseline" else ("", word)


def _not_whole(run: ImportedRun, arm: str) -> Unlike:
    return Unlike(run.broken_off or "", *_placed(arm, ", ".join(file.path for file in run.files)))


def _other(baseline: Sequence[ImportedRun], speculative: Sequence[ImportedRun], attribute: str, code: str) -> Unlike | None:
    """In what the arms differ of that name, among what their files tell."""
    before, after = (
        sorted({str(told) for run in runs if (told := getattr(run, attribute)) is not None}) for runs in (baseline, speculative)
    )
    return Unlike(code, ", ".join(before), ", ".join(after)) if before and after and before != after else None


def _paired_runs(baseline: Sequence[ImportedRun], speculative: Sequence[ImportedRun]) -> list[tuple[ImportedRun, ImportedRun]]:
    """Every run beside one of the other arm: the first one stands for those that have no twin."""
    return [(a or baseline[0], b or speculative[0]) for a, b in zip_longest(baseline, speculative) if baseline and speculative]


def _prompts(baseline: ImportedRun, speculative: ImportedRun) -> Unlike | None:
    a, b = baseline.requests, speculative.requests
    if not a or not b:
        before, after = baseline.attempted, speculative.attempted
        if before and after and abs(after - before) > UNLIKE_PROMPTS * before:
            return Unlike("counts", str(before), str(after))
        return None
    if baseline.pairing is None or speculative.pairing is None or any(one.prompt is None for one in (*a, *b)):
        before_mean, after_mean = ([one.input_tokens for one in requests if one.input_tokens is not None] for requests in (a, b))
        if before_mean and after_mean and abs(fmean(after_mean) / max(fmean(before_mean), 1e-9) - 1) > UNLIKE_MEANS:
            return Unlike("prompt_lengths", f"{fmean(before_mean):.1f}", f"{fmean(after_mean):.1f}")
        return None
    before_all, after_all = ({one.prompt: one.input_tokens for one in requests} for requests in (a, b))
    asked = before_all.keys() | after_all.keys()
    other = sum(name not in before_all or name not in after_all or _differ(before_all[name], after_all[name]) for name in asked)
    # A prompt that a tool sent more than once counts once, so numbers of requests are held to each other as well.
    if other > UNLIKE_PROMPTS * len(asked) or abs(len(a) - len(b)) > UNLIKE_PROMPTS * len(a):
        return Unlike("prompts", f"{other}", f"{len(asked)}") if other else Unlike("counts", f"{len(a)}", f"{len(b)}")
    return None


def _differ(before: int | None, after: int | None) -> bool:
    return before is not None and after is not None and before != after
