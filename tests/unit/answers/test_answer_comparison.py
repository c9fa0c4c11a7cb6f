"""The baseline, asked, says whose token it prefers; where it cannot say, the reason stands there, and never a difference."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from specbench.answers.answer_comparison import answer_comparison
from specbench.answers.asked_pairs import asked_pair
from specbench.arms.arms import RunningArm, bare_arm
from specbench.credentials import Secrets
from specbench.explain.answers import asking_reasons as reasons
from specbench.model.answers.compared_answers import AnswerComparison
from specbench.model.answers.kept_pairs import GeneratedAnswer, GeneratedToolCall, KeptPair
from specbench.model.result import PerArm
from specbench.model.scenario import Scenario
from specbench.scenario.parse import Overrides, parse_scenario
from tests.support.asked_server import AskedServer, letter, served

SCENARIO = parse_scenario(Path("scenarios/code.yaml").read_text(), "scenarios/code.yaml", Overrides())
RISING = tuple(range(1, 13))  # what the server's model says of itself, from the prompt's only token 0 on


def an_answer(*ids: int, told: bool = True, **fields: Any) -> GeneratedAnswer:
    """An answer of these tokens, each a letter; where not `told` its engine tells no ids."""
    text = "".join(map(letter, ids))
    known: dict[str, Any] = {"text": text, "content": text, "finish_reason": "length", "tokens": len(ids)}
    if told:
        known |= {"token_ids": ids, "prompt_token_ids": (0,)}
    return GeneratedAnswer(**{**known, **fields})


def a_pair(
    baseline: GeneratedAnswer, speculative: GeneratedAnswer, index: int = 0, temperature: float = 0.0, body: bytes | None = None
) -> KeptPair:
    """Both answers to the prompt `a`."""
    sent = body or b'{"prompt": "a", "temperature": %g}' % temperature
    return KeptPair(
        cell="c4",
        pair=0,
        index=index,
        bin="short",
        sampling="greedy" if temperature == 0 else "sampled",
        temperature=temperature,
        concurrency=4,
        body=sent,
        answers=PerArm(baseline, speculative),
    )


def asked(server: AskedServer, *pairs: KeptPair, engine: str = "vllm", scenario: Scenario = SCENARIO) -> AnswerComparison:
    """What is known of the pairs once the server, as a baseline of that engine, was asked."""
    with served(server):
        arm = bare_arm(engine, server.url, "m", {})
        ready = RunningArm(arm, server.url, {"Authorization": "Bearer top-secret"}, secrets=Secrets(("abcdefghi",)))
        return answer_comparison(scenario, ready, [asked_pair(pair) for pair in pairs])


def test_a_near_tie_and_a_clear_difference() -> None:
    """The baseline's own tokens are its best ones; after 4 the token 6 lies 2.3 nats behind 5."""
    found = asked(AskedServer(), a_pair(an_answer(*RISING), an_answer(1, 2, 3, 4, 6, 7, 8)))
    (one,) = found.compared

    assert found.ruler == 1.0
    assert (one.by, one.first_difference) == ("token_ids", 4)
    assert one.gap_nats == PerArm(0.0, pytest.approx(2.3))
    assert one.widest_gap_nats == PerArm(0.0, pytest.approx(2.3))
    assert found.unanswerable == ()


def test_the_whole_answer_counts_not_only_its_first_difference() -> None:
    """Behind a difference of 2.3 nats the speculative answer goes on with a token that lies 8.9 behind."""
    found = asked(AskedServer(), a_pair(an_answer(*RISING), an_answer(1, 2, 4, 5, 17)))
    (one,) = found.compared

    assert one.gap_nats == PerArm(0.0, pytest.approx(2.3))
    assert one.widest_gap_nats == PerArm(0.0, pytest.approx(8.9))


def test_an_answer_that_ends_where_the_other_goes_on() -> None:
    """Its end is no token that is told, so that only the least gap is known: the best other token's."""
    shorter = an_answer(1, 2, 3, finish_reason="stop")
    found = asked(AskedServer(), a_pair(an_answer(*RISING), shorter), a_pair(shorter, an_answer(1, 2, 3, 5, 6), index=1))

    assert [one.gap_nats for one in found.compared] == [PerArm(0.0, pytest.approx(2.3)), PerArm(0.0, pytest.approx(2.3))]


