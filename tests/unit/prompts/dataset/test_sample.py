"""Of a dataset each bin keeps the same rows whatever their order, and the census says what became of all others."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specbench.errors import DataError
from specbench.model.data.datasets import DatasetReading
from specbench.prompts.dataset.sample import read_dataset
from specbench.prompts.dataset.survey import survey
from specbench.prompts.lengths import TextCounter
from tests.support.datasets import WORDS, lines, one_bin, read, workload


def words(count: int, first: str = "w") -> str:
    """A text of so many words."""
    return " ".join([first, *["word"] * (count - 1)])


def refusal(path: Path, *bins: object, largest: int = 1, reading: DatasetReading | None = None) -> str:
    """The one line with which the dataset is refused for these bins, without its folder."""
    with pytest.raises(DataError) as error:
        read_dataset(path, workload(*bins, reading=reading), 0, WORDS, largest)  # type: ignore[arg-type]
    assert int(error.value.exit_code) == 65
    return str(error.value).replace(f"{path.parent}/", "")


def test_rows_lie_in_the_bins_of_their_lengths_and_the_rest_is_counted(tmp_path: Path) -> None:
    """Below, above and between the bins; skipped by reason; copies once in the sample and with their number in the census."""
    rows = [{"prompt": words(length, f"n{length}")} for length in (5, 20, 21, 60, 100, 101, 9_000)]
    path = lines(tmp_path / "d.jsonl", [*rows, rows[1], rows[1], {"prompt": " "}, {"question": "x"}])
    dataset = read(path, one_bin(20, 40, "short"), one_bin(100, 200, "long"), counter=WORDS)

    assert {name: len(found) for name, found in dataset.rows.items()} == {"short": 2, "long": 2}
    assert dataset.census.bins == {"short": 4, "long": 2}
    assert dataset.census.outside == {"below": 1, "above": 1, "between": 1}
    assert dataset.census.skipped == {"empty prompt": 1, "no shape that is known": 1}
    assert (dataset.census.rows, dataset.census.used, dataset.census.copies) == (11, 6, 2)
    assert (dataset.census.shapes, dataset.census.counted) == ({"prompt": 9}, "words")


def test_the_same_seed_keeps_the_same_rows_in_any_order_of_lines(tmp_path: Path) -> None:
    """100 of 600 rows, shuffled; another seed keeps others."""
    rows = [{"prompt": words(20 + number % 7, f"n{number}")} for number in range(600)]
    shuffled = random.Random(1).sample(rows, len(rows))
    few = DatasetReading(sample=100)
    one, other = lines(tmp_path / "a.jsonl", rows), lines(tmp_path / "b.jsonl", shuffled)
    kept = [{row.text for row in read(path, reading=few).rows["all"]} for path in (one, other)]
    by_seed = {row.text for row in read_dataset(one, workload(reading=few), 1, None).rows["all"]}

    assert kept[0] == kept[1]
    assert len(kept[0]) == len(by_seed) == 100
    assert kept[0] != by_seed


def test_labels_place_rows_too(tmp_path: Path) -> None:
    """A bin of two labels, one of the rest, and one that none names."""
    rows = [{"prompt": f"question {label}", "metadata": {"task": label}} for label in ("code", "sql", "chat", "poem")]
    path = lines(tmp_path / "d.jsonl", rows)
    bins = (one_bin(name="edit", label=("code", "sql")), one_bin(name="talk", label=("chat",)))
    dataset = read(path, *bins, reading=DatasetReading(label="metadata.task"))

    assert {name: sorted(row.text for row in found) for name, found in dataset.rows.items()} == {
        "edit": ["question code", "question sql"],
        "talk": ["question chat"],
    }
    assert dataset.census.outside == {"label": 1}


def test_recorded_answers_place_rows_by_both_bands(tmp_path: Path) -> None:
    """One prompt with three lengths of its answer; a row without one goes by its prompt alone."""
    rows = [{"prompt": f"question {n}", "usage": {"completion_tokens": n}} for n in (10, 50, 900)]
    path = lines(tmp_path / "d.jsonl", [*rows, {"prompt": "no answer"}])
    dataset = read(path, replace(one_bin(), output_tokens=(20, 100)))

    assert {row.text for row in dataset.rows["all"]} == {"question 50", "no answer"}
    assert dataset.census.outside == {"output": 2}


def test_the_recorded_lengths_of_prompts_are_the_count_where_nothing_else_counts(tmp_path: Path) -> None:
    """Thirty rows of 10 words and 30 recorded tokens: a row without a record is measured by their ratio."""
    rows = [{"prompt": words(10, f"w{number}"), "usage": {"prompt_tokens": 30}} for number in range(30)]
    path = lines(tmp_path / "d.jsonl", [*rows, {"prompt": words(10, "x")}])
    dataset = read(path, one_bin(25, 35))

    assert dataset.census.bins == {"all": 31}
    assert dataset.census.counted == "the file's own record"


def test_without_any_counter_lengths_are_estimates_and_called_so(tmp_path: Path) -> None:
    """Nine characters of Japanese are far more than the 2.25 tokens that a quarter of a token for each would make."""
    path = lines(tmp_path / "d.jsonl", [{"prompt": "今日は良い天気です"}])
    dataset = read(path, one_bin(5, 12))

    assert dataset.census.counted == "estimated"
    assert len(dataset.rows["all"]) == 1


def test_rows_that_their_exact_count_puts_outside_leave_their_bin(tmp_path: Path) -> None:
    """Texts with a mark have twice the tokens that characters tell, which the ratio over all cannot know."""
    counter = TextCounter("marks", lambda texts: [(2 if "!" in text else 1) * len(text.split()) for text in texts])
    rows = [{"prompt": words(20, f"n{number}{'!' if number % 10 == 0 else 'x'}")} for number in range(100)]
    dataset = read(lines(tmp_path / "d.jsonl", rows), one_bin(15, 30), counter=counter)

    assert not [row for row in dataset.rows["all"] if "!" in row.text]
    assert (dataset.census.left, dataset.census.counted_exactly, len(dataset.rows["all"])) == (10, 100, 90)


def test_a_trace_without_texts_is_made_up_and_says_so(tmp_path: Path) -> None:
    """Lengths and times as recorded, from the first request on, and out of order by more than a second."""
    path = tmp_path / "azure.csv"
    path.write_text(
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:50.1234567,100,10\n2023-11-16 18:15:46.1234567,200,20\n"
    )
    dataset = read(path)

    assert {(row.input_tokens, row.output_tokens, round(row.at_s or 0, 3)) for row in dataset.rows["all"]} == {
        (100, 10, 4.0),
        (200, 20, 0.0),
    }
    assert (dataset.census.made_up, dataset.census.unsorted, dataset.census.counted) == (2, 1, "the file's own record")
    assert dataset.texts == []


def test_rows_of_which_the_text_was_taken_out_are_left_out_beside_others(tmp_path: Path) -> None:
    """One redacted row in a log of texts makes none of it made up."""
    logged = {"call_type": "completion", "startTime": 1.0, "prompt_tokens": 9, "completion_tokens": 3}
    rows = [logged | {"messages": [{"role": "user", "content": text}]} for text in ("a b", "c d", "redacted-by-litellm")]
    dataset = read(lines(tmp_path / "d.jsonl", rows))

    assert {row.text for row in dataset.rows["all"]} == {"a b", "c d"}
    assert dataset.census.made_up == 0
    assert dataset.census.skipped == {"lengths without a text, beside rows that have one": 1}


def test_halves_of_surrogates_are_counted_and_not_sent(tmp_path: Path) -> None:
    """In the question, in the history, and in a tool."""
    tool = {"messages": [{"role": "user", "content": "a"}], "tools": [{"name": "\ud800"}]}
    talk = {
        "messages": [
            {"role": "user", "content": "\udfff"},
            {"role": "assistant", "content": "b"},
            {"role": "user", "content": "c"},
        ]
    }
    dataset = read(lines(tmp_path / "d.jsonl", [{"prompt": "\ud83d"}, tool, talk, {"prompt": "\U0001f600"}]))

    assert [row.text for row in dataset.rows["all"]] == ["\U0001f600"]
    assert dataset.census.skipped == {"half of a surrogate pair, which is no character": 3}


def test_a_conversation_is_no_text_to_complete(tmp_path: Path) -> None:
    """With route completions."""
    talk = {
        "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
    }
    path = lines(tmp_path / "d.jsonl", [talk, {"prompt": "x"}])

    assert survey(path, DatasetReading(), 0, "completions").skipped == {"a conversation needs route: chat": 1}


def test_each_question_of_a_conversation_is_a_request_of_its_session(tmp_path: Path) -> None:
    """Three questions, numbered, with the recorded answers before them."""
    turns = [{"from": one, "value": f"{one} {number}"} for number in range(3) for one in ("human", "gpt")]
    path = lines(tmp_path / "d.jsonl", [{"conversations": turns}])
    rows = sorted(read(path, reading=DatasetReading(turns="each")).rows["all"], key=lambda row: row.turn)

    assert [(row.text, len(row.messages), row.turn, row.session) for row in rows] == [
        ("human 0", 0, 0, "1"),
        ("human 1", 3, 1, "1"),
        ("human 2", 5, 2, "1"),
    ]


@pytest.mark.parametrize("count", [1, 7, 1_500])
def test_a_file_with_hardly_a_usable_row_says_what_it_has(count: int, tmp_path: Path) -> None:
    """Its keys, the nearest shape, and why its rows were skipped."""
    path = lines(tmp_path / "d.jsonl", [{"user_prompt": "x", "answer": "y"}] * count)
    message = refusal(path)

    assert "user_prompt, answer" in message
    assert "the nearest shape is prompt (prompt)" in message
    assert f"{min(count, 1_000):,} no shape that is known" in message


def test_one_usable_row_in_two_hundred_is_too_few_and_one_in_fifty_is_not(tmp_path: Path) -> None:
    """A file that was meant for something else is not measured by its few accidents."""
    strange = [{"question": "x"}] * 199

    assert "fewer than 1 row in 100" in refusal(lines(tmp_path / "a.jsonl", [{"prompt": "a"}, *strange]))
    assert read(lines(tmp_path / "b.jsonl", [{"prompt": "a"}, *strange[:49]])).census.used == 1


@pytest.mark.parametrize("content", ["", "\n \n", "[]"])
def test_an_empty_file_is_refused(content: str, tmp_path: Path) -> None:
    """And told what a row needs."""
    path = tmp_path / "d.jsonl"
    path.write_text(content)

    assert "a row needs prompt, text, messages or conversations" in refusal(path)


def test_placeholders_of_speed_bench_are_never_sent(tmp_path: Path) -> None:
    """Its published rows hold a sentence in place of each prompt."""
    row = {
        "question_id": "a" * 32,
        "category": "coding",
        "messages": [{"role": "user", "content": "FULL BENCHMARK DATA SHOULD BE FETCHED FROM x"}],
    }

    assert refusal(lines(tmp_path / "d.jsonl", [row])).startswith(
        "d.jsonl:1: its prompts are placeholders; assemble the data first"
    )


def test_an_empty_bin_says_which_lengths_there_are(tmp_path: Path) -> None:
    """Percentiles, skips, and the command that proposes bins."""
    path = lines(tmp_path / "d.jsonl", [*({"prompt": words(20, f"n{number}")} for number in range(50)), {"prompt": ""}])
    message = refusal(path, one_bin(500, 900, "long"))

    assert message.startswith("d.jsonl: none of its 50 prompts has the 500 to 900 tokens of bin long; its prompts have p1 ")
    assert "1 skipped: empty prompt" in message
    assert message.replace(str(path.parent) + "/", "").endswith("specbench bins d.jsonl")


def test_a_bin_with_fewer_rows_than_streams_is_refused(tmp_path: Path) -> None:
    """Sixteen streams would send copies of 15 rows at once; sixteen rows will do. Copies do not count."""
    rows = [{"prompt": words(20, f"n{number}")} for number in range(15)]
    path = lines(tmp_path / "d.jsonl", [*rows, rows[0]])

    assert "only 15 of its prompts have" in refusal(path, largest=16)
    assert len(read_dataset(lines(path, [*rows, {"prompt": words(20)}]), workload(), 0, WORDS, 16).rows["all"]) == 16


def test_prompts_that_repeat_themselves_compress(tmp_path: Path) -> None:
    """One sentence in 200 disguises is copied text; words that differ are none."""
    sentence = "The quick brown fox jumps over the lazy dog near the bank of the river. " * 20
    copied = read(lines(tmp_path / "a.jsonl", [{"prompt": f"{sentence}{number}"} for number in range(20)]))
    varied = read(lines(tmp_path / "b.jsonl", [{"prompt": f"{number * 7919} is {number**3}"} for number in range(200)]))

    assert copied.compresses > 20
    assert varied.compresses < 20


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.text(),
            st.dictionaries(
                st.sampled_from(["prompt", "text", "messages", "turns", "attributes", "body"]),
                st.recursive(
                    st.none() | st.integers() | st.text(),
                    lambda held: (
                        st.lists(held) | st.dictionaries(st.sampled_from(["role", "content", "value", "from", "type"]), held)
                    ),
                ),
            ),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_any_json_is_a_dataset_or_one_line(tmp_path_factory: pytest.TempPathFactory, rows: list[object]) -> None:
    """Never a traceback, and every row is used, outside or skipped."""
    path = lines(tmp_path_factory.mktemp("any") / "d.jsonl", rows)
    try:
        dataset = read(path)
    except DataError as error:
        complaint: str | None = str(error)
    else:
        complaint = None
    if complaint is not None:
        assert "\n" not in complaint
        return
    census = dataset.census
    assert census.rows == len(rows)
    assert all(row.text for row in dataset.rows["all"])
    assert census.used + sum(census.outside.values()) + sum(census.skipped.values()) == census.rows
