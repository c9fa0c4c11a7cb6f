"""The engine on a simulated clock takes the time of its own roofline, and drafts stand as often as measured."""

import numpy as np
import pytest

from specbench.calibrate import engine_simulation
from specbench.calibrate.engine_simulation import PER_POSITION, PLAIN, SPECULATIVE, SimulatedArm, engine_streams
from specbench.calibrate.simulators import NoiseModel, Streams
from specbench.engine.core.setup import machine_of
from specbench.engine.timing.roofline import Part, step_s
from specbench.units import NS_PER_MS, NS_PER_S


@pytest.fixture
def no_jitter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same world without any noise."""
    monkeypatch.setattr(engine_simulation, "JITTER", NoiseModel(step_sd=0.0, block_sd=0.0))


def usual_gap_ms(streams: Streams) -> float:
    """The median time between consecutive events of a request."""
    gaps = np.diff(streams.time_ns)
    gaps[streams.first_event[1:-1] - 1] = 0
    return float(np.median(gaps[gaps > 0])) / NS_PER_MS


@pytest.mark.usefixtures("no_jitter")
def test_a_plain_step_takes_what_the_roofline_says() -> None:
    """One stream that decodes alone: the roofline of one token after some 100 others; 20 % longer where an arm is slowed."""
    step_ms = 1000 * step_s(machine_of(None), [Part(1, 110, 1, 0, False)])

    assert usual_gap_ms(engine_streams(PLAIN, 1, ("test", 0), "baseline")) == pytest.approx(step_ms, rel=0.005)
    assert usual_gap_ms(engine_streams(SimulatedArm(False, 1.2), 1, ("test", 0), "baseline")) == pytest.approx(
        1.2 * step_ms, rel=0.005
    )


def test_a_speculative_step_brings_what_the_measured_acceptance_says() -> None:
    """1 + the sum of the shares up to each position; in the four steps after the first no answer of 24 tokens can end."""
    streams = engine_streams(SPECULATIVE, 4, ("test", 0), "speculative")
    begun_inside = np.flatnonzero(streams.index >= 4)
    early = streams.first_event[begun_inside][:, None] + np.arange(1, 5)

    assert streams.tokens[early].mean() == pytest.approx(1 + sum(PER_POSITION), abs=0.12)


def test_all_requests_that_began_before_the_end_of_the_window_are_there_once() -> None:
    """The closed loop of 4 streams: indices of a block have no gap but at the end, and every answer is whole."""
    streams = engine_streams(PLAIN, 4, ("test", 1), "baseline")

    assert (streams.sent_ns < streams.close_ns[0]).all()
    assert (np.add.reduceat(streams.tokens, streams.first_event[:-1])[4:] >= 1).all()
    for block in range(10):
        ours = streams.index[streams.block == block]
        assert len(np.unique(ours)) == len(ours)
        assert set(range(int(ours.max()) - 8)) <= set(ours.tolist())


def test_a_run_is_fixed_by_its_number_and_effects_end_as_they_should() -> None:
    """One run of each effect."""
    assert engine_simulation.engine_aa(0)["verdict"] == "HOLD"
    assert engine_simulation.engine_aa(0) == engine_simulation.engine_aa(0)
    assert engine_simulation.engine_slower(0)["verdict"] == "ROLLBACK"
    assert engine_simulation.engine_faster(0)["verdict"] == "PROMOTE"
    capped = engine_simulation.engine_capped(0)
    assert (capped["verdict"], capped["cap"]) == ("CAPPED", 1)


def test_the_window_lasts_200_plain_steps() -> None:
    """For both arms alike: the speculative arm's steps are longer, its window is not."""
    plain, drafting = (engine_streams(arm, 4, ("test", 2), "baseline") for arm in (PLAIN, SPECULATIVE))
    step = step_s(machine_of(None), [Part(1, 100, 1, 0, False)] * 4)

    assert plain.close_ns.tolist() == drafting.close_ns.tolist()
    assert (plain.close_ns - plain.open_ns) / NS_PER_S == pytest.approx(200 * step)


def test_a_request_that_comes_during_a_step_waits_for_its_end() -> None:
    """Beside three others its first token is none of the step that was under way when it was sent."""
    streams = engine_streams(PLAIN, 4, ("waits", 0), "baseline")
    first_ns, last_event = streams.time_ns[streams.first_event[:-1]], streams.first_event[1:]
    waited = []
    for block in np.unique(streams.block):
        of_block = np.flatnonzero(streams.block == block)
        ends_ns = np.unique(np.concatenate([streams.time_ns[streams.first_event[i] : last_event[i]] for i in of_block]))
        later = of_block[streams.sent_ns[of_block] > ends_ns[0]]
        waited += [np.count_nonzero((ends_ns > streams.sent_ns[i]) & (ends_ns < first_ns[i])) for i in later]

    assert len(waited) > 100
    assert np.mean(np.array(waited) >= 1) > 0.95
