"""Two arms at random from a server of their samples: what errors are, what may be promoted, and going on after an end."""

from dataclasses import replace
from pathlib import Path

import pytest

from specbench.errors import DataError
from specbench.live.source import PrometheusServer, PrometheusSource
from specbench.live.state_folder import Recorded, StateFolder, WatchSettings, read_recorded, read_settings
from specbench.live.watch import WatchOrder, conclusion, watch
from specbench.live.watch_server import watch_verdict
from specbench.model.live.watch_result import LiveFinding, WatchResult, WatchRules
from tests.support.goldens import same_text
from tests.support.live import run
from tests.support.sampled import FAILED, SteadyArm, sampled

BASE, SPEC = SteadyArm("base", "gpu-a"), SteadyArm("spec", "gpu-b", tpot_s=0.008)


def order(url: str, errors: str | None, since_s: float = 40.0) -> WatchOrder:
    """A look at the last windows of a second, against a run that promoted these hosts."""
    known = None if errors is None else "none" if errors == "none" else "told"
    rules = WatchRules(assignment="random", errors=known)  # type: ignore[arg-type]
    server = PrometheusServer(url=url)
    return WatchOrder(
        settings=WatchSettings(speculative="spec", baseline="base", run="code-1", period_s=1.0, rules=rules),
        speculative=PrometheusSource(server, '{arm="spec"}', "vllm"),
        baseline=PrometheusSource(server, '{arm="base"}', "vllm"),
        server=server,
        run=run(),
        since_s=since_s,
        once=True,
        errors=None if errors == "none" else errors,
    )


def ignored(_: Recorded, __: WatchResult) -> None:
    """Nothing is done with a window."""


def errors_of(result: WatchResult) -> LiveFinding:
    """What the errors came to."""
    return next(found for found in result.findings if found.metric == "error_rate")


def test_a_faster_arm_without_more_errors_is_promoted() -> None:
    """The query names the arms as the selectors do, by the label `arm`."""
    with sampled(BASE, SPEC) as url:
        found = watch(order(url, FAILED), None, ignored)
    verdict = watch_verdict(found)

    assert (found.state, errors_of(found).state) == ("KEEP", "PASS")
    assert errors_of(found).windows >= 24
    assert (verdict["promote"], verdict["rollback"], verdict["exit_code"]) == (True, False, 0)


def test_without_errors_nothing_is_promoted() -> None:
    """Unless it is accepted by name that nobody knows them."""
    with sampled(BASE, SPEC) as url:
        untold = watch(order(url, None), None, ignored)
        accepted = watch(order(url, "none"), None, ignored)

    assert (untold.state, untold.promote, [one.code for one in untold.reasons]) == ("HOLD", False, ["errors_not_told"])
    assert (accepted.state, accepted.promote) == ("KEEP", True)


def test_more_errors_roll_back() -> None:
    """Eight of a hundred, where the baseline has none."""
    with sampled(BASE, replace(SPEC, failed=0.08)) as url:
        found = watch(order(url, FAILED), None, ignored)

    assert (found.state, errors_of(found).state) == ("ROLLBACK", "FAIL")


def test_errors_of_other_arms_are_refused_at_once() -> None:
    """The query calls them by other names than the selectors do."""
    with sampled(BASE, SPEC) as url:
        asked = order(url, f'{FAILED}{{names="others"}}')
        with pytest.raises(DataError) as error:
            watch(asked, None, ignored)

    same_text("errors of other arms", str(error.value))


def test_a_watch_that_ended_goes_on_where_it_was(tmp_path: Path) -> None:
    """With half a line of the one that was killed; the folder gives the same word again."""
    with sampled(BASE, SPEC) as url:
        with StateFolder(tmp_path, order(url, FAILED).settings) as state:
            first = watch(order(url, FAILED, since_s=30.0), state, ignored)
        with (tmp_path / "periods.jsonl").open("ab") as file:
            file.write(b'{"speculative": {"arm"')
        with StateFolder(tmp_path, order(url, FAILED).settings) as state:
            last = watch(order(url, FAILED, since_s=90.0), state, ignored)

    recorded = list(read_recorded(tmp_path))
    ends = [one.speculative.end_s for one in recorded]
    assert ends == sorted(set(ends))
    assert first.at_s <= last.at_s == ends[-1]
    assert conclusion(recorded, read_settings(tmp_path), run()) == last
