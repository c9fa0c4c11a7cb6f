"""The health of a block that several workers drove: the worst of them counts. Pure."""

from collections.abc import Callable, Sequence
from functools import partial

from specbench.model.records import GeneratorHealth

NO_HEALTH = GeneratorHealth(
    cpu_share=None,
    read_lag_ms_p99=None,
    send_delay_ms_p95=None,
    achieved_concurrency=None,
    chunks=0,
    clock_steps=0,
)


def merged_health(parts: Sequence[tuple[int, GeneratorHealth]]) -> GeneratorHealth:
    """The worst of every figure among the workers, given with their streams; shares of streams and counts are of them all."""
    of = partial(_worst, [health for _, health in parts])
    return GeneratorHealth(
        cpu_share=of(lambda health: health.cpu_share),
        read_lag_ms_p99=of(lambda health: health.read_lag_ms_p99),
        send_delay_ms_p95=of(lambda health: health.send_delay_ms_p95),
        achieved_concurrency=_of_streams([(streams, health.achieved_concurrency) for streams, health in parts]),
        chunks=sum(health.chunks for _, health in parts),
        clock_steps=sum(health.clock_steps for _, health in parts),
        machine_cpu_share=of(lambda health: health.machine_cpu_share),
        loop_lag_ms_p99=of(lambda health: health.loop_lag_ms_p99),
        events_per_stamp=of(lambda health: health.events_per_stamp),
        stuck_share=_of_streams([(streams, health.stuck_share) for streams, health in parts]),
    )


def _worst(parts: Sequence[GeneratorHealth], figure: Callable[[GeneratorHealth], float | None]) -> float | None:
    return max((value for health in parts if (value := figure(health)) is not None), default=None)


def _of_streams(parts: Sequence[tuple[int, float | None]]) -> float | None:
    known = [(streams, share) for streams, share in parts if share is not None]
    streams = sum(count for count, _ in known)
    return sum(count * share for count, share in known) / streams if streams else None
