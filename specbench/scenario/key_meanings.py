"""What each key of a scenario means, for docs/scenario.md and for editors that read its JSON Schema.

By the name of its model in `schema.py`, key by key, in the order in which they stand there. A test holds both together.
"""

from typing import Any

MEANINGS: dict[str, dict[str, str]] = {
    "": {
        "name": "Names the run and its folder.",
        "seed": "Draws prompts and the order of blocks; the same seed draws the same.",
        "arms": "Both endpoints.",
        "workload": "What is requested.",
        "matrix": "Loads, pairs and schedule.",
        "success": "The gain that the primary load must show.",
        "guardrails": "Limits; each replaces the default one of its metric.",
        "answers": "Whether speculation changes what the model says.",
        "defaults": "`off` drops the default guardrails.",
        "place": "`same`, or earlier A/A or swap runs which show that both hosts perform equally.",
        "accept_differences": "Names of facts that may differ between the arms.",
        "labels": "Free words kept with the run; prices per hour make a price per token.",
        "tune": "What `specbench tune` tries (docs/tuning.md).",
        "watch": "What live traffic is held to after launch (docs/watch.md).",
    },
    "ArmSchema": {
        "engine": "Which engine serves; detected if omitted.",
        "url": "The endpoint, with or without `/v1`.",
        "path": "The path behind the URL, with a query, where it is not the usual one.",
        "model": "The model to request.",
        "api_key_env": "The variable that holds the API key; never the key itself.",
        "header_env": "Headers whose values are in variables: header to variable.",
        "headers": "Headers that hold no secret.",
        "extra_body": "Fields to add to each request; null leaves one out.",
        "limit_key": "What `max_tokens` is called there.",
        "metrics_url": "The engine's page of metrics, where it is elsewhere; a comma between several.",
        "speculative": "How the arm drafts: `method`, `num_speculative_tokens` and the engine's own options.",
        "slow_by": "Embedded engine: makes every step longer by this share.",
        "options": "Embedded engine: its options (docs/engine.md).",
        "declare": "Facts that the endpoint does not report, such as `quantization`.",
        "launch": "Starts the engine (docs/real-engines.md).",
    },
    "ArmsSchema": {"baseline": "The arm without speculation.", "speculative": "The arm with speculation."},
    "BinSchema": {
        "name": "Names the bin.",
        "input_tokens": "Prompt tokens, from and to.",
        "output_tokens": "Output tokens, from and to.",
        "weight": "Its share of the requests, relative to the other bins.",
        "label": "The labels of the rows that it takes (`workload.source.label`); all if omitted.",
        "valid": "What its answers have to be: `json`, or one of `regex` and `json_schema`.",
    },
    "AnswerFormSchema": {
        "regex": "A regular expression that is found in each answer.",
        "json_schema": "A file with the JSON Schema of each answer, relative to the scenario.",
    },
    "AnswersSchema": {
        "check": "`off` compares no answers.",
        "prompts": "Prompts of each sampling whose two answers are compared, 64 to 4096.",
        "differ_by_at_most": "The share of greedy answers that may differ clearly: `5%`.",
        "lossy": "Speculation is meant to change the answers: reported, not judged.",
        "examples": "Differences of which 80 characters are kept; 0 keeps no text.",
    },
    "BlockSchema": {
        "min_requests": "A block lasts until this many requests have ended ...",
        "min_s": "... and this many seconds have passed,",
        "max_s": "but no longer than this.",
    },
    "GuardrailSchema": {
        "metric": "The metric (docs/glossary.md).",
        "role": "`guardrail` and `safety` decide, `advisory` is only reported.",
        "worse_by_at_most": "How much worse it may get, as a share: `10%`.",
        "floor_ms": "A change for the worse that is always allowed, in ms.",
        "slo": "An absolute limit in the metric's unit, for the speculative arm alone.",
        "required": "`false`: reported, not judged.",
        "cells": "The loads at which it is asked; all if omitted.",
        "bins": "The bins of which it is asked; all if omitted.",
    },
    "LaunchSchema": {
        "command": "The whole command; `{port}` stands for the port.",
        "program": "Other first words for the ready-made command.",
        "model": "What the ready-made command loads.",
        "arguments": "Further words of the ready-made command.",
        "env": "Variables and their values, without secrets.",
        "secrets": "Names of variables that must be set.",
        "gpu": "`CUDA_VISIBLE_DEVICES` of this arm.",
        "port": "A fixed port; a free one if omitted.",
        "ready": "The path that answers 200 once the engine serves.",
        "timeout_s": "How long that may take.",
        "log": "The file that its output is appended to.",
        "sleep": "vLLM: sleeps while the other arm is under load.",
    },
    "LimitsSchema": {
        "first_token_s": "Until its first token; 120 s, or as long as a block may last.",
        "stall_s": "From one token to the next; 30 s.",
        "total_s": "In all; 600 s, or as long as a block may last. A block waits this long for what it sent.",
    },
    "StartSdSchema": {"sd": "The standard deviation, as a share.", "df": "The degrees of freedom with which it was measured."},
    "MatrixSchema": {
        "traffic": "`mixed`: all bins in each load; `separate`: loads, and a verdict, for each bin and sampling.",
        "concurrency": "Loads in a closed loop: so many streams.",
        "rate": "Loads in an open loop: so many requests per second.",
        "arrivals": "How requests of an open loop arrive; `replay`: as those of the dataset came (docs/runs.md).",
        "replay": "How fast they are replayed.",
        "ramp": "A load that rises, once per pair and after all others; shown, never judged.",
        "in_flight": "The most requests of an open loop that are under way at once.",
        "primary": "The load that must show the gain; the lowest if omitted.",
        "optional": "Loads that are reported, not judged.",
        "traffic_share": "The share of your traffic at each load.",
        "schedule": "`alternate`: arms take turns; `simultaneous`: both at once; `restart`: an engine is started for its blocks.",
        "pairs": "Pairs of blocks for each load; of the profile if omitted.",
        "start_sd": "How far one start of an engine differs from the next: `1%` if omitted, or `{sd, df}` as measured.",
        "limits": "How long a request may take; the same for both arms.",
        "block": "How long a block lasts; of the profile if omitted.",
    },
    "RampSchema": {
        "to": "Requests per second at its top.",
        "over_s": "How long it rises, evenly from nothing.",
        "hold_s": "How long it stays at the top.",
    },
    "ReplaySchema": {
        "speed": "Loads: so many times as fast as they came; elsewhere such a load is called `x1`, `x2`.",
    },
    "SamplingSchema": {
        "name": "Names the setting; requests take the settings in turn.",
        "temperature": "0 is greedy.",
        "top_p": "As the engine takes it.",
        "top_k": "As the engine takes it.",
        "seed": "As the engine takes it.",
    },
    "SourceSchema": {
        "corpus": "Built-in texts, for a demonstration.",
        "dataset": "Your prompts: JSON lines, a JSON array, CSV or Parquet, also .gz; relative to the scenario (docs/data.md).",
        "shape": "The shape of the rows; each row tells its own if omitted.",
        "turns": "The question of a conversation that is sent: `first`, `last` with the recorded history, or `each`.",
        "label": "The field whose value bins name under `label`, such as `language` or `metadata.task`.",
        "keep": "Recorded fields that are sent again: `tools`, `response_format`, `max_tokens`, `sampling`.",
        "tokenizer": "A tokenizer.json to count with where the endpoint cannot, relative to the scenario.",
        "sample": "Rows kept for each bin.",
        "broken": "`skip` counts broken lines and goes on.",
        "sha256": "The content that the bins were made of; another one is refused.",
    },
    "SuccessSchema": {"metric": "The metric that must gain.", "improve_by": "By at least this share."},
    "SessionsSchema": {
        "turns": "Turns of a session, from and to.",
        "think_s": "How long its user thinks before the next turn, from and to.",
        "history": "Whose answers later turns hold: the dataset's, or each arm's `own` (shown and never judged).",
    },
    "TuneSchema": {
        "vary": "One key of `speculative:` with the values to try.",
        "candidates": "Or whole `speculative:` blocks; `num_speculative_tokens` may be a list.",
    },
    "WatchSchema": {
        "limits": "Limits of `watch` and of exported alarms: `tpot_p99: 50ms`, `ttft_p95: 1s`, `alpha: 0.7`; a time is an edge "
        "of the engine's buckets. `--limit` replaces one.",
    },
    "WorkloadSchema": {
        "source": "Where prompts come from: one of its two keys.",
        "route": "Which API is called.",
        "length": "`natural`: answers end by themselves; `forced`: they have the drawn length.",
        "streaming": "Answers are streamed; only then are tokens timed.",
        "shared_prefix_tokens": "So many tokens at the head of all prompts are the same.",
        "extra_body": "Fields of every request of both arms, such as `tools`, `response_format` or `stop`.",
        "bins": "Kinds of requests.",
        "sampling": "Settings of sampling.",
        "sessions": "Conversations are sent whole, turn by turn, each behind its history (docs/runs.md).",
    },
}


def with_meanings(schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema with the meaning of each key as its description."""
    for name, model in {"": schema, **schema["$defs"]}.items():
        for key, described in model["properties"].items():
            if key in MEANINGS.get(name, {}):
                described["description"] = MEANINGS[name][key]
    return schema
