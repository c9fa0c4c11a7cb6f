"""How often every pick of `specbench tune` is within 5 % of the best: ten seeds against long tunes that leave no depth out.

`python -m benchmarks.tune_seeds [FOLDER] [--only PART ...]` takes about two hours on two quiet cores: two long tunes of 18
minutes, which agree within 4 %, then ten of 6 to 8. It may be stopped and called again: a tune that finished is kept, one that
did not is measured anew. `--only seed-3` measures that part alone; `--only none` measures nothing and says what there is.
"""

import argparse
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from math import exp, log
from pathlib import Path

from specbench.errors import DataError
from specbench.model.tuning.tune_values import Tune
from specbench.tune.picks import read_tune

WITHIN = 0.05
ENOUGH, SEEDS = 9, 10
SCENARIO = "scenarios/tune.yaml"
SHORT = ("--profile", "smoke", "--blocks", "2")
# Two series each, as only later ones leave out loads and depths of which enough is known.
LONG = ("--profile", "smoke", "--blocks", "6", "--series", "2")
PARTS = {f"long-{part}": (*LONG, "--set", f"seed={1000 + part}") for part in range(2)} | {
    f"seed-{seed}": (*SHORT, "--set", f"seed={seed}") for seed in range(SEEDS)
}
UNFINISHED = 2  # the exit code while parts are missing

Ratios = Mapping[int, Mapping[str, float]]


def ratios_of(tune: Tune) -> dict[int, dict[str, float]]:
    """The figure of each candidate ÷ the baseline's, by load."""
    return {load.streams: {one.candidate: one.ratio for one in load.figures if one.ratio is not None} for load in tune.loads}


def mean_ratios(parts: Sequence[Ratios]) -> dict[int, dict[str, float]]:
    """The geometric means of the ratios over these parts, of candidates that all of them have."""
    found: dict[int, dict[str, float]] = {}
    for streams in parts[0]:
        names = [name for name in parts[0][streams] if all(name in part.get(streams, {}) for part in parts)]
        found[streams] = {name: exp(sum(log(part[streams][name]) for part in parts) / len(parts)) for name in names}
    return found


def losses(picks: Mapping[int, str], truth: Ratios) -> dict[int, float]:
    """How much slower than the best each pick is, by load, as a fraction."""
    return {streams: truth[streams][pick] / min(truth[streams].values()) - 1 for streams, pick in picks.items()}


def is_right(picks: Mapping[int, str], truth: Ratios) -> bool:
    """Whether every pick is within 5 % of the best."""
    return all(loss <= WITHIN for loss in losses(picks, truth).values())


def finished(folder: Path) -> Tune | None:
    """The tune in that folder; None where there is none, or one that did not finish."""
    try:
        found = read_tune(folder)
    except DataError:
        return None
    return found if found.finished is not None else None


def main(arguments: Sequence[str]) -> int:
    """Measures what is missing, prints a line a seed, and gives 0 where nine of ten were right, 2 while some are missing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tune_seeds")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("reports/tune-seeds"))
    parser.add_argument("--only", nargs="+", choices=[*PARTS, "none"], default=[*PARTS], metavar="PART")
    asked = parser.parse_args(arguments)
    for name in asked.only:
        if name != "none" and finished(asked.folder / name) is None:
            _measure(asked.folder / name, PARTS[name])
    return _judged({name: found for name in PARTS if (found := finished(asked.folder / name)) is not None})


def _judged(tunes: Mapping[str, Tune]) -> int:
    missing = [name for name in PARTS if name not in tunes]
    long = [ratios_of(tune) for name, tune in tunes.items() if name.startswith("long-")]
    if not long:
        sys.stdout.write(f"missing: {', '.join(missing)}\n")
        return UNFINISHED
    truth, right, short = mean_ratios(long), 0, 0
    for name, tune in tunes.items():
        if name.startswith("long-"):
            continue
        picks = {load.streams: load.pick for load in tune.loads if load.pick is not None}
        good = tune.picked and is_right(picks, truth)
        right, short = right + good, short + 1
        worst = max(losses(picks, truth).values(), default=0.0)
        sys.stdout.write(f"{name}: {picks}, worst {worst:.1%}, {tune.starts} starts, {'right' if good else 'WRONG'}\n")
    sys.stdout.write(f"{right} of {short} seeds right\n")
    if missing:
        sys.stdout.write(f"missing: {', '.join(missing)}\n")
        return UNFINISHED
    return 0 if right >= ENOUGH else 1


def _measure(folder: Path, words: Sequence[str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)  # one that was cut off
    command = [sys.executable, "-m", "specbench", "tune", SCENARIO, *words, "--out", str(folder), "-q"]
    subprocess.run(command, check=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
