"""What a scenario says of answers: how they are compared, what is valid, what every request carries."""

from pathlib import Path

import msgspec
import pytest

from specbench.errors import ScenarioError
from specbench.model.answers.answer_form import ValidRule
from specbench.model.scenario import AnswersCheck, Scenario
from specbench.prompts.request_body import body_of
from specbench.prompts.sampler import Prompt
from specbench.scenario.parse import Overrides, parse_scenario

PLAIN = """\
name: small
arms:
  baseline: {{url: "http://127.0.0.1:1"}}
  speculative: {{url: "http://127.0.0.1:2", limit_key: max_new}}
workload:
  source: {{corpus: python}}
  bins:
    - {{name: all, input_tokens: [8, 16], output_tokens: [8, 8], valid: {valid}}}
  extra_body: {extra}
answers: {answers}
"""


def parsed(folder: Path, valid: str = "json", extra: str = "{}", answers: str = "{}") -> Scenario:
    """The scenario with these values, as if it lay in that folder."""
    return parse_scenario(PLAIN.format(valid=valid, extra=extra, answers=answers), str(folder / "s.yaml"), Overrides())


def test_the_defaults(tmp_path: Path) -> None:
    """Answers are compared: 256 prompts of each sampling, up to 5 % clear differences, three examples."""
    assert parsed(tmp_path).answers == AnswersCheck(check=True, prompts=256, differ_by_at_most=0.05, lossy=False, examples=3)


def test_every_key_is_taken(tmp_path: Path) -> None:
    """All of them at their ends."""
    found = parsed(tmp_path, answers="{check: off, prompts: 64, differ_by_at_most: 50%, lossy: true, examples: 0}").answers

    assert found == AnswersCheck(check=False, prompts=64, differ_by_at_most=0.5, lossy=True, examples=0)


def test_what_is_valid_stands_whole_in_the_scenario(tmp_path: Path) -> None:
    """JSON, an expression, or the schema that a file beside the scenario holds: no file is needed to judge a run again."""
    (tmp_path / "form.json").write_text('{"type": "object", "required": ["path"]}')
    rules = [
        parsed(tmp_path, valid=valid).workload.bins[0].valid for valid in ("json", "{regex: '^def '}", "{json_schema: form.json}")
    ]

    assert rules == [
        ValidRule(kind="json"),
        ValidRule(kind="regex", regex="^def "),
        ValidRule(kind="json_schema", schema={"type": "object", "required": ["path"]}),
    ]


def test_extra_body_goes_to_both_arms_and_the_prompts_own_fields_win(tmp_path: Path) -> None:
    """Then what the arm adds: it may leave a field out."""
    scenario = parsed(tmp_path, extra="{stop: [END], tools: [], user: a}")
    asked = Prompt(
        index=0,
        text="x",
        bin="all",
        sampling=scenario.workload.sampling[0],
        max_tokens=8,
        fields={"tools": [{"type": "function"}]},
    )
    bodies = [
        msgspec.json.decode(body_of(asked, scenario.workload, "m", {}, arm)) for arm in (scenario.baseline, scenario.speculative)
    ]

    assert [(body["stop"], body["tools"], body["user"]) for body in bodies] == [(["END"], [{"type": "function"}], "a")] * 2
    assert (bodies[0]["max_tokens"], bodies[1]["max_new"]) == (8, 8)


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"answers": "{prompts: 63}"}, "10: answers.prompts: "),
        ({"answers": "{prompts: 4097}"}, "10: answers.prompts: "),
        ({"answers": "{differ_by_at_most: 0.9%}"}, "10: answers.differ_by_at_most: "),
        ({"answers": "{differ_by_at_most: 51%}"}, "10: answers.differ_by_at_most: "),
        ({"answers": "{differ_by_at_most: 5}"}, "10: answers.differ_by_at_most: "),
        ({"answers": "{check: sometimes}"}, "10: answers.check: "),
        ({"answers": "{lossy: maybe}"}, "10: answers.lossy: "),
        ({"answers": "{examples: -1}"}, "10: answers.examples: "),
        ({"answers": "{example: 1}"}, "10: answers.example: "),
        ({"valid": "xml"}, "8: workload.bins[0].valid: "),
        ({"valid": "{regex: '['}"}, "8: workload.bins[0].valid.regex: "),
        ({"valid": "{regex: a, json_schema: b}"}, "8: workload.bins[0].valid: "),
        ({"valid": "{}"}, "8: workload.bins[0].valid: "),
        ({"valid": "{json_schema: missing.json}"}, "8: workload.bins[0].valid.json_schema: "),
        ({"valid": "{json_schema: /dev/zero}"}, "8: workload.bins[0].valid.json_schema: "),
        ({"valid": "{json_schema: none.json}"}, "8: workload.bins[0].valid.json_schema: "),
        ({"valid": "{json_schema: list.json}"}, "8: workload.bins[0].valid.json_schema: "),
        ({"valid": "{json_schema: broken.json}"}, "8: workload.bins[0].valid.json_schema: "),
        *(({"extra": f"{{{name}: 1}}"}, "9: workload.extra_body: ") for name in ("stream", "model", "messages", "prompt")),
        *(
            ({"extra": f"{{{name}: 1}}"}, "9: workload.extra_body: ")
            for name in ("max_tokens", "max_completion_tokens", "max_new")
        ),
        *(({"extra": f"{{{name}: 1}}"}, "9: workload.extra_body: ") for name in ("temperature", "top_p", "top_k", "seed")),
        ({"extra": "{max_tokens: null}"}, "9: workload.extra_body: "),
        ({"extra": "{api_key: sk-0123456789abcdef0123}"}, "9: workload.extra_body: "),
        ({"extra": "[tools]"}, "9: workload.extra_body: "),
    ],
)
def test_what_cannot_be_is_refused_with_file_line_and_key(tmp_path: Path, given: dict[str, str], where: str) -> None:
    """Exit 64, one line, and no secret in it."""
    (tmp_path / "none.json").write_text('{"type": "strng"}')
    (tmp_path / "list.json").write_text('["type"]')
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(ScenarioError) as error:
        parsed(tmp_path, **given)

    assert str(error.value).startswith(f"{tmp_path}/s.yaml:{where}")
    assert "\n" not in str(error.value)
    assert "sk-0123" not in str(error.value)
    assert int(error.value.exit_code) == 64
