"""YAML text becomes plain values with their lines, by YAML 1.2's rules for scalars."""

import pytest

from specbench.errors import ScenarioError
from specbench.scenario.text.yaml_source import key_path, read_text


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1e3", 1000.0),
        ("1.0e3", 1000.0),
        ("1.0e+3", 1000.0),
        ("1_000", 1000),
        ("010", 10),
        ("12:30", "12:30"),
        ("no", "no"),
        ("off", "off"),
        ("on", "on"),
        ("yes", "yes"),
        ("true", True),
        ("~", None),
        ("'7'", "7"),
        (".5", 0.5),
        ("5%", "5%"),
        pytest.param("9" * 5000, float("inf"), id="a number of 5000 digits"),
        ("2026-11-29", "2026-11-29"),
    ],
)
def test_a_scalar_means_what_it_says(written: str, meant: object) -> None:
    """Numbers are numbers however they are written, and words that YAML 1.1 takes for booleans stay words."""
    value = read_text(f"key: {written}", "x.yaml").value["key"]

    assert value == meant
    assert type(value) is type(meant)


def test_off_and_on_are_keys_and_no_is_a_language() -> None:
    """Arms called off and on, and Norwegian, survive."""
    value = read_text("arms: {off: {a: 1}, on: {a: 2}}\nlanguages: [de, no]", "x.yaml").value

    assert value == {"arms": {"off": {"a": 1}, "on": {"a": 2}}, "languages": ["de", "no"]}


def test_a_duplicate_key_names_both_lines() -> None:
    """The second value of a key never wins silently."""
    with pytest.raises(ScenarioError) as error:
        read_text("guardrails:\n  max_error_rate: 0.01\n  other: 1\n  max_error_rate: 0.5\n", "x.yaml")

    assert str(error.value) == "x.yaml:4: guardrails.max_error_rate: duplicate key, first at line 2; keep one"


def test_a_tab_as_indent_is_named_with_its_line() -> None:
    """A tab is an error of one line, no traceback."""
    with pytest.raises(ScenarioError) as error:
        read_text("matrix:\n\tpairs: 4\n", "x.yaml")

    assert str(error.value) == "x.yaml:2: not valid YAML: a tab is used as indent; use spaces"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "x.yaml:1: the file is empty"),
        ("a: !!python/object/apply:os.system [ls]", "x.yaml:1: the tag tag:yaml.org,2002:python"),
        ("a: &x [*x]", "x.yaml:1: not valid YAML: the reference *x is not allowed"),
        ("a: [1, 2", "x.yaml:1: not valid YAML"),
        ("a: {b: 5%: x}", "x.yaml:1: not valid YAML: expected ',' or '}', but got ':', at 'a: {b: 5%^: x}'"),
        ("# A title\n\n**Bold** text", "x.yaml: is not a scenario; a scenario is YAML that starts with `name:`"),
        ("? [a]\n: 1", "x.yaml:1: a key must be plain text"),
        ("a: 1\n---\nb: 2", "not valid YAML"),
        ('labels: {\n  x: "\\ud800"}', "x.yaml:2: contains an unpaired surrogate ('\\ud800'); write the character itself"),
        ('labels: ["\\ud83d\\ude00"]', "x.yaml:1: contains an unpaired surrogate ('\\ud83d')"),
        ('a: 1\n"\\udfff": 1', "x.yaml:2: contains an unpaired surrogate ('\\udfff')"),
        ("[" * 20_000, "x.yaml:1: brackets or indents are nested too deeply"),
    ],
)
def test_what_is_no_scenario_text_is_one_line(content: str, message: str) -> None:
    """Whatever stands in the file, the answer is one line with the file's name."""
    with pytest.raises(ScenarioError) as error:
        read_text(content, "x.yaml")

    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_path_reads_as_people_write_it() -> None:
    """List places stand in brackets, keys behind dots."""
    assert key_path(("workload", "bins", 0, "weight")) == "workload.bins[0].weight"


def test_a_line_is_known_for_each_key_and_for_missing_ones_the_parents() -> None:
    """Errors about a missing key point at the mapping that lacks it."""
    text = read_text("a: 1\nb:\n  c: 2\n", "x.yaml")

    assert text.where(("b", "c")) == "x.yaml:3"
    assert text.where(("b", "missing")) == "x.yaml:2"
