"""Every code that a result, a report or a record can hold has an entry, and docs/glossary.md is made of the same."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from specbench.explain.glossary.entry import Entry
from specbench.explain.glossary.lookup import ENTRIES, entries_for, nearest
from specbench.explain.glossary.page import glossary_page
from specbench.model.metrics import METRICS
from specbench.model.records import Outcome
from specbench.model.result import CellState, FindingState, VerdictWord
from specbench.model.scenario import ARMS

LONGEST = 30


def names(kind: str) -> set[str]:
    """The names of all entries of this kind."""
    return {entry.name for entry in ENTRIES if entry.kind == kind}


def calls(folder: str) -> Iterator[ast.Call]:
    """Every call in the source below that folder."""
    for module in Path("specbench", folder).rglob("*.py"):
        yield from (node for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.Call))


def called(call: ast.Call) -> str:
    """The name of what is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id if isinstance(call.func, ast.Name) else ""


def texts(node: ast.AST) -> Iterator[str]:
    """Its literal texts; of one with a placeholder, one for each arm or excess that may stand there."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        head = "".join(part.value for part in node.values if isinstance(part, ast.Constant) and isinstance(part.value, str))
        endings = ("looping", "truncated", "empty") if head.startswith("excess") else ARMS
        yield from (head + ending for ending in endings)
    elif isinstance(node, ast.IfExp):
        yield from (*texts(node.body), *texts(node.orelse))


def test_every_metric_state_verdict_and_outcome_has_an_entry() -> None:
    """By the tables and types of the model."""
    assert names("metric") == set(METRICS)
    assert names("state") == {*get_args(FindingState), *get_args(CellState)}
    assert names("verdict") == set(get_args(VerdictWord))
    assert set(get_args(Outcome)) <= names("outcome")


def test_every_integrity_check_has_an_entry() -> None:
    """By the calls that make one; a name that stands in a variable is found where it is assigned."""
    made: set[str] = set()
    for module in Path("specbench/analysis").rglob("*.py"):
        tree = ast.parse(module.read_text())
        assigned = {
            target.id: list(texts(node.value))
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            found = [call.args[0]] if called(call) == "check" and call.args else []
            found += [word.value for word in call.keywords if called(call) == "IntegrityCheck" and word.arg == "id"]
            for node in found:
                made |= set(assigned.get(node.id, ()) if isinstance(node, ast.Name) else texts(node))

    assert len(made) > 15
    assert made <= names("check")


def test_every_reason_code_has_an_entry() -> None:
    """By the calls that make a reason, and the defaults and branches that hand them a code."""
    made = {"harm_beyond", "not_shown_beyond"}
    for call in calls("explain"):
        if called(call) in ("_reason", "Reason") and call.args:
            made |= set(texts(call.args[0]))
        if called(call) in ("_of", "_open") and len(call.args) > 1:
            made |= set(texts(call.args[1]))

    assert len(made) > 15
    assert {code for code in made if re.fullmatch(r"[a-z_]+", code)} <= names("reason code")


def test_every_flag_of_a_request_has_an_entry() -> None:
    """By the calls that add one, and by the table of the docs."""
    made = {text for call in calls("stream") if called(call) == "add" and call.args for text in texts(call.args[0])}
    docs = Path("docs/engines.md").read_text()
    table = docs[docs.index("| flag of a request |") :].split("\n\n")[0]
    listed = {flag for row in table.splitlines()[2:] for flag in re.findall(r"`(\w+)`", row.split("|")[1])}

    assert len(made & names("flag")) > 10
    assert {text for text in made if re.fullmatch(r"[a-z0-9]+_[a-z0-9_]+", text)} <= names("flag")
    assert listed <= names("flag")


def test_every_note_of_a_finding_has_an_entry() -> None:
    """By the literal notes in the rules that judge."""
    source = "".join(file.read_text() for file in Path("specbench/analysis/verdict").glob("*.py"))
    made = set(re.findall(r'notes=\(\*?[a-z.]*,? ?"([a-z_]+)"', source)) | set(
        re.findall(r'return "(?:INCONCLUSIVE|NODATA|FAIL)", "([a-z_]+)"', source)
    )

    assert {"low_n", "no_data", "constant", "one_pair"} <= made
    assert made <= names("finding note")


def test_every_reason_of_an_absent_number_in_the_docs_has_an_entry() -> None:
    """By the table of docs/engines.md."""
    docs = Path("docs/engines.md").read_text()
    table = docs[docs.index("| reason begins with |") :].split("\n\n")[0]
    listed = {code for row in table.splitlines()[2:] for code in re.findall(r"`(\w+)`", row.split("|")[1])}

    assert listed
    assert listed <= names("absence")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.kind} {entry.name}")
def test_an_entry_is_short(entry: Entry) -> None:
    """At most 30 words a sentence; it says something, and ends."""
    assert entry.text.endswith(".")
    assert entry.title
    for sentence in re.split(r"(?<=[.:]) ", f"{entry.text} {entry.fix}"):
        assert len(sentence.split()) <= LONGEST, sentence


def test_no_two_entries_of_a_kind_share_a_name() -> None:
    """A word means one thing."""
    pairs = [(entry.kind, entry.name) for entry in ENTRIES]

    assert len(pairs) == len(set(pairs))


@pytest.mark.parametrize(
    ("word", "kinds"),
    [
        ("pace_p95", ["metric"]),
        ("Pace p95", ["metric"]),
        ("pace", ["word"]),
        ("TPOT", ["word"]),
        ("tpot-p50", ["metric"]),
        ("output tok/s", ["metric"]),
        ("promote", ["verdict", "reason code"]),
        ("INVALID", ["state", "verdict", "reason code"]),
        ("no_benefit", ["reason code", "finding note"]),
        ("?", ["state"]),
        ("✓", ["state"]),
        ("(✓)", ["word"]),
        ("acceptance", ["word"]),
        ("exit-codes", ["exit code"] * 13),
        ("11", ["exit code"]),
        ("95 % bounds", ["word"]),
        ("nothing of that name", []),
    ],
)
def test_a_word_is_found_as_people_write_it(word: str, kinds: list[str]) -> None:
    """In any case, with blanks, hyphens or underscores; a name comes before what else something goes by."""
    assert [entry.kind for entry in entries_for(word)] == kinds


@pytest.mark.parametrize(
    ("word", "meant"), [("paec", "pace"), ("merged_event", "merged_events"), ("promot", "PROMOTE"), ("xyzzy", None)]
)
def test_a_misspelt_word_is_guessed(word: str, meant: str | None) -> None:
    """Or not at all."""
    assert nearest(word) == meant


def test_the_page_of_the_docs_is_made_of_the_entries() -> None:
    """`make docs` writes it."""
    assert Path("docs/glossary.md").read_text() == glossary_page()
