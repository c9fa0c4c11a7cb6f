"""What engines answer about given tokens is read as it was told, and anything else is no answer."""

import json
from typing import Any

import pytest

from specbench.model.answers.token_probabilities import TokenProbabilities
from specbench.telemetry import ENGINES
from specbench.telemetry.engines.rulers import NextToken, completions_best, next_tokens, pieces_in, ranked
from tests.support.scrapes import recorded

VLLM, SGLANG, LLAMACPP, TGI = (ENGINES[name].ruler for name in ("vllm", "sglang", "llamacpp", "tgi"))


def vllm_answer(*places: dict[str, Any] | None) -> dict[str, Any]:
    """vLLM's answer to a request for the log probabilities of its prompt."""
    return {"choices": [{"text": " x", "prompt_logprobs": list(places)}]}


def vllm_place(**told: float | None) -> dict[str, Any]:
    """One place of it: ids (t7 stands for 7) with their log probabilities."""
    return {
        name[1:]: {"logprob": log_p, "rank": rank, "decoded_token": "?"} for rank, (name, log_p) in enumerate(told.items(), 1)
    }


def test_vllm_is_asked_for_every_token_of_prompt_and_answer() -> None:
    """One prefill of ids, no special tokens before them, one greedy token behind."""
    assert VLLM.scoring is not None

    assert VLLM.scoring.ask("llama", (1, 2), (3, 4)) == (
        "/v1/completions",
        {
            "model": "llama",
            "prompt": [1, 2, 3, 4],
            "max_tokens": 1,
            "temperature": 0,
            "prompt_logprobs": 20,
            "add_special_tokens": False,
        },
    )


def test_vllm_tells_each_token_of_the_answer_with_the_best_ones() -> None:
    """The prompt's places are left out; the best come first, whatever their order in the mapping."""
    assert VLLM.scoring is not None
    told = vllm_answer(None, vllm_place(t2=-0.1), vllm_place(t3=-1.5, t9=-0.3), vllm_place(t4=-0.2))

    assert VLLM.scoring.read(told, (3, 4)) == (
        TokenProbabilities(token=3, log_p=-1.5, best=((9, -0.3), (3, -1.5))),
        TokenProbabilities(token=4, log_p=-0.2, best=((4, -0.2),)),
    )


@pytest.mark.parametrize("log_p", [None, float("-inf"), float("nan"), -9999.0])
def test_a_log_probability_that_is_no_number_is_none(log_p: float | None) -> None:
    """vLLM writes null, NaN or -Infinity for a token that cannot come."""
    assert VLLM.scoring is not None

    assert VLLM.scoring.read(vllm_answer(vllm_place(t3=log_p, t9=-0.3)), (3,)) == (
        TokenProbabilities(token=3, log_p=None, best=((9, -0.3),)),
    )


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        {"choices": []},
        {"choices": [{"prompt_logprobs": None}]},
        vllm_answer(vllm_place(t3=-1.0)),  # one place too few
        vllm_answer(None, vllm_place(t3=-1.0), vllm_place(t5=-1.0)),  # another token than the one that was given
        vllm_answer(None, None, vllm_place(t4=-1.0)),
    ],
)
def test_other_tokens_than_those_given_are_no_answer(told: Any) -> None:
    """Too few places, or an id that is not there."""
    assert VLLM.scoring is not None

    assert VLLM.scoring.read(told, (3, 4)) is None


def test_sglang_tells_lists_of_log_probability_and_id() -> None:
    """It is asked from the prompt's last token on, whose own probability it does not tell."""
    assert SGLANG.scoring is not None
    path, body = SGLANG.scoring.ask("llama", (1, 2), (3, 4))
    told = {
        "meta_info": {
            "input_token_logprobs": [[None, 2, None], [-1.5, 3, None], [-0.2, 4, None]],
            "input_top_logprobs": [None, [[-0.3, 9, None], [-1.5, 3, None]], [[-0.2, 4, None]]],
        }
    }

    assert (path, body["input_ids"], body["logprob_start_len"]) == ("/generate", [1, 2, 3, 4], 1)
    assert SGLANG.scoring.read(told, (3, 4)) == (
        TokenProbabilities(token=3, log_p=-1.5, best=((9, -0.3), (3, -1.5))),
        TokenProbabilities(token=4, log_p=-0.2, best=((4, -0.2),)),
    )
    assert SGLANG.scoring.read(told, (3, 5)) is None
    assert SGLANG.scoring.read({"meta_info": {}}, (3, 4)) is None


