"""`result.json`: strict JSON that reads back to the same value, and one line for every file that cannot be read."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specbench.errors import DataError, InternalError
from specbench.model.result import PerArm, Result, VerdictWord
from specbench.report.formats.result_json import read_result, result_json, result_of, schema
from tests.support.json_schema import violations
from tests.support.results import capped, every_verdict, hold, hostile


def _refuse(constant: str) -> Any:
    raise AssertionError(f"{constant} is not strict JSON")


@pytest.mark.parametrize("verdict", ["PROMOTE", "CAPPED", "HOLD", "ROLLBACK", "INVALID"])
def test_a_result_survives_its_file(verdict: VerdictWord) -> None:
    """Writing and reading gives the same value, and writing again the same bytes."""
    result = every_verdict()[verdict]
    data = result_json(result)
    assert result_of(data, "result.json") == result
    assert result_json(result_of(data, "result.json")) == data


@pytest.mark.parametrize("verdict", ["PROMOTE", "CAPPED", "HOLD", "ROLLBACK", "INVALID"])
def test_a_result_obeys_its_schema(verdict: VerdictWord) -> None:
    """The published schema describes what is written, and knows the five verdicts."""
    document = json.loads(result_json(every_verdict()[verdict]), parse_constant=_refuse)
    assert violations(document, schema()) == []
    assert violations(document | {"verdict": "MAYBE"}, schema()) == ["$.verdict: 'MAYBE' is none of the allowed values"]


def test_what_scripts_read_stands_where_they_look() -> None:
    """The verdict is a word, and each cell has the acceptance with its source."""
    document = json.loads(result_json(capped()))
    assert (document["verdict"], document["promote"], document["exit_code"]) == ("CAPPED", False, 11)
    assert document["enable_range"]["high"] == 4
    acceptance = document["cells"][0]["acceptance"]
    assert [acceptance[key] for key in ("length", "rate", "alpha", "source")] == [3.4, 0.6, 0.81, "per-request counts"]


def test_the_order_of_a_mapping_changes_no_byte() -> None:
    """Two equal results give equal bytes, whatever order their mappings were filled in."""
    result = capped()
    one = replace(result, run=replace(result.run, labels={"a": "1", "b": "2"}))
    other = replace(result, run=replace(result.run, labels={"b": "2", "a": "1"}))
    assert result_json(one) == result_json(other)


def test_absence_is_null_with_a_reason_and_names_stay_untouched() -> None:
    """T-10: an undefined figure is null beside its reason, and a model called BaNaNa keeps its name."""
    document = json.loads(result_json(hold()), parse_constant=_refuse)
    ttft = next(found for found in document["cells"][1]["metrics"] if found["metric"] == "ttft_p95")
    assert (ttft["ratio"], ttft["reason"]) == (None, "no request of the speculative arm succeeded")
    assert json.loads(result_json(hostile()))["endpoints"]["speculative"]["model"] == 'BaNaNa "x" & <b>'


@pytest.mark.parametrize("broken", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_none_is_never_written(broken: float) -> None:
    """A value that is not finite is a defect of what made the result, and is named by its place."""
    result = capped()
    cell = replace(result.cells[0], factors=replace(result.cells[0].factors, step_ms=PerArm(1.0, broken)))
    with pytest.raises(InternalError, match=r"\$\.cells\[0\]\.factors\.step_ms\.speculative is not a finite number"):
        result_json(replace(result, cells=(cell,)))


def _changed(**fields: Any) -> bytes:
    return json.dumps(json.loads(result_json(capped())) | fields).encode()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "damaged, not whole JSON"),
        (result_json(capped())[:5000], "damaged, not whole JSON"),
        (b"\xff\xfe", "damaged, not whole JSON"),
        (_changed(cells=0).replace(b'"cells": 0', b'"cells": ' + b"[" * 5000 + b"]" * 5000), "damaged"),
        (b"[]", "not a result of specbench"),
        (b"{}", "not a result of specbench"),
        (b'{"schema_version": "1"}', "not a result of specbench"),
        (_changed(schema_version=2), "format version 2 is newer than 1; update specbench"),
        (_changed(schema_version=0), "format version 0 is older than 1; make it again with: specbench analyze runs/x"),
        (_changed(cells=3), "cells"),
        (_changed(verdict="MAYBE"), "verdict"),
    ],
)
def test_what_cannot_be_read_says_so_in_one_line(data: bytes, said: str) -> None:
    """Damage and other versions are one line that names the file."""
    with pytest.raises(DataError) as raised:
        result_of(data, "runs/x/result.json")
    message = str(raised.value)
    assert message.startswith("runs/x/result.json: ")
    assert said in message
    assert "\n" not in message


def test_a_later_field_of_the_same_version_is_ignored() -> None:
    """Within a version fields are only added, so a reader passes over what it does not know."""
    assert result_of(_changed(something_new=[1, 2]), "result.json") == capped()


def test_a_run_folder_is_read_by_its_name(tmp_path: Path) -> None:
    """The folder stands for the file in it; one that was never analysed says how to make it."""
    (tmp_path / "manifest.json").touch()
    with pytest.raises(DataError, match=r"there is no result here; make one with: specbench analyze"):
        read_result(tmp_path)
    (tmp_path / "result.json").write_bytes(result_json(capped()))
    found: Result = read_result(tmp_path)
    assert found == read_result(tmp_path / "result.json") == capped()


def test_a_name_that_is_too_long_is_one_line() -> None:
    """As the system says it."""
    with pytest.raises(DataError, match=r"^a{300}: cannot be read \(File name too long\)$"):
        read_result(Path("a" * 300))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"verdict": "PROMOTE"}, "contradicts itself: the verdict is PROMOTE, the exit code 11, promote is false"),
        ({"exit_code": 0}, "contradicts itself: the verdict is CAPPED, the exit code 0"),
        ({"promote": True}, "contradicts itself: the verdict is CAPPED, the exit code 11, promote is true"),
        ({"verdict": "PROMOTE", "exit_code": 0, "promote": True}, "its fields and its digest disagree"),
        ({"cells": []}, "its fields and its digest disagree"),
        ({"enable_range": None}, "its fields and its digest disagree"),
        ({"facts_sha256": "0" * 64}, "its fields and its digest disagree"),
        ({"digest": "0" * 64}, "its fields and its digest disagree"),
        ({"digest_of": ["verdict"]}, "its fields and its digest disagree"),
        ({"digest": None}, "holds no digest of itself"),
    ],
)
def test_an_edited_result_is_refused(fields: dict[str, Any], said: str) -> None:
    """A word without its code, a figure without its digest: a mistake is found, whoever made it."""
    with pytest.raises(DataError) as raised:
        result_of(_changed(**fields), "runs/x/result.json")
    assert said in str(raised.value)
    assert str(raised.value).endswith("make it again with: specbench analyze runs/x")


def test_the_digest_is_of_what_is_said_not_of_how_it_is_laid_out() -> None:
    """Another order of keys, another white space: the same result."""
    document = json.loads(result_json(capped()))
    turned = json.dumps(dict(reversed(document.items())), indent=7).encode()

    assert result_of(turned, "result.json") == capped()


def test_the_text_of_a_result_holds_no_control_character() -> None:
    """Strings that JSON lets stand as they are would reach a terminal with `report --format json`."""
    result = replace(capped(), notes=("a\x9b2J\u202eb\x7f",))

    text = result_json(result).decode()

    assert not {"\x9b", "\u202e", "\x7f"} & set(text)
    assert result_of(text.encode(), "result.json") == result
