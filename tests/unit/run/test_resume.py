"""A run that was interrupted goes on where it was, as what it was, and spends its error once."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from specbench import __version__
from specbench.analysis.verdict.interim import alpha_now, with_this_look
from specbench.errors import DataError, RefusedError, ScenarioError
from specbench.model.records import RunData
from specbench.model.scenario import Scenario
from specbench.plan.trials import Trial, cells_of, trials_of
from specbench.run.early_stopping import EarlyStopping
from specbench.run.resume import check_same_endpoints, check_same_scenario, interrupted_run, stored_scenario
from specbench.store import FORMAT_VERSION, Ending, RunWriter, read_run
from tests.support.evidence import NONE, ONE_CELL, a_manifest, a_scenario, evidence

NOW = "2026-01-01T02:00:00Z"
TWO_LOADS = a_scenario([1, 4], pairs=4)


def a_run(scenario: Scenario) -> RunData:
    """An A/A of this scenario that this version measured."""
    whole = evidence(NONE, scenario, requests=6)
    return replace(whole, manifest=replace(whole.manifest, format_version=FORMAT_VERSION, tool_version=__version__))


def written(folder: Path, run: RunData, blocks: int) -> Path:
    """The folder of a run that was killed after so many blocks and one record more."""
    with closing(RunWriter(folder, run.manifest)) as writer:
        append(writer, run, 0, blocks)
        nth = run.blocks[blocks : blocks + 1]
        for record in [record for record in run.records if nth and record.block == nth[0].id][:1]:
            writer.request(record)
    return folder


def append(writer: RunWriter, run: RunData, first: int, last: int) -> None:
    """Writes the blocks from `first` to `last` with their records."""
    for block in run.blocks[first:last]:
        for record in run.records:
            if record.block == block.id:
                writer.request(record)
        writer.block(block)


def names(trials: Sequence[Trial]) -> list[str]:
    """The blocks by their names."""
    return [trial.block_id for trial in trials]


def test_it_goes_on_with_the_first_pair_that_lacks_a_block(tmp_path: Path) -> None:
    """Blocks of the pair that was under way come again, both of them, as another attempt with prompts of its own."""
    folder = tmp_path / "run"
    scenario = replace(TWO_LOADS, baseline=replace(TWO_LOADS.baseline, url="http://a"))
    trials = trials_of(scenario, cells_of(scenario))
    run = a_run(scenario)
    by_name = {block.id: block for block in run.blocks}
    planned = replace(run, blocks=tuple(by_name[name] for name in names(trials)))
    left = interrupted_run(written(folder, planned, 5)).remaining(trials)

    assert names(left) == [f"{name}/a2" for name in names(trials)[4:6]] + names(trials)[6:]
    assert {trial.place for trial in left[:2]} == {f"{trials[4].place}/a2"}
    assert {trial.launch for trial in left if trial.arm == "baseline"} == {0}
    assert {trial.launch for trial in left if trial.arm == "speculative"} == {1}


def test_half_a_line_is_cut_off_before_the_next_is_written(tmp_path: Path) -> None:
    """Or else the first record after the gap would be lost with it."""
    run = a_run(ONE_CELL)
    folder = written(tmp_path / "run", run, 2)
    for name in ("requests.jsonl", "blocks.jsonl"):
        with (folder / name).open("ab") as file:
            file.write(b'{"block": "c4/p01')
    with closing(RunWriter.reopened(folder, NOW)) as writer:
        append(writer, run, 2, 4)
    read = read_run(folder)

    assert (len(read.blocks), read.resumed, read.problems) == (
        4,
        1,
        ("requests.jsonl: 1 line is a copy and counted once (request 0 of c4/p01/baseline)",),
    )
    assert len(read.records) == sum(record.block.startswith(("c4/p00", "c4/p01")) for record in run.records)


def test_ten_resumes_of_an_aa_spend_alpha_once(tmp_path: Path) -> None:
    """Killed after every pair, and once more right after each look: the looks are those of a run that was never interrupted."""
    run = a_run(ONE_CELL)
    trials = trials_of(ONE_CELL, cells_of(ONE_CELL))
    folder = written(tmp_path / "run", run, 0)
    resumes, taken = 0, []
    for pair in range(10):
        for _ in ("as it measures", "as it looks"):
            looking = EarlyStopping(folder, 10, list(read_run(folder).looks))
            with closing(RunWriter.reopened(folder, NOW)) as writer:
                looking.note = writer.look
                append(writer, run, 2 * pair, 2 * pair + 2) if not writer_has(folder, pair) else None
                looking.settled(trials[2 * pair + 2 :])
            taken.append(tuple(looking.looks))
            resumes += 1
    evidence_now = read_run(folder)
    uninterrupted = replace(evidence_now, looks=(4, 6, 8, 10))

    assert resumes == evidence_now.resumed == 20
    assert evidence_now.looks == (4, 6, 8, 10)
    assert alpha_now(evidence_now) == alpha_now(uninterrupted)
    assert taken[6] == (4,)


def writer_has(folder: Path, pair: int) -> bool:
    """Whether that pair's blocks are there."""
    return any(block.pair == pair for block in read_run(folder).blocks)


def test_a_run_cut_off_between_looks_is_judged_by_the_level_of_one_more(tmp_path: Path) -> None:
    """Seven pairs after looks at four and six: not all of alpha, though the end was not reached."""
    run = a_run(ONE_CELL)
    folder = written(tmp_path / "run", run, 14)
    with closing(RunWriter.reopened(folder, NOW)) as writer:
        writer.look(4)
        writer.look(6)
    looked = with_this_look(read_run(folder))

    assert looked.looks == (4, 6, 7)
    assert alpha_now(looked) < 0.05


