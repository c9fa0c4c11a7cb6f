"""Ready-made commands: from an engine, a model and the arm's `speculative:` to the words that start it.

One row per engine in `SPECULATION`; flags as in vLLM 0.33, SGLang 0.5.23 and llama.cpp of August 2026 (docs/real-engines.md).
Nothing is started here, and nothing checked that the engine itself checks when it starts.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from specbench.model.off_schedule import OFF_FROM

Speculative = Mapping[str, Any]

# The first words, up to the model; the scenario's `launch.program` takes their place.
PROGRAMS: dict[str, tuple[str, ...]] = {
    "vllm": ("vllm", "serve"),
    "sglang": ("{python}", "-m", "sglang.launch_server", "--model-path"),
    "llamacpp": ("llama-server", "--model"),
}
READY = {
    "vllm": "/health",
    "sglang": "/health",
    "llamacpp": "/health",
    "trtllm": "/health",
    "tgi": "/health",
    "lmdeploy": "/health",
}
READY_ELSEWHERE = "/v1/models"

# What a method cannot do without, by its name.
NEEDS: dict[str, tuple[str, ...]] = {
    "draft_model": ("model", "num_speculative_tokens"),
    "eagle": ("model", "num_speculative_tokens"),
    "eagle3": ("model", "num_speculative_tokens"),
    "medusa": ("model", "num_speculative_tokens"),
    "mtp": ("num_speculative_tokens",),
    "ngram": ("num_speculative_tokens",),
    "suffix": (),
}


def launch_command(
    engine: str, program: tuple[str, ...] | None, model: str, served: str, speculative: Speculative | None
) -> tuple[str, ...]:
    """The command that serves `model` under the name `served` at 127.0.0.1, port `{port}`.

    Args:
        program: Other first words than the engine's usual ones; the model follows them.
        speculative: The arm's `speculative:`, None for a plain engine.

    Raises:
        ValueError: no such engine has a ready-made command, or the method is not one of its, or lacks what it needs.
    """
    if engine not in PROGRAMS:
        raise ValueError(f"{engine} has no ready-made command (those who have: {', '.join(PROGRAMS)}); write launch.command")
    return (*(program or PROGRAMS[engine]), model, *SERVED[engine](served), *speculation_words(engine, speculative))


def speculation_words(engine: str, speculative: Speculative | None) -> tuple[str, ...]:
    """The words that make an engine draft so; none for a plain engine.

    Raises:
        ValueError: the method is not one of the ready-made command's, or lacks what it needs.
    """
    if speculative is None:
        return ()
    method = speculative.get("method")
    if not isinstance(method, str):
        raise ValueError("speculative.method must say which method, such as ngram")
    lacking = [need for need in NEEDS.get(method, ()) if need not in speculative]
    if lacking:
        raise ValueError(f"the method {method} needs speculative.{lacking[0]}")
    return SPECULATION[engine](method, speculative)


def _vllm(method: str, speculative: Speculative) -> tuple[str, ...]:
    """vLLM takes every method, new ones too, as one JSON object; `off_from` is a word of scenarios alone."""
    own = {key: value for key, value in speculative.items() if key != OFF_FROM}
    lookup = {"prompt_lookup_max": 4, "prompt_lookup_min": 2} if method == "ngram" else {}
    return ("--speculative-config", json.dumps({**lookup, **own}, separators=(",", ":")))


def _sglang(method: str, speculative: Speculative) -> tuple[str, ...]:
    """A chain of as many steps as tokens are asked for; SGLang counts the verified token among the drafted ones."""
    algorithms = {"draft_model": "STANDALONE", "eagle": "EAGLE", "eagle3": "EAGLE3", "mtp": "NEXTN", "ngram": "NGRAM"}
    if method not in algorithms:
        raise ValueError(f"the ready-made sglang command knows {', '.join(algorithms)}, not {method}; write launch.command")
    tokens = int(speculative["num_speculative_tokens"])
    words = ["--speculative-algorithm", algorithms[method]]
    if "model" in speculative:
        words += ["--speculative-draft-model-path", str(speculative["model"])]
    if method != "ngram":
        words += ["--speculative-num-steps", str(tokens), "--speculative-eagle-topk", "1"]
    return (*words, "--speculative-num-draft-tokens", str(tokens + 1))


def _llamacpp(method: str, speculative: Speculative) -> tuple[str, ...]:
    types = {"draft_model": "draft-simple", "eagle3": "draft-eagle3", "mtp": "draft-mtp", "ngram": "ngram-map-k"}
    if method not in types:
        raise ValueError(f"the ready-made llamacpp command knows {', '.join(types)}, not {method}; write launch.command")
    kind, tokens = types[method], str(speculative["num_speculative_tokens"])
    if method == "ngram":
        length = str(speculative.get("prompt_lookup_max", 8))
        return ("--spec-type", kind, f"--spec-{kind}-size-n", length, f"--spec-{kind}-size-m", tokens)
    model = ("--spec-draft-model", str(speculative["model"])) if "model" in speculative else ()
    # The default of p-min went from 0.75 to 0 without an error, so that it is always written.
    least, surest = str(speculative.get("draft_n_min", 0)), str(speculative.get("draft_p_min", 0.0))
    drafts = ("--spec-draft-n-max", tokens, "--spec-draft-n-min", least, "--spec-draft-p-min", surest)
    return ("--spec-type", kind, *model, *drafts)


_AT = ("--host", "127.0.0.1", "--port", "{port}")
SERVED: dict[str, Callable[[str], tuple[str, ...]]] = {
    "vllm": lambda name: ("--served-model-name", name, *_AT),
    "sglang": lambda name: ("--served-model-name", name, *_AT, "--enable-metrics"),
    "llamacpp": lambda name: ("--alias", name, *_AT, "--metrics", "--slots"),
}
SPECULATION: dict[str, Callable[[str, Speculative], tuple[str, ...]]] = {"vllm": _vllm, "sglang": _sglang, "llamacpp": _llamacpp}
