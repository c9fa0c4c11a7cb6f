"""The simulated worlds are what their knobs say: shared steps, memory, stalls, drift, tokens per step, the same prompts."""

from dataclasses import replace

import numpy as np
import pytest

from specbench.analysis.arrays.events import Floats
from specbench.calibrate.simulators import (
    BASELINE,
    Load,
    NoiseModel,
    Streams,
    Treatment,
    accepted_tokens,
    block_factors,
    prompts_of,
    random_of,
    simulate,
    step_factors,
)
from specbench.units import NS_PER_MS

QUIET = NoiseModel(step_sd=0.0, block_sd=0.0)
LOAD = Load(streams=4, pairs=3, steps=150, answer=(16, 24))


def a_run(world: NoiseModel = QUIET, treatment: Treatment = BASELINE, load: Load = LOAD, seed: int = 1) -> Streams:
    """One arm of one cell."""
    prompts = prompts_of(world, load, random_of(seed, "prompts"))
    return simulate(world, load, treatment, prompts, random_of(seed, "machine"), speculative=False)


def gaps_ms(streams: Streams) -> Floats:
    """Times between consecutive events of a request."""
    of_request = np.repeat(np.arange(len(streams.block)), np.diff(streams.first_event))
    same = of_request[1:] == of_request[:-1]
    gaps: Floats = np.diff(streams.time_ns)[same] / NS_PER_MS
    return gaps


def test_a_quiet_machine_takes_its_step_time_for_every_token() -> None:
    """Without noise each gap is 10 ms; a treatment of 1.3 makes it 13 ms."""
    assert gaps_ms(a_run()) == pytest.approx(10.0)
    assert gaps_ms(a_run(treatment=Treatment(step_ratio=1.3))) == pytest.approx(13.0)


def test_the_same_seed_gives_the_same_streams_and_another_does_not() -> None:
    """Everything is drawn from the generators that are passed in."""
    first, again, other = a_run(NoiseModel()), a_run(NoiseModel()), a_run(NoiseModel(), seed=2)

    assert np.array_equal(first.time_ns, again.time_ns)
    assert np.array_equal(first.index, again.index)
    assert not np.array_equal(first.time_ns[:50], other.time_ns[:50])


def test_each_answer_holds_the_tokens_of_its_prompt_however_many_a_step_brings() -> None:
    """Request k of a stream asks for the k-th prompt in both arms, and the last step is cut where the answer ends."""
    prompts = prompts_of(QUIET, LOAD, random_of(1, "prompts"))
    for treatment in (BASELINE, Treatment(alpha=0.7)):
        streams = a_run(treatment=treatment)
        tokens = np.add.reduceat(streams.tokens, streams.first_event[:-1])
        stream, turn = streams.index % LOAD.streams, streams.index // LOAD.streams

        assert np.array_equal(tokens, prompts.lengths[streams.block, stream, turn])
        assert (streams.tokens >= 1).all()


def test_streams_of_a_block_share_its_steps() -> None:
    """All events of a block happen at the ends of the same machine's steps."""
    streams = a_run(NoiseModel())
    moments = streams.time_ns[np.repeat(streams.block, np.diff(streams.first_event)) == 0]
    steps = np.unique(moments)

    assert len(moments) > 2 * len(steps)
    assert np.diff(steps).min() > 5 * NS_PER_MS


def test_streams_share_nothing_where_every_token_is_its_own() -> None:
    """With noise of its own each stream has its own moments."""
    moments = a_run(NoiseModel(step_sd=0.0, block_sd=0.0, own_sd=0.3)).time_ns

    assert len(np.unique(moments)) > 0.99 * len(moments)


def test_steps_remember_and_stall_as_often_as_they_are_told_to() -> None:
    """Correlation .95 and a spread of .12 in the logarithm; 3 % of the steps 2.5 times as long; no bias in the mean."""
    world = NoiseModel(step_sd=0.12, step_memory=0.95)
    logs = np.log(step_factors(world, (20, 20_000), random_of(1, "steps")))
    stalled = step_factors(NoiseModel(step_sd=0.0, stall_share=0.03), (10, 10_000), random_of(1, "stalls"))

    assert np.corrcoef(logs[:, 1:].ravel(), logs[:, :-1].ravel())[0, 1] == pytest.approx(0.95, abs=0.005)
    assert logs.std() == pytest.approx(0.12, abs=0.004)
    assert np.exp(logs).mean() == pytest.approx(1.0, abs=0.005)
    assert (stalled == 2.5).mean() == pytest.approx(0.03, abs=0.002)


def test_drift_falls_on_both_arms_alike_because_they_alternate() -> None:
    """Over ten pairs a drift of 4 % leaves no mean difference between the arms, and every block has its place in the run."""
    world = NoiseModel(block_sd=0.0, drift=0.04)
    logs = [np.log(block_factors(world, 10, speculative, random_of(1))) for speculative in (False, True)]

    assert (logs[1] - logs[0]).mean() == pytest.approx(0.0, abs=1e-12)
    assert sorted(np.concatenate(logs)) == pytest.approx([0.04 * place / 19 for place in range(20)])


def test_accepted_tokens_fall_off_as_a_chain_does() -> None:
    """With .7 at each of four positions, 1 + accepted is (1 - .7^5) / (1 - .7) tokens a round on average, at most 5."""
    accepted = accepted_tokens(np.full(4, 0.7), (200_000,), random_of(1))

    assert 1 + accepted.mean() == pytest.approx((1 - 0.7**5) / 0.3, abs=0.01)
    assert accepted.max() == 4


def test_a_requests_own_slowness_scales_all_its_gaps() -> None:
    """With only that, every request has one gap, and requests differ from each other."""
    streams = a_run(replace(QUIET, request_sd=0.3))
    spans = [np.ptp(np.diff(streams.time_ns[a:b])) for a, b in zip(streams.first_event, streams.first_event[1:], strict=False)]

    assert max(spans) <= 2  # nanoseconds of rounding
    assert np.log(gaps_ms(streams)).std() == pytest.approx(0.3, abs=0.1)


def test_the_first_token_waits_for_the_prefill_and_the_end_of_a_step() -> None:
    """The median is the usual prefill and half a step; a ratio of 2 doubles the prefill."""
    usual, twice = (
        np.median(streams.time_ns[streams.first_event[:-1]] - streams.sent_ns) / NS_PER_MS
        for streams in (a_run(), a_run(treatment=Treatment(ttft_ratio=2.0)))
    )

    assert usual == pytest.approx(105, abs=8)
    assert twice == pytest.approx(205, abs=16)
