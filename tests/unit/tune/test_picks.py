"""From run folders to picks and a setting: what a tune holds on disk is all that its picks rest on."""

from dataclasses import replace
from pathlib import Path

import pytest

from specbench.analysis.judge import judge
from specbench.errors import DataError
from specbench.model.records import RunData
from specbench.model.result import Result
from specbench.model.tuning.tune_values import Candidate, LoadFigure, TriedCandidate
from specbench.report.terminal.tune_table import tune_table
from specbench.store import RunWriter, is_tune
from specbench.tune.picks import judged, read_tune, setting_of, write_tune
from tests.support.evidence import Effect, a_scenario, evidence
from tests.support.goldens import same_text
from tests.support.tunes import RATIOS, a_candidate, a_load, a_tune

LOADS = (1, 16)


def _run(depth: int) -> RunData:
    """Two series of two blocks at 1 and 16 streams, with the baseline's blocks in them."""
    scenario = a_scenario(LOADS, pairs=4)
    effects = {f"c{load}": Effect(tpot=RATIOS[depth][load], noise=0.01) for load in LOADS}
    return evidence(effects, scenario, requests=24)


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Result]]:
    """A tune's folder with the facts of both depths, and their results."""
    folder = tmp_path_factory.mktemp("tunes") / "t"
    folder.mkdir()
    results = {}
    for depth in RATIOS:
        run = _run(depth)
        writer = RunWriter(folder / f"depth-{depth}", run.manifest)
        for block in run.blocks:
            writer.block(block)
        for record in run.records:
            writer.request(record)
        writer.close()
        results[f"depth-{depth}"] = judge(run, "0")
    return folder, results


def test_the_deepest_is_picked_at_one_stream_and_off_at_sixteen(tuned: tuple[Path, dict[str, Result]]) -> None:
    """The table that follows ends at the highest load where depth 4 was picked."""
    found = judged(tuned[0], a_tune(), tuned[1])

    assert [(load.streams, load.pick) for load in found.loads] == [(1, "depth-4"), (16, "off")]
    assert {one.candidate: round(one.ratio or 0, 1) for one in found.loads[0].figures} == {
        "off": 1.0,
        "depth-1": 0.7,
        "depth-4": 0.5,
    }
    assert (found.picked, found.start_df) == (True, 4)
    assert found.setting is not None
    assert found.setting.rows == ((1, 1, 4), (2, 16, 0))


def test_a_tune_that_was_cut_off_has_picks_so_far_and_never_a_setting(tuned: tuple[Path, dict[str, Result]]) -> None:
    """Nothing finished: partial, and no setting."""
    found = judged(tuned[0], a_tune(finished=None), tuned[1])

    assert (found.picked, found.setting, [load.pick for load in found.loads]) == (False, None, ["depth-4", "off"])


def test_a_measurement_that_cannot_be_trusted_is_no_pick(tuned: tuple[Path, dict[str, Result]]) -> None:
    """Depth 4 is void at one stream: depth 1 is picked. All void there: nothing is, and the tune is INVALID."""
    folder, results = tuned

    def void(result: Result) -> Result:
        cell = next(cell for cell in result.cells if cell.axes.concurrency == 1)
        broken = replace(cell, integrity=(replace(cell.integrity[0], ok=False), *cell.integrity[1:]))
        return replace(result, cells=tuple(broken if one is cell else one for one in result.cells))

    one = judged(folder, a_tune(), {**results, "depth-4": void(results["depth-4"])})
    all_of_them = judged(folder, a_tune(), {name: void(result) for name, result in results.items()})

    assert one.loads[0].pick == "depth-1"
    assert (all_of_them.loads[0].pick, all_of_them.picked, all_of_them.setting) == (None, False, None)


def test_a_failed_candidate_is_no_pick(tuned: tuple[Path, dict[str, Result]]) -> None:
    """One that died is out at every load; the others go on."""
    tune = a_tune()
    dead = replace(tune.candidates[1], state="failed", reason="the engine exited with code 1")
    found = judged(tuned[0], replace(tune, candidates=(tune.candidates[0], dead)), tuned[1])

    assert [load.pick for load in found.loads] == ["depth-1", "off"]