def test_equal_answers_are_not_asked_about() -> None:
    """But for those by which the baseline itself is checked."""
    server = AskedServer()
    same = [a_pair(an_answer(*RISING), an_answer(*RISING), index=index) for index in range(40)]
    found = asked(server, *same)

    assert all(one.equal and one.gap_nats is None for one in found.compared)
    assert len(server.asked) == 16


def test_sampled_answers_are_scored_in_both_arms() -> None:
    """Each token of both, shaped by the request's own settings: at top_k 1 every second token but one lies outside."""
    body = b'{"prompt": "a", "temperature": 0.8, "top_k": 1}'
    found = asked(AskedServer(), a_pair(an_answer(*RISING), an_answer(1, 3, 4, 6), temperature=0.8, body=body))
    scores = found.compared[0].scores

    assert scores is not None
    assert (scores.baseline.tokens, scores.baseline.outside) == (12, 0.0)
    assert (scores.speculative.tokens, scores.speculative.outside) == (4, 0.5)
    assert found.ruler is None


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_a_baseline_that_refuses(temperature: float) -> None:
    """HTTP 400 with its words: neither question can be asked, and nothing else is tried."""
    server = AskedServer(refuses=400)
    pairs = [a_pair(an_answer(*RISING), an_answer(1, 3), index, temperature) for index in range(40)]
    found = asked(server, *pairs)
    why = reasons.refused(400, "prompt_logprobs are switched off")

    assert found.unanswerable == (("greedy", why), ("sampled", why))
    assert all(one.gap_nats is None and one.scores is None for one in found.compared)
    assert len(server.asked) == 16


def test_a_baseline_that_tells_another_place() -> None:
    """Log probabilities that are off by one: its own tokens are not the best ones, and no difference is asked about."""
    found = asked(AskedServer(shifted=True), a_pair(an_answer(*RISING), an_answer(1, 3)))

    assert found.ruler is not None
    assert found.ruler < 0.9
    assert found.compared[0].gap_nats is None


def test_a_baseline_that_tells_zero_for_all() -> None:
    """Then no token lies behind another, which the rules know."""
    found = asked(AskedServer(zero=True), a_pair(an_answer(*RISING), an_answer(1, 3)))

    assert found.compared[0].gap_nats == PerArm(0.0, 0.0)


def test_arms_without_ids_of_one_vocabulary() -> None:
    """No ids, or those of another tokenizer: the reason stands at the pair."""
    other = an_answer(*RISING, token_ids=(501, 502), text="abcdefghijklmnopqrst+")
    found = asked(
        AskedServer(),
        a_pair(an_answer(*RISING), an_answer(1, 3, told=False)),
        a_pair(an_answer(*RISING, text="abcdefghijklmnopqrst-"), other, index=1),
        a_pair(an_answer(*RISING), an_answer(1, 3, prompt_token_ids=(7,)), index=2, temperature=0.8),
    )

    assert [one.reason for one in found.compared] == [reasons.NO_IDS, reasons.OTHER_IDS, reasons.OTHER_IDS]
    assert all(one.gap_nats is None for one in found.compared)


@pytest.mark.parametrize(
    "field",
    [
        b'"response_format": {"type": "json_object"}',
        b'"frequency_penalty": 0.5',
        b'"logit_bias": {"5": -100}',
        b'"tool_choice": "required"',
        b'"structured_outputs": {"regex": "x"}',
    ],
)
def test_a_request_that_limits_its_answer_is_not_held_against_raw_probabilities(field: bytes) -> None:
    """Of greedy answers alone: a grammar forbids the best token, in both arms alike."""
    greedy = a_pair(an_answer(*RISING), an_answer(1, 3), body=b'{"prompt": "a", "temperature": 0, ' + field + b"}")
    found = asked(AskedServer(), greedy)

    assert found.compared[0].reason == reasons.SHAPED
    assert found.compared[0].gap_nats is None


