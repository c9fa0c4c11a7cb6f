"""The wording of sentences lives in `specbench` and in `tests/golden` alone, so a sentence can be put better in one place."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

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