def test_a_recorded_answer_of_llamacpp() -> None:
    """The best five tokens behind a prompt and the ids of `Here is a Python function`, as a real server told them."""
    assert LLAMACPP.next_token is not None
    best = LLAMACPP.next_token.read(json.loads(recorded("llamacpp-base-n-probs.json")))

    assert [one.id for one in best] == [288, 338, 1015, 3365, 327]
    assert [one.text for one in best[:2]] == [" to", " that"]
    assert best[0].log_p == pytest.approx(-0.6465, abs=1e-4)


def test_llamacpp_goes_on_behind_text_and_ids() -> None:
    """The prompt as text, the answer's beginning as ids of its own tokenizer; a chat becomes text by its template."""
    assert LLAMACPP.next_token is not None
    assert LLAMACPP.prompt_text is not None
    body = {"messages": [{"role": "user", "content": "hi"}], "temperature": 0, "max_tokens": 3, "tools": []}

    assert LLAMACPP.next_token.ask("m", "<s>hi", (4590, 314)) == (
        "/completion",
        {"prompt": ["<s>hi", 4590, 314], "n_predict": 1, "temperature": 0, "n_probs": 20, "cache_prompt": True},
    )
    assert LLAMACPP.prompt_text(body) == ("/apply-template", {"messages": body["messages"], "tools": []})
    assert "<|im_start|>user" in json.loads(recorded("llamacpp-base-apply-template.json"))["prompt"]


def test_servers_of_completions_tell_tokens_by_their_text() -> None:
    """OpenAI's `logprobs` on the completions route, and TGI's `top_tokens`."""
    assert TGI.next_token is not None
    openai = {"choices": [{"text": " a", "logprobs": {"top_logprobs": [{" a": -0.1, " b": -2.5}]}}]}
    tgi = {"details": {"top_tokens": [[{"id": 1, "text": " b", "logprob": -2.5}, {"id": 2, "text": " a", "logprob": -0.1}]]}}

    assert completions_best(openai) == (NextToken(" a", -0.1), NextToken(" b", -2.5))
    assert TGI.next_token.read(tgi) == (NextToken(" a", -0.1), NextToken(" b", -2.5))
    assert completions_best({"choices": [{"logprobs": None}]}) == ()
    assert TGI.next_token.read({"details": None}) == ()


def test_what_is_no_number_is_none_of_the_best() -> None:
    """NaN, infinities, null, truth values and words."""
    odd: list[tuple[int | str, Any]] = [
        (1, float("nan")),
        (2, float("-inf")),
        (3, None),
        (4, True),
        (5, "-1"),
        (6, -1.0),
        (7, -0.5),
    ]

    assert ranked(odd) == ((7, -0.5), (6, -1.0))


def test_of_several_tokens_with_one_text_the_most_probable_is_left() -> None:
    """Parts of one character are told as the same replacement character."""
    told = [("\ufffd", -3.0, 1), ("a", -1.0, 2), ("\ufffd", -2.0, 3), ("b", None, 4)]

    assert next_tokens(told) == (NextToken("a", -1.0, 2), NextToken("\ufffd", -2.0, 3))


def test_pieces_are_text_or_bytes_of_a_part_of_a_character() -> None:
    """As llama.cpp tells them; ids without pieces, as other servers list them, are none."""
    told = {"tokens": [{"id": 7, "piece": " a"}, {"id": 8, "piece": [195]}, {"id": 9, "piece": [169]}]}

    assert pieces_in(told) == ((7, b" a"), (8, b"\xc3"), (9, b"\xa9"))
    assert pieces_in({"tokens": [7, 8]}) is None
    assert pieces_in({"tokens": [{"id": 7, "piece": [256]}]}) is None
    assert pieces_in(None) is None