def test_a_finished_run_is_not_resumed(tmp_path: Path) -> None:
    """It has its result."""
    folder = written(tmp_path / "run", a_run(ONE_CELL), 4)
    with closing(RunWriter.reopened(folder, NOW)) as writer:
        writer.finish(Ending(NOW, ()))
    with pytest.raises(DataError, match=r"is a run that ended \(2026-01-01T02:00:00Z\)"):
        interrupted_run(folder)


@pytest.mark.parametrize(("how", "resumed"), [("was ended by SIGKILL", True), ("was ended by SIGSEGV", False)])
def test_a_run_whose_engine_died_goes_on_only_where_the_kill_came_from_outside(tmp_path: Path, how: str, resumed: bool) -> None:
    """A crash is the run's result; after a kill the pair is measured again, and the run's end is taken back."""
    run = a_run(ONE_CELL)
    died = replace(run, blocks=(*run.blocks[:3], replace(run.blocks[3], engine_exit=how)))
    folder = written(tmp_path / "run", died, 4)
    with closing(RunWriter.reopened(folder, NOW)) as writer:
        writer.finish(Ending(NOW, ("the engine died",)))
    if not resumed:
        with pytest.raises(DataError, match="engine was ended by SIGSEGV"):
            interrupted_run(folder)
        return
    left = interrupted_run(folder).remaining(trials_of(ONE_CELL, cells_of(ONE_CELL)))
    with closing(RunWriter.reopened(folder, NOW)):
        pass

    assert {trial.block_id for trial in left if trial.pair == 1} == {"c4/p01/baseline/a2", "c4/p01/speculative/a2"}
    assert read_run(folder).finished is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tool_version": "0.0.9"}, "was measured by specbench 0.0.9"),
        ({"format_version": 1}, "has format version 1"),
    ],
)
def test_a_run_of_another_version_is_not_resumed(tmp_path: Path, change: dict[str, object], said: str) -> None:
    """Its figures may not be these."""
    run = a_run(ONE_CELL)
    folder = written(tmp_path / "run", replace(run, manifest=replace(run.manifest, **change)), 2)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=said):
        interrupted_run(folder)


def test_what_is_no_run_is_not_resumed(tmp_path: Path) -> None:
    """An empty folder, and one that is not there."""
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(DataError, match=r"no manifest\.json in it"):
            interrupted_run(folder)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (replace(TWO_LOADS, matrix=replace(TWO_LOADS.matrix, pairs=8)), "matrix.pairs is 8, and was 4"),
        (replace(TWO_LOADS, seed=9), "seed is 9, and was 1"),
        (replace(TWO_LOADS, sha256="f" * 64, alpha=0.1), "alpha is 0.1, and was 0.05"),
        (replace(TWO_LOADS, sha256="f" * 64), "sha256 is ffff"),
        (
            replace(TWO_LOADS, speculative=replace(TWO_LOADS.speculative, speculative={"method": "ngram"})),
            "speculative.speculative.method",
        ),
    ],
)
def test_another_scenario_is_refused_with_its_first_difference(tmp_path: Path, other: Scenario, said: str) -> None:
    """What its text says comes before that it is another text."""
    run = interrupted_run(written(tmp_path / "run", a_run(TWO_LOADS), 2))
    with pytest.raises(ScenarioError, match=said):
        check_same_scenario(run, other, None)
    check_same_scenario(run, replace(TWO_LOADS, path="elsewhere/known.yaml", flags=("--set", "x=1")), "budget")


def test_looks_are_not_begun_half_way(tmp_path: Path) -> None:
    """A run that was to look once is not looked at often, now that it is half known."""
    run = interrupted_run(written(tmp_path / "run", a_run(TWO_LOADS), 2))
    with pytest.raises(ScenarioError, match="--until is resolved, and was budget"):
        check_same_scenario(run, TWO_LOADS, "resolved")


def test_endpoints_that_changed_are_refused(tmp_path: Path) -> None:
    """Another version of an engine would be in half of the pairs."""
    run = interrupted_run(written(tmp_path / "run", a_run(TWO_LOADS), 2))
    same = a_manifest(TWO_LOADS).endpoints
    check_same_endpoints(run, same, None)
    moved = replace(same[0], url="http://127.0.0.1:9999")
    check_same_endpoints(run, (moved, same[1]), None)
    for change, said in (
        ({"engine_version": "2"}, "arms.baseline: engine_version is 2, and was 1"),
        ({"facts": {**same[0].facts, "dtype": "fp8"}}, "arms.baseline: facts.dtype is fp8, and was not set"),
    ):
        with pytest.raises(RefusedError, match=said):
            check_same_endpoints(run, (replace(same[0], **change), same[1]), None)


def test_a_scenario_that_lost_a_secret_is_asked_for(tmp_path: Path) -> None:
    """What the folder keeps is not what was sent."""
    hidden = replace(TWO_LOADS, labels={"team": "a", "note": "********"})
    run = interrupted_run(written(tmp_path / "run", a_run(hidden), 2))
    with pytest.raises(ScenarioError, match="was not kept; name the file too"):
        stored_scenario(run)


def test_two_at_one_folder_are_refused(tmp_path: Path) -> None:
    """The second to resume finds the first at work."""
    folder = written(tmp_path / "run", a_run(ONE_CELL), 2)
    with closing(RunWriter.reopened(folder, NOW)), pytest.raises(DataError, match="another specbench writes there"):
        RunWriter.reopened(folder, NOW)
