"""How often every pick of `specbench tune` is within 5 % of the best: ten seeds against one long run of all depths.

`python -m benchmarks.tune_seeds [FOLDER]` takes about two hours on a quiet machine; folders that are there are only read.
"""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from specbench.model.tuning.tune_values import Tune
from specbench.tune.picks import read_tune

SEEDS = range(10)
WITHIN = 0.05
ENOUGH = 9  # of ten seeds
SCENARIO = "scenarios/tune.yaml"
SHORT = ("--profile", "smoke", "--blocks", "2")
LONG = ("--profile", "smoke", "--blocks", "6", "--series", "8", "--sure", "99%", "--within", "1%", "--set", "seed=1000")

Ratios = Mapping[int, Mapping[str, float]]


def ratios_of(tune: Tune) -> dict[int, dict[str, float]]:
    """The figure of each candidate ÷ the baseline's, by load."""
    return {load.streams: {one.candidate: one.ratio for one in load.figures if one.ratio is not None} for load in tune.loads}


def losses(picks: Mapping[int, str], truth: Ratios) -> dict[int, float]:
    """How much slower than the best each pick is, by load, as a fraction."""
    return {streams: truth[streams][pick] / min(truth[streams].values()) - 1 for streams, pick in picks.items()}


def is_right(picks: Mapping[int, str], truth: Ratios) -> bool:
    """Whether every pick is within 5 % of the best."""
    return all(loss <= WITHIN for loss in losses(picks, truth).values())


def main(arguments: Sequence[str]) -> int:
    """Measures, prints a line for each seed, and gives 0 where nine of ten were right."""
    folder = Path(arguments[0]) if arguments else Path("reports/tune-seeds")
    truth = ratios_of(_measured(folder / "long", LONG))
    right = 0
    for seed in SEEDS:
        tune = _measured(folder / f"seed-{seed}", (*SHORT, "--set", f"seed={seed}"))
        picks = {load.streams: load.pick for load in tune.loads if load.pick is not None}
        good = tune.picked and is_right(picks, truth)
        right += good
        worst = max(losses(picks, truth).values(), default=0.0)
        sys.stdout.write(f"seed {seed}: {picks}, worst {worst:.1%}, {tune.starts} starts, {'right' if good else 'WRONG'}\n")
    sys.stdout.write(f"{right} of {len(SEEDS)} seeds right\n")
    return 0 if right >= ENOUGH else 1


def _measured(folder: Path, words: Sequence[str]) -> Tune:
    if not folder.exists():
        command = [sys.executable, "-m", "specbench", "tune", SCENARIO, *words, "--out", str(folder), "-q"]
        subprocess.run(command, check=False)
    return read_tune(folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
