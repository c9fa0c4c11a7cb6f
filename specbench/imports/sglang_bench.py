"""Results of SGLang's `bench_serving`: JSON lines, one a run, appended. Read from the client's source; no recording was at hand.

Its gaps are of two kinds. Against SGLang's own route a gap that brings k tokens is written k times as its k-th part; against an
OpenAI route they are gaps of chunks, or, once the server tells an acceptance, gaps spread over tokens counted anew.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from specbench.imports.result_file import ResultFile, count, number, rows, scaled, text_of, times
from specbench.imports.vllm_bench import load_of, summary_of
from specbench.model.data.imported import ImportedRequest, ImportedRun, NotCompared, TheirMetric

_S = 1000.0
_SUMMARY = {"ttft": "ttft", "tpot_classic": "tpot", "e2e": "e2e_latency"}
NOT_COMPARED = (
    NotCompared("max_output_tokens_per_s", "counts_chunks"),
    NotCompared("accept_length", "since_the_servers_start"),
)


def recognises(file: ResultFile) -> bool:
    """Whether it is such a file."""
    return bool(file.objects) and all("total_output_tokens_retokenized" in one for one in file.objects)


def read(files: Sequence[ResultFile]) -> list[ImportedRun]:
    """The runs in those files, one a line."""
    return [_run(one, file) for file in files for one in file.objects]


def _gaps(held: Mapping[str, Any]) -> TheirMetric:
    """What its `itls` are of ours."""
    if held.get("backend") == "sglang":
        return TheirMetric("itl", "ITL")
    if number(held.get("accept_length")) is not None:
        return TheirMetric("itl", "ITL", "tokens_counted_anew")
    return TheirMetric("chunk_gap", "ITL")


def _run(held: Mapping[str, Any], file: ResultFile) -> ImportedRun:
    gaps = _gaps(held)
    requests = _requests(held, gaps.quantity)
    completed = count(held.get("completed"))
    # The number of prompts is not in the file: without details nobody knows how many failed.
    attempted, failed = (len(requests), sum(not one.ok for one in requests)) if requests else (None, None)
    nothing = completed == 0
    length = number(held.get("accept_length"))
    return ImportedRun(
        tool="sglang",
        version=text_of(held.get("version")),
        files=(file.named,),
        load=load_of(held),
        attempted=0 if nothing and attempted is None else attempted,
        failed=0 if nothing and failed is None else failed,
        requests=requests,
        summary={} if nothing else summary_of(held, {**_SUMMARY, gaps.quantity: "itl"}),
        values=times(
            output_tps_whole_run=None if nothing else number(held.get("output_throughput")),
            acceptance_length=length,
        ),
        metrics=(
            TheirMetric("ttft", "TTFT"),
            TheirMetric("tpot_classic", "TPOT", "clock_runs_to_done"),
            gaps,
            TheirMetric("e2e", "E2E Latency"),
            TheirMetric("output_tps_whole_run", "output_throughput", "ramp_and_drain"),
            TheirMetric("acceptance_length", "accept_length", "since_the_servers_start"),
        ),
        not_compared=NOT_COMPARED if length is not None else NOT_COMPARED[:1],
        model=text_of(held.get("model_id")) or text_of(held.get("model")),
        route=text_of(held.get("backend")),
        dataset=text_of(held.get("dataset_name")),
        speculated=True if length is not None and length > 1 else None,
        pairing="order" if requests else None,
    )


def _requests(held: Mapping[str, Any], quantity: str) -> tuple[ImportedRequest, ...]:
    first, gaps = rows(held.get("ttfts")), rows(held.get("itls"))
    lengths, asked = rows(held.get("output_lens")), rows(held.get("input_lens"))
    errors = rows(held.get("errors"))
    if not first or not len(first) == len(gaps) == len(lengths) == len(asked):
        return ()
    found = []
    for index, (ttft, between, tokens) in enumerate(zip(first, gaps, lengths, strict=True)):
        seconds = [value for gap in rows(between) if (value := number(gap)) is not None and value >= 0]
        start, answer = number(ttft), count(tokens)
        ok = not (errors[index] if index < len(errors) else "") and start is not None and bool(answer)
        decode = sum(seconds)
        found.append(
            ImportedRequest(
                ok=ok,
                prompt=str(index),
                input_tokens=count(asked[index]),
                output_tokens=answer,
                times_ms=times(
                    ttft=scaled(start, _S),
                    tpot_classic=None if not answer or answer < 2 or not seconds else decode / (answer - 1) * _S,
                    e2e=None if start is None else (start + decode) * _S,
                )
                if ok
                else {},
                gaps_ms={quantity: tuple(gap * _S for gap in seconds)} if ok else {},
            )
        )
    return tuple(found)
