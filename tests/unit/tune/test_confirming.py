"""A confirm is an ordinary run of what will be deployed: fresh prompts, both sides of each threshold, half the alpha each try."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specbench.analysis.judge import judge
from specbench.errors import DataError, ScenarioError
from specbench.explain.brief.next_step import next_command
from specbench.model.result import Result
from specbench.model.scenario import Launch, Scenario
from specbench.model.tuning.tune_values import Setting
from specbench.report.formats.policy import policy_of
from specbench.report.formats.result_json import result_json
from specbench.scenario.launch_commands import launch_command
from specbench.scenario.settings import capped_table
from specbench.store import RunWriter
from specbench.tune.confirming import Proposal, confirming, earlier_tries, proposal_of
from tests.support.evidence import Effect, a_scenario, evidence
from tests.support.goldens import same_text

TABLE = "num_speculative_tokens_per_batch_size"
DRAFT = {"method": "draft_model", "num_speculative_tokens": 4}
ROWS = ((1, 1, 4), (2, 8, 1), (9, 16, 0))
SETTING = Setting(
    engine="embedded",
    kind="table",
    speculative={**DRAFT, TABLE: [list(row) for row in ROWS]},
    rows=ROWS,
    words="speculative: ...",
)
AS_TUNED = a_scenario([1, 8, 16], pairs=8)
PROPOSAL = Proposal(of="t", source="reports/t", scenario=AS_TUNED, setting=SETTING, enforced_by="engine")
OUT = Path("reports/confirmed")


def test_both_sides_of_each_threshold_are_tested_with_fresh_prompts() -> None:
    """The depth changes after 1 and after 8: 2 and 9 are tested too, the speculative arm alone has the table."""
    scenario = confirming(PROPOSAL, "standard", 0, OUT)

    assert scenario.matrix.concurrency == (1, 2, 8, 9, 16)
    assert (scenario.speculative.speculative, scenario.baseline) == (SETTING.speculative, AS_TUNED.baseline)
    assert scenario.seed not in (AS_TUNED.seed, confirming(PROPOSAL, "standard", 1, OUT).seed)
    assert (scenario.matrix.pairs, confirming(PROPOSAL, "smoke", 0, OUT).matrix.pairs) == (10, 4)
    assert confirming(PROPOSAL, "smoke", 0, OUT).matrix.block.min_s == 2.0
    assert scenario.confirms is not None
    assert (scenario.confirms.of, scenario.confirms.thresholds) == ("t", (1, 8))


@pytest.mark.parametrize(("tries", "alpha"), [(0, 0.05), (1, 0.025), (2, 0.0125)])
def test_each_try_is_judged_at_half_the_alpha(tries: int, alpha: float) -> None:
    """Also where the proposal is the cap of a run that was itself a second try."""
    asked = confirming(PROPOSAL, "standard", tries, OUT)
    again = confirming(replace(PROPOSAL, scenario=confirming(PROPOSAL, "standard", 1, OUT)), "standard", tries, OUT)

    assert (asked.alpha, again.alpha) == (alpha, alpha)
    assert asked.confirms is not None
    assert asked.confirms.try_number == tries + 1


def test_under_a_router_nothing_above_the_cap_is_tested() -> None:
    """There it is the baseline that serves."""
    capped = Setting(engine="embedded", kind="capped", speculative=DRAFT, cap=8, words="at most 8 streams")
    scenario = confirming(replace(PROPOSAL, setting=capped, enforced_by="router"), "standard", 0, OUT)

    assert (scenario.matrix.concurrency, scenario.speculative.speculative) == ((1, 8), DRAFT)


def _launched(engine: str, speculative: dict[str, Any]) -> Scenario:
    command = (*launch_command(engine, None, "org/m", "m", speculative), "--max-model-len", "4096")
    launch = Launch(
        command=command, env={}, secrets=(), gpu=None, port=None, ready="/health", timeout_s=600.0, log=None, sleep=False
    )
    arm = replace(AS_TUNED.speculative, engine=engine, speculative=speculative, launch=launch)
    return replace(AS_TUNED, speculative=arm)


def test_the_setting_is_put_into_the_command_that_starts_the_engine(tmp_path: Path) -> None:
    """vLLM has it in its JSON; SGLang in a file beside the run folder; what else the command says stays."""
    eagle = {"method": "eagle3", "model": "org/e", "num_speculative_tokens": 4}
    for engine in ("vllm", "sglang"):
        setting = capped_table(engine, eagle, 8)
        proposal = replace(PROPOSAL, scenario=_launched(engine, eagle), setting=setting)
        launch = confirming(proposal, "standard", 0, tmp_path / "run").speculative.launch
        assert launch is not None
        assert launch.command[-2:] == ("--max-model-len", "4096")
        if engine == "vllm":
            config = json.loads(launch.command[launch.command.index("--speculative-config") + 1])
            assert config[TABLE] == [[1, 8, 4], [9, 512, 0]]
        else:
            file = Path(launch.command[launch.command.index("--speculative-adaptive-config") + 1])
            assert json.loads(file.read_text()) == {"1": {"candidate_steps": [4]}, "9": {"candidate_steps": [0]}}


def test_a_setting_cannot_be_put_into_a_command_of_ones_own() -> None:
    """The words that make it draft are not in there."""
    scenario = _launched("vllm", {"method": "ngram", "num_speculative_tokens": 4})
    assert scenario.speculative.launch is not None
    launch = replace(scenario.speculative.launch, command=("serve", "{port}"))
    own = replace(scenario, speculative=replace(scenario.speculative, launch=launch))
    with pytest.raises(ScenarioError, match="is your own"):
        confirming(replace(PROPOSAL, scenario=own), "standard", 0, OUT)


def _judged(scenario: Scenario, effects: dict[str, Effect]) -> Result:
    return judge(evidence(effects, scenario, requests=24), "0")


def _stored(folder: Path, scenario: Scenario, effects: dict[str, Effect], verdict: str | None = None) -> Result:
    run = evidence(effects, scenario, requests=24)
    run = replace(run, manifest=replace(run.manifest, run_id=folder.name))
    result = judge(run, "0")
    writer = RunWriter(folder, run.manifest)
    for block in run.blocks:
        writer.block(block)
    writer.close()
    (folder / "result.json").write_bytes(result_json(result))
    assert verdict in (None, result.verdict), result.reasons
    return result


GOOD, BAD = Effect(tpot=0.6), Effect(tpot=1.4)


def test_the_cap_of_a_run_is_a_table_or_a_limit_of_the_router(tmp_path: Path) -> None:
    """CAPPED at 4 streams of 16; the next confirm of what confirmed it belongs to the same chain."""
    _stored(tmp_path / "run", a_scenario([1, 4, 16], pairs=10), {"c1": GOOD, "c4": GOOD, "c16": BAD}, "CAPPED")
    engine, router = proposal_of(tmp_path / "run", None), proposal_of(tmp_path / "run", "router")

    assert (engine.enforced_by, engine.setting.rows) == ("engine", ((1, 4, 4), (5, 512, 0)))
    assert (router.enforced_by, router.setting.cap, router.of) == ("router", 4, "run")
    assert confirming(engine, "smoke", 0, OUT).matrix.concurrency == (1, 4, 5, 16)
    assert confirming(router, "smoke", 0, OUT).matrix.concurrency == (1, 4)

    _stored(tmp_path / "again", confirming(router, "standard", 0, OUT), {"c1": GOOD, "c4": BAD}, "CAPPED")
    assert proposal_of(tmp_path / "again", "router").of == "run"
    assert earlier_tries("run", (tmp_path, tmp_path)) == 1


def test_tries_that_were_invalid_do_not_count(tmp_path: Path) -> None:
    """Nor runs of another chain, nor those that measured nothing; one without a result does."""
    asked = confirming(replace(PROPOSAL, of="run"), "smoke", 0, OUT)
    effects = {cell: Effect(tpot=0.6, noise=0.01) for cell in ("c1", "c2", "c8", "c9", "c16")}
    for name in ("invalid", "unjudged", "other"):
        _stored(tmp_path / name, replace(asked, confirms=None) if name == "other" else asked, effects)
    document = json.loads((tmp_path / "invalid" / "result.json").read_text())
    (tmp_path / "invalid" / "result.json").write_text(json.dumps({**document, "verdict": "INVALID"}))
    (tmp_path / "unjudged" / "result.json").unlink()

    assert (earlier_tries("run", (tmp_path,)), earlier_tries("x", (tmp_path, tmp_path / "none"))) == (1, 0)


@pytest.mark.parametrize(("effect", "verdict"), [(Effect(tpot=1.4), "ROLLBACK"), (Effect(tpot=0.6), "PROMOTE")])
def test_what_proposes_nothing_cannot_be_confirmed(effect: Effect, verdict: str, tmp_path: Path) -> None:
    """One line, exit 65."""
    _stored(tmp_path / "run", a_scenario([1, 4], pairs=10), {"c1": effect, "c4": effect}, verdict)
    with pytest.raises(DataError, match=f"ended {verdict}"):
        proposal_of(tmp_path / "run", None)


def test_an_engine_without_a_table_cannot_enforce_a_cap(tmp_path: Path) -> None:
    """The line names those that can; a router it is by default."""
    arm = replace(AS_TUNED.speculative, engine="llamacpp", url="http://127.0.0.1:1")
    _stored(tmp_path / "run", a_scenario([1, 16], pairs=10, speculative=arm), {"c1": GOOD, "c16": BAD}, "CAPPED")
    with pytest.raises(ScenarioError) as refused:
        proposal_of(tmp_path / "run", "engine")

    same_text("no table", str(refused.value))
    assert proposal_of(tmp_path / "run", None).enforced_by == "router"


def test_promote_of_a_confirm_is_no_proposal_any_more() -> None:
    """The policy has the setting and the run that confirmed it; the report says which try it was."""
    capped = Setting(engine="embedded", kind="capped", speculative=DRAFT, cap=8, words="at most 8 streams")
    asked = confirming(replace(PROPOSAL, setting=capped, enforced_by="router"), "standard", 1, OUT)
    result = _judged(asked, {"c1": GOOD, "c8": GOOD})
    entry = policy_of(result)["enable"][0]

    assert result.verdict == "PROMOTE", result.reasons
    assert (entry["proposal"], entry["setting"], entry["confirmed_by"]) == (False, "at most 8 streams", "r1")
    assert (result.config.alpha, entry["max_streams"]) == (0.025, 8)
    same_text("second try", *[note for note in result.notes if "try 2" in note])
    assert "confirmed_by" not in policy_of(_judged(AS_TUNED, dict.fromkeys(("c1", "c8", "c16"), GOOD)))["enable"][0]


@pytest.mark.parametrize(
    ("profile", "effect", "command"),
    [
        ("standard", GOOD, ""),
        ("standard", BAD, "specbench confirm reports/r1 --enforce router"),
        ("smoke", BAD, "specbench confirm reports/r1 --enforce router"),
        ("smoke", GOOD, "specbench confirm reports/t --enforce engine"),
    ],
)
def test_the_next_command_confirms_again(profile: str, effect: Effect, command: str) -> None:
    """Nothing once it is confirmed; by a router where the table costs too much at 0; the same after a first look."""
    asked = confirming(replace(PROPOSAL, setting=capped_table("embedded", DRAFT, 8)), profile, 0, OUT)
    off = Effect(tpot=1.0, tokens_per_step=1, drafts=False)
    counts = {"c9": off, "c16": off if effect is GOOD else replace(off, tpot=1.4)}
    result = _judged(asked, {"c1": GOOD, "c8": GOOD} | counts)

    assert (result.verdict, next_command(result)) == ("PROMOTE" if effect is GOOD else "CAPPED", command), result.reasons


def test_a_table_that_drafts_at_every_load_is_capped_lower_by_the_engine() -> None:
    """What hurts above the cap are its drafts there, not what a table costs where it drafts nothing."""
    asked = confirming(replace(PROPOSAL, setting=capped_table("embedded", DRAFT, 8)), "standard", 0, OUT)
    off = Effect(tpot=1.0, tokens_per_step=1, drafts=False)
    result = _judged(asked, {"c1": GOOD, "c8": GOOD, "c9": off, "c16": replace(off, tpot=1.4)})
    assert result.run.confirms is not None
    drafting = replace(result, run=replace(result.run, confirms=replace(result.run.confirms, off_above=None)))

    assert result.run.confirms.off_above == 8
    assert next_command(drafting) == "specbench confirm reports/r1 --enforce engine"
