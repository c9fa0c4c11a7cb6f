"""Ready-made commands are these very words: flags of vLLM 0.33, SGLang 0.5.23 and llama.cpp of August 2026."""

from typing import Any

import pytest

from specbench.scenario.launch_commands import launch_command

VLLM = ["vllm", "serve", "org/model", "--served-model-name", "m", "--host", "127.0.0.1", "--port", "{port}"]
SGLANG = ["{python}", "-m", "sglang.launch_server", "--model-path", "org/model", "--served-model-name", "m"]
SGLANG += ["--host", "127.0.0.1", "--port", "{port}", "--enable-metrics"]
LEAST = ("--spec-draft-n-min", "0", "--spec-draft-p-min", "0.0")  # always written, as its default moved
LLAMACPP = ["llama-server", "--model", "org/model", "--alias", "m", "--host", "127.0.0.1", "--port", "{port}"]
LLAMACPP += ["--metrics", "--slots"]


@pytest.mark.parametrize(
    ("engine", "speculative", "words"),
    [
        ("vllm", None, VLLM),
        ("sglang", None, SGLANG),
        ("llamacpp", None, LLAMACPP),
        (
            "vllm",
            {"method": "draft_model", "model": "org/draft", "num_speculative_tokens": 5},
            [*VLLM, "--speculative-config", '{"method":"draft_model","model":"org/draft","num_speculative_tokens":5}'],
        ),
        (
            "vllm",
            {"method": "eagle3", "model": "org/head", "num_speculative_tokens": 3, "draft_tensor_parallel_size": 1},
            [
                *VLLM,
                "--speculative-config",
                '{"method":"eagle3","model":"org/head","num_speculative_tokens":3,"draft_tensor_parallel_size":1}',
            ],
        ),
        (
            "vllm",
            {"method": "mtp", "num_speculative_tokens": 1},
            [*VLLM, "--speculative-config", '{"method":"mtp","num_speculative_tokens":1}'],
        ),
        (
            "vllm",
            {"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 6},
            [
                *VLLM,
                "--speculative-config",
                '{"prompt_lookup_max":6,"prompt_lookup_min":2,"method":"ngram","num_speculative_tokens":4}',
            ],
        ),
        ("vllm", {"method": "suffix"}, [*VLLM, "--speculative-config", '{"method":"suffix"}']),
        (
            "vllm",
            {"method": "medusa", "model": "org/heads", "num_speculative_tokens": 4},
            [*VLLM, "--speculative-config", '{"method":"medusa","model":"org/heads","num_speculative_tokens":4}'],
        ),
        (
            "sglang",
            {"method": "draft_model", "model": "org/draft", "num_speculative_tokens": 4},
            [
                *SGLANG,
                *("--speculative-algorithm", "STANDALONE", "--speculative-draft-model-path", "org/draft"),
                *("--speculative-num-steps", "4", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "5"),
            ],
        ),
        (
            "sglang",
            {"method": "mtp", "num_speculative_tokens": 3},
            [
                *SGLANG,
                *("--speculative-algorithm", "NEXTN", "--speculative-num-steps", "3"),
                *("--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4"),
            ],
        ),
        (
            "sglang",
            {"method": "ngram", "num_speculative_tokens": 8},
            [*SGLANG, "--speculative-algorithm", "NGRAM", "--speculative-num-draft-tokens", "9"],
        ),
        (
            "llamacpp",
            {"method": "draft_model", "model": "draft.gguf", "num_speculative_tokens": 4},
            [*LLAMACPP, "--spec-type", "draft-simple", "--spec-draft-model", "draft.gguf", "--spec-draft-n-max", "4", *LEAST],
        ),
        (
            "llamacpp",
            {"method": "ngram", "num_speculative_tokens": 24},
            [*LLAMACPP, "--spec-type", "ngram-map-k", "--spec-ngram-map-k-size-n", "8", "--spec-ngram-map-k-size-m", "24"],
        ),
        (
            "llamacpp",
            {"method": "mtp", "num_speculative_tokens": 2},
            [*LLAMACPP, "--spec-type", "draft-mtp", "--spec-draft-n-max", "2", *LEAST],
        ),
    ],
)
def test_the_command_of_each_method(engine: str, speculative: dict[str, Any] | None, words: list[str]) -> None:
    """The whole command, word by word."""
    assert list(launch_command(engine, None, "org/model", "m", speculative)) == words


def test_a_program_of_ones_own_takes_the_place_of_the_engines_first_words() -> None:
    """The model follows it, and all flags stay."""
    command = launch_command("llamacpp", ("{python}", "server.py", "--model"), "m.gguf", "m", None)

    assert command[:5] == ("{python}", "server.py", "--model", "m.gguf", "--alias")


@pytest.mark.parametrize(
    ("engine", "speculative", "message"),
    [
        ("tgi", None, "tgi has no ready-made command"),
        ("vllm", {"method": "eagle3", "num_speculative_tokens": 3}, "the method eagle3 needs speculative.model"),
        ("vllm", {"num_speculative_tokens": 3}, "speculative.method must say which method"),
        ("sglang", {"method": "medusa", "model": "m", "num_speculative_tokens": 3}, "not medusa; write launch.command"),
        ("llamacpp", {"method": "suffix"}, "not suffix; write launch.command"),
    ],
)
def test_what_cannot_be_made_is_refused_with_what_to_do(engine: str, speculative: dict[str, Any] | None, message: str) -> None:
    """Never a half command that the engine reads as something else."""
    with pytest.raises(ValueError, match=message):
        launch_command(engine, None, "org/model", "m", speculative)
