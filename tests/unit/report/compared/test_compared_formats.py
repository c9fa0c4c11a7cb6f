"""A comparison in its four formats: no word that promotes, no line of somebody else's, and the same numbers."""

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from specbench.analysis.imported.two_runs import compare_runs
from specbench.errors import DataError
from specbench.model.data.imported_result import ImportedComparison
from specbench.report.compared.compared_formats import FORMATS_OF_COMPARISONS, compared_as
from tests.support.goldens import same_text
from tests.support.imported import a_run, judged
from tests.support.results import capped, promote

URLS: list[dict[str, Any]] = [{"url": "http://a:8000"}, {"url": "http://b:8000", "speculated": True}]


def found(**fields: Any) -> ImportedComparison:
    """A comparison whose arms are known by their URLs."""
    return judged([a_run(20.0, **URLS[0])], [a_run(13.0, **(URLS[1] | fields))])


@pytest.mark.parametrize("format", sorted(FORMATS_OF_COMPARISONS))
def test_no_format_promotes(format: str) -> None:
    """However large the gain is."""
    made = compared_as(judged([a_run(100.0)], [a_run(1.0)]), format)

    assert "HOLD" in made
    assert "PROMOTE" not in made
    assert "CAPPED" not in made


def test_what_a_person_reads() -> None:
    """The text of a gain, of harm, of arms that cannot be compared, and of two runs of ours."""
    same_text("a gain", compared_as(found(), "text"))
    same_text("harm", compared_as(judged([a_run(good=24)], [a_run(good=0, bad=24)]), "text"))
    same_text("not comparable", compared_as(found(model="other"), "text"))
    same_text("markdown", compared_as(found(), "markdown"))
    same_text("two runs", compared_as(compare_runs(promote(), capped(), ("reports/one", "reports/two")), "text"))


def test_json_has_every_number_and_no_infinity() -> None:
    """With the kind, the files by digest, both names of a metric, and our definition."""
    held = json.loads(compared_as(found(), "json"), parse_constant=pytest.fail)
    tpot = next(one for one in held["cells"][0]["metrics"] if one["ours"] == "tpot_classic_p50")

    assert (held["kind"], held["verdict"], held["indication"], held["integrity"]) == ("imported", "HOLD", "faster", "not known")
    assert held["files"]["baseline"] == [{"path": "a.json", "sha256": "0" * 64}]
    assert tpot["theirs"] == "TPOT"
    assert "(tokens - 1)" in tpot["definition"]
    assert (tpot["n"], tpot["same_prompts"]) == ({"baseline": 24, "speculative": 24}, True)


def test_the_page_is_whole_and_runs_nothing() -> None:
    """Well-formed, without a script, and with what others wrote as text."""
    page = compared_as(judged([a_run(load="<script>x</script>")], [a_run(load="<script>x</script>")]), "html")
    body = page[page.index("<body>") : page.index("</html>")]

    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert ElementTree.fromstring(body).tag == "body"


def test_a_name_with_a_line_break_begins_no_line() -> None:
    """A model that is called like a command of a CI system."""
    made = compared_as(found(model="m\n::error::x"), "text")

    assert not [line for line in made.splitlines() if line.startswith("::")]


def test_an_unknown_format_names_the_known_ones() -> None:
    """With the nearest."""
    with pytest.raises(DataError, match="markdown"):
        compared_as(replace(found()), "markdwon")
