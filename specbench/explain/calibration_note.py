"""How often whole verdicts erred in simulated runs with known effects, said beside a verdict.

The counts are those of docs/calibration.md, which a command makes; a test holds the two together.
"""

from dataclasses import dataclass

from specbench.explain import numbers


@dataclass(frozen=True, slots=True)
class Calibrated:
    """`hits` of `runs`, summed over these rows of the table; `said` puts both into words."""

    said: str
    hits: int
    runs: int
    rows: tuple[str, ...]


CALIBRATED = {
    "PROMOTE": Calibrated(
        "of {runs} simulated runs of equal arms {hits} ended in PROMOTE or CAPPED",
        0,
        1000,
        ("A/A over 12 cells ends in PROMOTE or CAPPED",),
    ),
    "CAPPED": Calibrated(
        "of {runs} simulated runs of arms that do harm at the highest load {hits} had a cap that let it through",
        0,
        600,
        ("wins to 8 streams, +30 % at 16: enabled at 16", "wins to 8, at the margin of +10 % at 16: enabled at 16"),
    ),
    "HOLD": Calibrated(
        "of {runs} simulated runs with a true gain of 25 % {hits} ended in PROMOTE",
        298,
        300,
        ("a true win in 12 cells (TPOT −25 %, TTFT +2 %): PROMOTE",),
    ),
    "ROLLBACK": Calibrated(
        "of {runs} simulated runs of equal arms {hits} ended in ROLLBACK",
        0,
        1000,
        ("A/A over 12 cells ends in ROLLBACK",),
    ),
}


def whole_verdicts(verdict: str) -> str:
    """How often runs of the standard profile came out as this verdict though they should not have, or as they should."""
    known = CALIBRATED[verdict]
    said = known.said.format(runs=numbers.count(known.runs), hits=numbers.count(known.hits) if known.hits else "none")
    where = "docs/calibration.md of specbench; `specbench calibrate` measures it anew"
    return f"Whole verdicts: in the standard profile, {said} ({where})."
