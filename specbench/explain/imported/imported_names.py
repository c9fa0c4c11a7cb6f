"""Words for the codes of imported results: how a tool's metric differs from ours, and why a figure of it is not compared."""

DIFFERENCES = {
    "first_chunk_with_choices": "to the first chunk with choices, which in chat may be the role alone",
    "empty_chunks_count": "empty and final chunks count too",
    "clock_runs_to_done": "the clock runs on to [DONE]",
    "tokens_counted_anew": "tokens counted again by the client",
    "first_chunks_tokens_left_out": "tokens of the first chunk left out, as in our TPOT",
    "to_the_end_of_the_stream": "to the end of the stream",
    "the_servers_own_time": "the server's own decode time",
    "since_the_servers_start": "counted since the server started, other traffic included",
    "ramp_and_drain": "over the whole run, start and end included",
}
WHY_NOT = {
    "counts_chunks": "counts chunks as if each were one token",
    "tokens_of_a_chunk_unknown": "the file does not tell how many tokens a chunk holds",
    "since_the_servers_start": "counted since the server started, other traffic included: shown, not judged",
    "inverse_of_tpot": "says the same as TPOT, inverted",
    "holds_the_first_token": "includes the time to the first token",
    "no_acceptance": "tokens a chunk, which is no acceptance",
    "not_kept": "the tool keeps none",
    "weighted_by_tokens": "weighs long answers more; only values by request are comparable",
    "zeros_inside_a_chunk": "counts every further token of a chunk as 0",
    "of_the_prompt": "prompt processing speed, without the queue",
    "no_rounds": "a share without rounds gives no acceptance length: shown, not judged",
    "not_streamed": "the tool does not stream",
}
REASONS = {
    "failures_reach_it": "failed requests reach it",
    "not_in_both": "not in both files",
    "is_zero": "zero in one file",
    "too_few_requests": "too few requests for an interval",
    "tail_of_few_runs": "a tail: it needs 3 runs an arm",
}
LABELS = {
    "decode_server_p50": "server decode p50",
    "decode_server_p95": "server decode p95",
    "tpot_classic_p95": "classic TPOT p95",
    "output_tps_whole_run": "tokens/s, whole run",
    "acceptance_rate": "acceptance rate",
}


def in_words(table: dict[str, str], code: str | None) -> str:
    """The words of the code, the code itself where the table has none, '' for no code."""
    return "" if code is None else table.get(code, code.replace("_", " "))
