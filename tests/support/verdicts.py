"""Runs that end in eleven different verdicts, and the sentences that each of them says: `python -m tests.support.verdicts`."""

import textwrap
from collections.abc import Callable
from dataclasses import replace

from specbench.analysis.judge import judge
from specbench.model.records import RunData
from specbench.model.result import Result
from specbench.model.scenario import Bin, Scenario
from tests.support.evidence import NONE, Effect, a_manifest, a_scenario, an_arm, cells_for, evidence

WINS, TIES, LOSES = Effect(tpot=0.6), Effect(tpot=1.0, tokens_per_step=1), Effect(tpot=1.5)


def _run(effects: Effect | dict[str, Effect], scenario: Scenario | None = None, **fields: Effect) -> RunData:
    return evidence(effects, scenario or a_scenario(), requests=24, **fields)  # type: ignore[arg-type]


def _late_client(run: RunData) -> RunData:
    slow = [replace(b, health=replace(b.health, cpu_share=0.97)) if b.cell == "c16" else b for b in run.blocks]
    return replace(run, blocks=tuple(slow))


def _sliced() -> RunData:
    scenario = a_scenario([1, 16])
    bins = tuple(Bin(name=name, input_tokens=(32, 64), output_tokens=(32, 64), weight=1.0) for name in ("edit", "prose"))
    scenario = replace(
        scenario,
        workload=replace(scenario.workload, bins=bins),
        matrix=replace(scenario.matrix, traffic="separate"),
    )
    return _run({cell.id: WINS if cell.bin == "edit" else LOSES for cell in cells_for(scenario)}, scenario)


def _two_places() -> RunData:
    return _run(WINS, a_scenario([1, 4], baseline=an_arm("http://gpu1:8000"), speculative=an_arm("http://gpu2:8000")))


def _refused() -> RunData:
    refusal = "arms.speculative: http://gpu2:8000 serves llama-3-70b, not llama-3-8b"
    return RunData(manifest=a_manifest(a_scenario()), blocks=(), records=(), finished="2026-01-01T00:00:09Z", problems=(refusal,))


NOISY = Effect(tpot=0.97, noise=0.3, tokens_per_step=1)
RUNS: dict[str, Callable[[], RunData]] = {
    "PROMOTE: it wins everywhere": lambda: _run(WINS),
    "CAPPED: it loses under load": lambda: _run({"c1": WINS, "c4": WINS, "c16": LOSES}),
    "CAPPED: only some slices win": _sliced,
    "HOLD: no gain": lambda: _run(TIES),
    "HOLD: too little evidence": lambda: _run(NOISY, a_scenario([1], pairs=4), baseline=replace(NONE, noise=0.3)),
    "HOLD: two places": _two_places,
    "HOLD: the run ended early": lambda: replace(_run(WINS), finished=None),
    "ROLLBACK: requests fail": lambda: _run(Effect(fails=0.08)),
    "ROLLBACK: it is slower where it should win": lambda: _run({"c1": LOSES, "c4": WINS, "c16": WINS}),
    "INVALID: the client was late": lambda: _late_client(_run(WINS)),
    "INVALID: refused before load": _refused,
}


def every_run() -> dict[str, Result]:
    """The results, by what happened."""
    return {name: judge(run(), "0") for name, run in RUNS.items()}


def said() -> str:
    """Each verdict with its sentences, as plain text of at most 110 columns."""
    lines = []
    for name, result in every_run().items():
        lines.append(f"{name}: {result.verdict}, exit code {result.exit_code}")
        lines += [
            textwrap.fill(reason.message, 110, initial_indent="  - ", subsequent_indent="    ") for reason in result.reasons
        ]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    print(said())  # noqa: T201  (this is what the script is for)
