"""Answers end where they should, and their text is complete, whole and certain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.engine.core.output_text import OutputLimits, OutputText, TextDelta
from specbench.engine.models.vocabulary import EOS, Vocabulary, decode

WORDS = Vocabulary((b" one", b" two", b"END", b" EN"))
ONE, TWO, END, EN = range(257, 261)


def grown(limits: OutputLimits, *steps: list[int]) -> list[TextDelta]:
    """The growths of an answer, step by step, up to its end."""
    answer = OutputText(WORDS, limits)
    made: list[TextDelta] = []
    for step in steps:
        made.append(answer.grow(step))
        if made[-1].finish:
            break
    return made


def test_the_limit_cuts_a_round() -> None:
    """Of five tokens two fit; the answer ends by length."""
    assert grown(OutputLimits(3), [ONE], [TWO, ONE, TWO, ONE, TWO]) == [
        TextDelta((ONE,), " one", None, None),
        TextDelta((TWO, ONE), " two one", "length", None),
    ]


def test_the_end_token_counts_and_has_no_text() -> None:
    """What was computed after it is dropped."""
    assert grown(OutputLimits(9), [ONE, EOS, TWO]) == [TextDelta((ONE, EOS), " one", "stop", None)]


def test_the_end_token_can_be_ignored() -> None:
    """With ignore_eos an answer runs to its limit."""
    assert grown(OutputLimits(3, ignore_eos=True), [ONE, EOS, TWO]) == [TextDelta((ONE, EOS, TWO), " one two", "length", None)]


def test_a_stop_string_ends_the_text_before_it() -> None:
    """The token that completes it counts, its text does not show, and the reason is named."""
    assert grown(OutputLimits(9, ("END",)), [ONE, END, TWO]) == [TextDelta((ONE, END), " one", "stop", "END")]


def test_what_may_become_a_stop_string_is_held_back() -> None:
    """ " EN" may go on to "END": it is told only once it did not."""
    assert grown(OutputLimits(9, ("END",)), [ONE, EN], [TWO]) == [
        TextDelta((ONE, EN), " one ", None, None),
        TextDelta((TWO,), "EN two", None, None),
    ]
    assert grown(OutputLimits(9, ("END",)), [EN], list(b"D"))[-1] == TextDelta((ord("D"),), "", "stop", "END")


def test_the_earliest_stop_string_wins() -> None:
    """Two stop strings in one token: the text ends before the first of them."""
    assert grown(OutputLimits(9, ("wo", "t")), [TWO])[-1] == TextDelta((TWO,), " ", "stop", "t")


def test_an_end_releases_what_was_held() -> None:
    """At the limit nothing can follow any more, so the held text is told."""
    assert [growth.text for growth in grown(OutputLimits(2, ("END",)), [ONE], [EN])] == [" one", " EN"]


def test_half_a_character_waits_for_its_other_half() -> None:
    """An event may have tokens and no text; a character is told whole, and a half at the end as U+FFFD."""
    first, second = "é".encode()

    assert [growth.text for growth in grown(OutputLimits(9), [first], [second, ONE])] == ["", "é one"]
    assert [growth.text for growth in grown(OutputLimits(1), [first])] == ["�"]


@given(st.lists(st.lists(st.one_of(st.integers(0, 255), st.sampled_from([ONE, TWO, END, EN])), min_size=1), min_size=1))
def test_steps_do_not_change_the_text(steps: list[list[int]]) -> None:
    """However the tokens come, the texts of all growths are the text of all tokens."""
    tokens = [token for step in steps for token in step]
    made = grown(OutputLimits(len(tokens), ("zzz",)), *steps)

    assert "".join(growth.text for growth in made) == decode(WORDS, tokens)
    assert made[-1].finish == "length"


@given(st.lists(st.sampled_from([ONE, TWO, EN, END, ord("E"), ord("N"), ord("D")]), min_size=1, max_size=30), st.integers(1, 5))
def test_a_stop_string_never_shows(tokens: list[int], width: int) -> None:
    """No cutting into steps lets a stop string through, and the text is what lies before its first occurrence."""
    made = grown(OutputLimits(len(tokens), ("END", "two")), *[tokens[i : i + width] for i in range(0, len(tokens), width)])
    text = "".join(growth.text for growth in made)
    whole = decode(WORDS, tokens)
    ends = [whole.index(stop) for stop in ("END", "two") if stop in whole]

    assert text == (whole[: min(ends)] if ends else whole)


@pytest.mark.parametrize("tokens", [[ONE], [ONE, TWO]])
def test_tokens_are_counted(tokens: list[int]) -> None:
    """The count is what the usage reports."""
    answer = OutputText(WORDS, OutputLimits(9))
    answer.grow(tokens)

    assert answer.count == len(tokens)
