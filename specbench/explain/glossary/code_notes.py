"""The codes beside figures: notes of findings, flags and outcomes of requests, and why an engine's number is absent."""

from specbench.explain.glossary.entry import Entry, Kind


def _rows(kind: Kind, *rows: tuple[str, str]) -> tuple[Entry, ...]:
    return tuple(Entry(kind, name, name.replace("_", " "), text) for name, text in rows)


NOTES: tuple[Entry, ...] = _rows(
    "finding note",
    ("harm", "Harm is significant and the measured value is past the limit."),
    ("small_regression", "A small loss is real, and within the limit."),
    ("more_pairs", "More pairs would settle it; `pairs_needed` says how many."),
    (
        "unresolvable_at_this_margin",
        "No affordable number of pairs settles it at this limit. Use longer blocks or a wider limit.",
    ),
    ("near_the_limit", "The value lies too near its absolute limit to tell on which side the truth is."),
    ("no_benefit", "The requested gain is ruled out."),
    ("pairs_missing", "More than a fifth of the pairs lack a figure, so the rest cannot pass."),
    ("one_pair", "Fewer than two pairs show no spread to judge by."),
    ("no_data", "There is no figure in one arm or in both."),
    ("low_n", "Too few values for this percentile."),
    ("constant", "The value does not vary at all between blocks, as no real timing does."),
    ("counted", "A count of events, judged by its value, without an interval."),
    ("withheld", "There are figures, and they compare unlike work, so they are not judged."),
    ("unbounded", "So many requests failed with speculation that this percentile has no upper end."),
    ("unbounded_open", "So many requests failed that this percentile has no upper end, and chance may explain it."),
    ("unbounded_both", "Too many requests failed in both arms for this percentile."),
    ("unbounded_baseline", "Too many requests of the baseline failed for this percentile."),
    ("sign_flip_disagrees", "The exact sign-flip test does not confirm the harm that t found."),
    ("ttft_at_p50", "p50 replaces p95, as blocks held fewer than 20 requests."),
)

FLAGS: tuple[Entry, ...] = _rows(
    "flag",
    ("compressed_stream", "The answer came compressed although nobody asked for it. Events may have waited for each other."),
    ("unknown_encoding", "A plain event stream named a content coding that it does not have."),
    ("other_2xx", "A success of another status than 200."),
    ("length_ignored", "A length beside chunks; the chunks count."),
    ("redirected", "The endpoint redirected the path; requests go to the new one at once."),
    ("data_after_done", "Data behind the end mark. It is no part of the answer."),
    ("unclean_end", "The connection broke off behind the end mark. The answer is whole."),
    ("unterminated", "No blank line behind the last event."),
    ("no_finish_reason", "An end mark without a finish reason."),
    ("odd_end", "Unreadable data behind the finish reason. The answer is whole."),
    ("odd_type", "A field that matters little is of another type."),
    ("several_choices", "More choices than the one requested. The answer is a `protocol_error`."),
    ("unread_text", "A delta has text under a name that is not known to be generated. A note says so."),
    ("first_token_doubtful", "Such text came before the first token that was read, so TTFT may be too long."),
    ("usage_ambiguous", "The server's counts fit no reading of which tokens were streamed. No figure per token is judged."),
    ("reasoning_summary", "Reasoning came as a summary. Its tokens are not those that were counted."),
    ("tokens_spread", "Only a final count is known; it is spread evenly over the events."),
    ("tokens_guessed", "No count is known; each event counts as one token."),
    ("tokens_unreconciled", "The events' tokens do not add up to the server's count."),
    ("usage_fell", "A running count of tokens fell."),
    ("implausible_count", "A count that no answer can have. The next best source is used."),
    ("burst", "Nearly all events came without a gap between them. Something on the way held the answer back."),
    ("clock_step", "The machine's clock was set meanwhile. The answer is timed by when it was read."),
)

OUTCOMES: tuple[Entry, ...] = _rows(
    "outcome",
    ("ok", "A whole answer."),
    ("cut", "In flight when the block ended: neither success nor failure."),
    ("unanswered", "Sent in the window and still open when the drain ended. It counts as a failure."),
    ("connect_failed", "No connection."),
    ("client_resource", "This machine ran out of descriptors or memory; not the endpoint's fault."),
    ("http_error", "A status other than success."),
    ("timeout_connect", "The connection took too long."),
    ("timeout_first_token", "The first token took longer than its limit (`matrix.limits.first_token_s`)."),
    ("stalled", "A gap between events was longer than its limit (`matrix.limits.stall_s`)."),
    ("timeout_total", "The whole answer took longer than its limit (`matrix.limits.total_s`)."),
    ("disconnected", "The connection broke off before the end."),
    ("protocol_error", "The answer is no such stream as the API promises, or larger than is read."),
    ("line_too_long", "More than 4 MiB without a line end."),
    ("not_streamed", "One document where a stream was requested."),
    ("in_band_error", "An event of the stream reports an error."),
    ("truncated_stream", "The stream ended without an end mark."),
    ("empty_output", "An answer without a token."),
    ("prompt_too_long", "The prompt is longer than the model's context. Neither success nor failure."),
)

ABSENCES: tuple[Entry, ...] = _rows(
    "absence",
    ("not_exposed", "The engine has no such series: switched off, not built in, or not used yet."),
    ("not_told", "This engine has no such number."),
    ("not_asked", "This engine has no metrics page."),
    ("http_401", "The metrics page needs a key (`options.metrics_api_key_env`)."),
    ("http_403", "The metrics page refuses this key (`options.metrics_api_key_env`)."),
    ("http_404", "There is no metrics page, or it is switched off (`--enable-metrics`, `--metrics`)."),
    ("http_501", "The metrics page is switched off (`--metrics`)."),
    ("unreachable", "Nobody answered where metrics are fetched."),
    ("not_metrics", "What answered is no metrics page."),
    ("too_large", "The metrics page is larger than 8 MiB unpacked. Name one engine's own page."),
    ("too_many_series", "The metrics page holds more than 30,000 series. Name one engine's own page."),
    ("counter_reset", "The engine restarted between two scrapes."),
    ("mixed_replicas", "Different processes answered one URL. List the replicas in `metrics_url`."),
    ("not_a_number", "The sample was NaN or infinite."),
    ("no_observation", "Nothing happened in the block."),
    ("not_sampled", "Nobody looked during the block."),
    ("inconsistent", "The engine's numbers contradict each other."),
    ("broken_counters", "The engine's counters contradict each other."),
)
