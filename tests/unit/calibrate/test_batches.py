"""Campaigns are made in parts that resume, and the same code makes the same bytes."""

import json
from pathlib import Path

import pytest

from specbench.calibrate import calibrate
from specbench.calibrate.batches import RunBatch, batches_of, chosen, make_batch, outcomes_in, run_batches
from specbench.calibrate.campaigns import CAMPAIGNS
from specbench.errors import ScenarioError

SMALL = "fault-none"


def nothing(line: str) -> None:
    """Takes a line of progress and drops it."""


def test_parts_cover_every_campaign_once() -> None:
    """Each number from 0 to the count lies in exactly one part; with a limit, the first ones only."""
    for campaign in CAMPAIGNS:
        numbers = [n for part in batches_of([campaign]) for n in range(part.first, part.last)]
        assert numbers == list(range(campaign.count))
        few = [n for part in batches_of([campaign], 7) for n in range(part.first, part.last)]
        assert few == list(range(min(7, campaign.count)))


def test_names_of_campaigns_are_distinct() -> None:
    """A name says which seed a campaign has, so no two may share it."""
    assert len({campaign.name for campaign in CAMPAIGNS}) == len(CAMPAIGNS)


def test_a_part_that_is_there_is_kept_and_the_rest_is_made(tmp_path: Path) -> None:
    """A second call makes only what is missing."""
    parts = batches_of(chosen([SMALL], real=False), 2)
    said: list[str] = []
    run_batches(tmp_path, parts, 1, said.append)
    kept = (tmp_path / parts[0].file).read_bytes()
    run_batches(tmp_path, [*parts, RunBatch("fault-starved", 0, 1)], 1, said.append)

    assert said == [f"1 of 1 parts: {parts[0].file}", "1 of 1 parts: fault-starved.0000-0001.json"]
    assert (tmp_path / parts[0].file).read_bytes() == kept


def test_the_same_part_made_again_has_the_same_bytes(tmp_path: Path) -> None:
    """In another folder, and beside others."""
    files = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        files.append((tmp_path / name / make_batch(tmp_path / name, RunBatch("slower-5", 3, 5))).read_bytes())

    assert files[0] == files[1]


def test_a_part_that_other_code_made_does_not_count(tmp_path: Path) -> None:
    """Its outcomes may not be those of this version."""
    part = RunBatch(SMALL, 0, 1)
    make_batch(tmp_path, part)
    assert len(outcomes_in(tmp_path, [part])[SMALL]) == 1

    content = json.loads((tmp_path / part.file).read_text())
    (tmp_path / part.file).write_text(json.dumps(content | {"code": "older"}))

    assert outcomes_in(tmp_path, [part])[SMALL] == []


def test_campaigns_are_chosen_by_the_beginning_of_their_names() -> None:
    """Simulated ones by default; those over sockets where they are asked for or named; a name of none is refused."""
    assert not any(campaign.real for campaign in chosen([], real=False))
    assert any(campaign.real for campaign in chosen([], real=True))
    assert [campaign.name for campaign in chosen(["sockets-aa"], real=False)] == ["sockets-aa"]
    assert {campaign.name for campaign in chosen(["cap-"], real=False)} == {"cap-clear", "cap-edge"}
    with pytest.raises(ScenarioError, match="nonsense: no campaign begins so"):
        chosen(["nonsense"], real=False)


def test_the_table_is_written_beside_its_parts(tmp_path: Path) -> None:
    """What was not run is said to be so; the two processes agree with one."""
    table = calibrate(tmp_path / "one", [SMALL], nothing, jobs=1, most=2)
    other = calibrate(tmp_path / "two", [SMALL], nothing, jobs=2, most=2)

    assert "| fault “none”: PROMOTE | at least 99 % | 2 | 2 of 2: 100 %" in table.read_text()
    assert "not run" in table.read_text()
    assert table.read_bytes() == other.read_bytes()