def test_a_table_is_of_one_method() -> None:
    """At 4 streams lookup was picked: the table has the best depth of the method of the primary load there."""
    lookup = TriedCandidate(
        candidate=Candidate(name="ngram-2", depth=2, speculative={"method": "ngram", "num_speculative_tokens": 2}),
        state="tried",
        series=2,
    )
    tune = a_tune()
    whole = replace(
        tune,
        candidates=(*tune.candidates, lookup),
        loads=(
            a_load(1, "depth-4", off=1.0, depth_1=0.7, depth_4=0.5, ngram_2=0.6),
            a_load(4, "ngram-2", off=1.0, depth_1=0.8, depth_4=0.9, ngram_2=0.5),
        ),
    )
    setting = setting_of(whole)

    assert setting.rows == ((1, 1, 4), (2, 4, 1), (5, 512, 0))
    assert (setting.speculative or {})["method"] == "draft_model"


def test_of_a_throughput_the_highest_is_the_best() -> None:
    """Depth 1 wins by 40 % at four streams, where it is within 2 % of what depth 4 has at one: no table is needed."""
    rules = replace(a_tune().rules, metric="output_tps")
    loads = (a_load(1, "depth-4", off=1.0, depth_1=1.79, depth_4=1.8), a_load(4, "depth-1", off=1.0, depth_1=1.4, depth_4=1.1))
    setting = setting_of(a_tune(rules=rules, loads=loads))

    assert (setting.kind, setting.speculative) == ("static", {"method": "draft_model", "num_speculative_tokens": 1})


def test_the_terminal_shows_a_row_a_load_and_a_column_a_depth() -> None:
    """At most 80 columns; what was ruled out is in brackets; a partial one and one without any pick say so."""
    out = LoadFigure(candidate="depth-4", ratio=1.31, ruled_out="tpot_p95")
    loads = (
        a_load(1, "depth-4", off=1.0, depth_1=0.66, depth_4=0.48),
        replace(a_load(16, "off", off=1.0, depth_1=1.04), figures=(*a_load(16, "off", off=1.0, depth_1=1.04).figures, out)),
    )
    whole = a_tune(loads=loads, start_sd=0.012, start_df=4, settled=True)
    whole = replace(whole, setting=setting_of(whole))
    texts = {
        "picked": tune_table(whole, "reports/t"),
        "partial": tune_table(replace(whole, finished=None, setting=None), "reports/t"),
        "unsure": tune_table(replace(whole, settled=False), "reports/t"),
        "nothing": tune_table(replace(whole, loads=(replace(loads[0], pick=None, sure=None),), setting=None), "reports/t"),
        "many": tune_table(
            replace(
                whole,
                candidates=tuple(a_candidate(depth) for depth in range(1, 9)),
            ),
            "reports/t",
        ),
    }

    for name, text in texts.items():
        same_text(name, text)
        assert max(len(line) for line in text.splitlines() if not line.startswith("speculative:")) <= 80


def test_a_long_name_of_a_candidate_keeps_its_depth_in_a_narrow_column() -> None:
    """Two depths of one method must not look alike."""
    names = ("draft_model-4", "draft_model-16")
    tried = [a_candidate(depth) for depth in (4, 16)]
    tried = [replace(one, candidate=replace(one.candidate, name=name)) for one, name in zip(tried, names, strict=True)]
    figures = tuple(
        LoadFigure(candidate=name, ratio=ratio) for name, ratio in (("off", 1.0), *zip(names, (0.48, 0.52), strict=True))
    )
    load = replace(a_load(1, "draft_model-4"), figures=figures)
    lines = tune_table(a_tune(candidates=tuple(tried), loads=(load,)), "reports/t").splitlines()
    at = next(place for place, line in enumerate(lines) if "streams" in line and "off" in line)

    assert lines[at].split() == ["streams", "off", "draft…-4", "draf…-16", "pick", "sure"]
    assert lines[at + 1].split()[-3:] == ["draft_m…-4", "97", "%"]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """And a damaged file, another version and no file are one line."""
    tune = a_tune(loads=(a_load(1, "depth-4", off=1.0, depth_4=0.5),))
    write_tune(tmp_path, tune)

    assert (read_tune(tmp_path), is_tune(tmp_path), is_tune(tmp_path / "none")) == (tune, True, False)
    (tmp_path / "tune.json").write_text('{"format_version": 2}')
    with pytest.raises(DataError, match="format version 2"):
        read_tune(tmp_path)
    (tmp_path / "tune.json").write_text("{")
    with pytest.raises(DataError, match="damaged"):
        read_tune(tmp_path)
    with pytest.raises(DataError, match=r"no tune\.json in it"):
        read_tune(tmp_path / "none")