def test_llamacpp_is_asked_at_each_greedy_difference() -> None:
    """The chat as text, both answers as ids of its own tokenizer, and one token behind what they have in common."""
    server = AskedServer()
    chat = b'{"messages": [{"role": "user", "content": "hi"}], "temperature": 0}'
    greedy = a_pair(an_answer(*RISING, told=False), an_answer(1, 2, 3, 5, told=False), body=chat)
    found = asked(server, greedy, a_pair(an_answer(1), an_answer(2), 1, 0.8), engine="llamacpp")

    assert found.ruler == 1.0
    assert found.compared[0].gap_nats == PerArm(0.0, pytest.approx(2.3))
    assert found.compared[1].scores is None
    assert [question for question, _ in found.unanswerable] == ["sampled"]
    assert server.asked[-1] == (
        "/completion",
        {"prompt": ["a", 1, 2, 3], "n_predict": 1, "temperature": 0, "n_probs": 20, "cache_prompt": True},
    )


def test_a_text_that_its_tokenizer_cuts_in_another_way() -> None:
    """The baseline said `c` and `d`, for which its tokenizer has a token of its own: they part behind `c`, by 2.3 nats."""
    pair = a_pair(an_answer(*RISING, told=False), an_answer(1, 2, 4, 5, told=False))
    found = asked(AskedServer(joins="cd"), pair, engine="llamacpp")
    (one,) = found.compared

    assert found.ruler == 1.0
    assert one.gap_nats == PerArm(0.0, pytest.approx(2.3))


def test_other_servers_are_asked_by_text_on_the_completions_route_alone() -> None:
    """From the head of the word in which the answers part, token by token; a chat cannot go on."""
    chat = b'{"messages": [{"role": "user", "content": "hi"}], "temperature": 0}'
    pair = a_pair(an_answer(*RISING, told=False), an_answer(1, 2, 3, 5, told=False))
    by_text = asked(AskedServer(), pair, engine="openai")
    by_chat = asked(AskedServer(), replace(pair, body=chat), engine="openai")

    assert by_text.compared[0].gap_nats == PerArm(0.0, pytest.approx(2.3))
    assert dict(by_chat.unanswerable)["greedy"] == reasons.NO_CONTINUING


def test_tool_calls_are_not_continued_as_text() -> None:
    """What the engine took out of the text cannot be put back."""
    call = an_answer(*RISING, told=False, tool_calls=(GeneratedToolCall("f", "{}"),), content="")
    found = asked(AskedServer(), a_pair(call, an_answer(1, 3, told=False)), engine="llamacpp")

    assert dict(found.unanswerable)["greedy"] == reasons.NOT_PLAIN


def test_examples_show_the_widest_differences_without_secrets() -> None:
    """At most as many as the scenario says, the widest first, with what the baseline thinks of each token."""
    pairs = [
        a_pair(an_answer(*RISING), an_answer(1, 2, 3, 5), 0),
        a_pair(an_answer(*RISING), an_answer(1, 2, 3, 6), 1),
        a_pair(an_answer(0, *RISING), an_answer(0, 1, 2, 3, 4, 5, 6, 7, 8, 11), 2),
    ]
    two = replace(SCENARIO, answers=replace(SCENARIO.answers, examples=2))
    none = replace(SCENARIO, answers=replace(SCENARIO.answers, examples=0))
    found = asked(AskedServer(), *pairs, scenario=two)

    assert [one.index for one in found.examples] == [1, 2]
    assert found.examples[0].texts == PerArm("bcdefghijklm", "bcdg")
    likely = found.examples[0].probabilities
    assert likely is not None
    assert likely.baseline == pytest.approx(0.905, abs=1e-3)
    assert likely.speculative == pytest.approx(0.0067, abs=1e-4)
    assert found.examples[1].texts.baseline == "*********jklm"
    assert b"bcdg" in msgspec.json.encode(found)
    without = asked(AskedServer(), *pairs, scenario=none)
    assert without.examples == ()
    assert b"bcd" not in msgspec.json.encode(without)
