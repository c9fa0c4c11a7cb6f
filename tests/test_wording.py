"""The wording of sentences lives in `specbench` and in `tests/golden` alone, so a sentence can be put better in one place."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

# Where sentences are made; the definitions of the glossary are a page of the docs and stand there in full.
SENTENCES = sorted(file for file in Path("specbench/explain").rglob("*.py") if "glossary" not in file.parts)
TESTS = [*Path("tests/unit").rglob("*.py"), *Path("tests/e2e").rglob("*.py"), *Path("tests").glob("*.py")]
LONGEST = 4  # words of a sentence that a test may hold by chance
WORD = re.compile(r"[A-Za-z0-9']+(?:-[A-Za-z0-9]+)*")


def phrases(text: str) -> Iterator[tuple[str, ...]]:
    """Each run of one word more than may be, in lower case, whatever stands between the words."""
    words = [word.lower() for word in WORD.findall(text)]
    return zip(*(words[start:] for start in range(LONGEST + 1)), strict=False)


def sentences(module: str) -> Iterator[str]:
    """The string literals of a module's source, the constant parts of f-strings among them, but for its docstrings."""
    tree = ast.parse(module)
    documented = (node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef))
    docs = {id(node.body[0].value) for node in documented if node.body and isinstance(node.body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def test_no_test_repeats_the_wording_of_a_sentence() -> None:
    """Neither in a literal nor in a comment; `same_text` of `tests/support/goldens.py` holds a sentence to its golden text."""
    said = {phrase for file in SENTENCES for sentence in sentences(file.read_text()) for phrase in phrases(sentence)}
    repeated = [(str(file), " ".join(phrase)) for file in TESTS for phrase in phrases(file.read_text()) if phrase in said]

    assert said
    assert repeated == []


def test_a_phrase_is_found_whatever_cuts_it() -> None:
    """Quotes, line breaks and stops stand between words; a docstring is no sentence, and a placeholder ends a phrase."""
    module = '"""A text of five words."""\ndef f(n):\n    """Of five too."""\n    return f"one two three four five {n} six"\n'

    assert list(sentences(module)) == ["one two three four five ", " six"]
    assert list(phrases('"One two, three "\n    "four five six"')) == [
        ("one", "two", "three", "four", "five"),
        ("two", "three", "four", "five", "six"),
    ]


# Words that do not return to what people read: report, request, fix, yield, replace, host, confidence are the field's.
RETIRED = re.compile(
    r"\b(mend|mended|surer|whatever|heard|told|stands? in for|asked for|brings?|brought|any check would look|"
    r"such runs|times the baseline's \((?:allowed|asked))\b",
    re.IGNORECASE,
)
MOST_WORDS = 30  # of a sentence
READ = [  # what people read: made texts, the pages of help, scenarios and docs
    *sorted(Path("tests/golden/texts").rglob("*.txt")),
    *sorted(Path("tests/golden/help").glob("*.txt")),
    *(Path("tests/golden/reports") / f"{name}.txt" for name in ("text", "markdown", "comment", "annotations", "junit")),
]
STOP = re.compile(r"(?<=[.!?])\s+|\n(?! +\S)|\n\s*(?:[-*=|#>:]|\d+\.)|[|•]|<[^>]*>| {3,}")


def spoken(text: str) -> Iterator[str]:
    """The sentences of a text: what stands between stops, bars and gaps of tables, and tags; no code, brackets or addresses."""
    plain = re.sub(r"`[^`]*`|https?://\S+|\([^()]*\)", " ", text)
    yield from (part for part in STOP.split(plain) if part)


def long_sentences(text: str) -> list[str]:
    """Those of more words than a sentence may have; what holds no letter is no word."""
    return [" ".join(one.split()) for one in spoken(text) if len(re.findall(r"[^\W\d_][\w'-]*", one)) > MOST_WORDS]


@pytest.mark.parametrize("file", READ, ids=str)
def test_a_sentence_has_at_most_thirty_words(file: Path) -> None:
    """Of every golden text of a report, an explanation, a check, a note and the help."""
    assert long_sentences(file.read_text()) == []


@pytest.mark.parametrize("file", [*READ, *sorted(Path("scenarios").glob("*.yaml")), Path("README.md")], ids=str)
def test_retired_words_do_not_return(file: Path) -> None:
    """In what people read, but for the names of blocks."""
    lines = [line for line in file.read_text().splitlines() if not line.startswith("=== ") and RETIRED.search(line)]

    assert lines == []


def test_no_module_of_sentences_has_a_retired_word() -> None:
    """Texts that no golden file shows are written by the same rules."""
    found = [
        (str(file), sentence)
        for file in sorted(Path("specbench/explain").rglob("*.py"))
        for sentence in sentences(file.read_text())
        if RETIRED.search(sentence) and " " in sentence
    ]

    assert found == []


def test_a_long_sentence_is_found_in_a_table_and_across_lines() -> None:
    """Thirty words pass, thirty-one do not; brackets and code are not counted."""
    assert long_sentences("word " * 30 + "(in brackets) `code`.") == []
    assert len(long_sentences("word\n  " * 31)) == 1
    assert len(long_sentences("| a | " + "word " * 31 + " | b |")) == 1
