"""Results of llama.cpp's `speed_bench.py`: one JSON object a run. Read from its documentation, not from a recording.

It does not stream: there is neither a first token nor a gap, and the time per token is the server's own.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from specbench.explain import numbers
from specbench.imports.result_file import ResultFile, at, count, number, rows, scaled, tally, text_of, times, url_of
from specbench.model.data.imported import ImportedRequest, ImportedRun, NotCompared, TheirMetric

METRICS = (
    TheirMetric("decode_server", "predicted_per_second", "the_servers_own_time"),
    TheirMetric("e2e", "latency_s"),
    TheirMetric("acceptance_rate", "accept_rate"),
)
NOT_COMPARED = (
    NotCompared("avg_prompt_t_s", "of_the_prompt"),
    NotCompared("accept_rate", "no_rounds"),
    NotCompared("TTFT and gaps", "not_streamed"),
)


def recognises(file: ResultFile) -> bool:
    """Whether it is such a file."""
    held = file.objects[0] if len(file.objects) == 1 else {}
    return isinstance(held.get("summary"), list) and at(held, "config", "bench") is not None


def read(files: Sequence[ResultFile]) -> list[ImportedRun]:
    """The runs in those files."""
    return [_run(file.objects[0], file) for file in files]


def _run(held: Mapping[str, Any], file: ResultFile) -> ImportedRun:
    results = [one for one in rows(held.get("results")) if isinstance(one, dict)]
    requests = tuple(_request(one) for one in results)
    attempted, failed = tally(requests, count(held.get("selected_samples")), count(held.get("failed_samples")))
    drafted = sum(count(one.get("draft_n")) or 0 for one in results)
    accepted = sum(count(one.get("draft_n_accepted")) or 0 for one in results)
    config = held["config"]
    return ImportedRun(
        tool="llamacpp",
        version=None,
        files=(file.named,),
        load=numbers.streams(count(at(config, "concurrency")) or 1),
        attempted=attempted,
        failed=failed,
        requests=requests,
        values=times(acceptance_rate=accepted / drafted if drafted else None),
        metrics=METRICS,
        not_compared=NOT_COMPARED,
        model=text_of(at(config, "model")),
        url=url_of(at(config, "url")),
        dataset=" ".join(f"{key}={at(config, key)}" for key in ("bench", "category", "osl") if at(config, key) is not None)
        or None,
        speculated=True if drafted else None,
        pairing="prompt" if requests else None,
    )


def _request(held: Mapping[str, Any]) -> ImportedRequest:
    ok = held.get("ok") is True
    speed = number(held.get("predicted_per_second"))
    name = held.get("id")
    return ImportedRequest(
        ok=ok,
        prompt=None if name is None else f"{held.get('category')}/{name}",
        input_tokens=count(held.get("prompt_tokens")),
        output_tokens=count(held.get("completion_tokens")),
        times_ms=times(
            decode_server=1000.0 / speed if speed is not None and speed > 0 else None, e2e=scaled(held.get("latency_s"), 1000.0)
        )
        if ok
        else {},
    )
