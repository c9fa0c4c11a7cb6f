"""What a run found in one line, and what to do with it."""

from dataclasses import replace

import pytest

from specbench.explain.brief.headline import found, title_of
from specbench.explain.brief.next_step import action, demonstration, next_command, own_command
from specbench.model.result import IntegrityCheck, PerArm, Result, VerdictWord
from specbench.model.run_info import EndpointInfo
from specbench.model.scenario import Design
from tests.support.goldens import same_text
from tests.support.results import capped, every_verdict, hold, large, promote, reason, rollback, sliced, slices_with_a_cap

RESULTS: dict[str, Result] = {
    **{str(word): result for word, result in every_verdict().items()},
    "slices": sliced(),
    "slices with caps": slices_with_a_cap("PROMOTE", "CAPPED", "ROLLBACK"),
    "harm at seven loads": replace(large(7), run_findings=()),
}


def on_real_engines(result: Result) -> Result:
    """The same from two endpoints that are no demonstration."""
    arms: PerArm[EndpointInfo] = PerArm(
        *(replace(result.endpoints.of(arm), engine="vllm") for arm in ("baseline", "speculative"))
    )
    return replace(result, endpoints=arms)


def with_pairs(result: Result, pairs: int, profile: str) -> Result:
    """The same of a run of that size."""
    return replace(result, config=replace(result.config, pairs=pairs), run=replace(result.run, profile=profile))


@pytest.mark.parametrize("name", RESULTS)
def test_each_verdict_has_a_finding_and_an_action(name: str) -> None:
    """The finding begins with what was found, the action with a verb."""
    result = RESULTS[name]

    same_text(name, found(result), action(result), next_command(result))
    assert all(len(sentence.split()) <= 30 for sentence in (found(result), *action(result).split(". ")))


def test_below_ten_pairs_a_promote_is_repeated_and_never_enabled() -> None:
    """With the standard profile; from ten pairs on it is enabled, up to the highest load."""
    small = with_pairs(on_real_engines(promote()), 9, "smoke")
    large = with_pairs(on_real_engines(promote()), 10, "standard")

    assert "--profile standard" in action(small)
    assert "Enable" not in action(small)
    assert next_command(small) == "specbench run code.yaml --profile standard"
    assert action(large).startswith("Enable")
    assert "16 streams" in action(large)
    assert next_command(large) == ""


def test_a_demonstration_enables_nothing() -> None:
    """Whatever its size: its times are virtual."""
    assert not action(with_pairs(promote(), 20, "full")).startswith("Enable")
    assert demonstration(promote())
    assert demonstration(on_real_engines(promote())) == ""


@pytest.mark.parametrize(
    ("flags", "command"),
    [
        ((), "specbench run code.yaml --profile standard"),
        (("--model", "m"), "specbench run code.yaml --profile standard --model m"),
        (("--set", "matrix.pairs=6"), "specbench run code.yaml --profile smoke --set matrix.pairs=10"),
        (
            ("--set", "seed=3", "--set", "matrix.pairs=6"),
            "specbench run code.yaml --profile smoke --set seed=3 --set matrix.pairs=10",
        ),
    ],
)
def test_more_pairs_are_asked_for_as_the_run_was(flags: tuple[str, ...], command: str) -> None:
    """A profile does not override a setting of the pairs, so the setting is replaced."""
    result = on_real_engines(promote())

    assert next_command(replace(result, run=replace(result.run, flags=flags))) == command


@pytest.mark.parametrize(
    ("design", "command"),
    [("plain", "specbench run code.yaml --profile smoke --aa"), ("swap", "specbench run code.yaml --swap --profile smoke")],
)
def test_two_hosts_are_compared_by_a_run_of_their_own(design: Design, command: str) -> None:
    """The baseline on both; a swap that did not show it is repeated."""
    result = replace(hold(), reasons=(reason("place_not_controlled", "Two hosts."),))

    assert next_command(replace(result, config=replace(result.config, design=design))) == command


def test_own_histories_are_exchanged_for_recorded_ones() -> None:
    """Whatever the command line had said of them."""
    result = replace(hold(), reasons=(reason("own_history", "Unlike prompts."),))
    key = "workload.sessions.history"
    flags = ("--set", f"{key}=own", "--model", "m")
    command = next_command(replace(result, run=replace(result.run, flags=flags)))

    assert command.endswith(f"--profile smoke --model m --set {key}=dataset")


def test_an_arm_without_speculation_sends_to_the_doctor() -> None:
    """Its URL, where there is a server to ask."""
    check = IntegrityCheck(id="not_speculating", cell=None, ok=False, value=1.0, limit=None, message="No drafts.")
    result = replace(on_real_engines(hold()), verdict="INVALID", integrity=(check,))

    assert next_command(result) == "specbench doctor http://127.0.0.1:8000"
    assert found(result).endswith(f": {title_of('not_speculating')}")


def test_a_cap_names_the_load_above_it_that_was_not_shown() -> None:
    """Open rather than harmed; the lowest of them."""
    result = capped()
    assert result.enable_range is not None
    cells = tuple(replace(cell, state="INCONCLUSIVE") if cell.id == "c16" else cell for cell in result.cells)
    opened = replace(result, cells=cells, enable_range=replace(result.enable_range, beyond="not_shown_beyond"))

    assert found(opened).endswith("open at 16")
    assert found(result).endswith("hurts at 16")


def test_harm_without_a_safety_finding_names_the_loads_and_the_clearest_metric() -> None:
    """Both arms' figures."""
    harmed = replace(rollback(), run_findings=(), reasons=(reason("harm", "Worse."),))

    assert found(harmed).startswith("hurts at 1 and 4 streams: ")
    assert " → " in found(harmed)


def test_a_code_that_is_not_known_reads_as_its_words() -> None:
    """A result of a newer version."""
    assert title_of("gone_fishing") == "gone fishing"
    assert found(replace(hold(), reasons=(reason("gone_fishing", "Away."),))) == "gone fishing"
    assert action(replace(hold(), reasons=(reason("gone_fishing", "Away."),))) == "Keep it off. Away."


def test_a_cap_is_not_enabled_yet_and_names_the_loads_that_nobody_tested() -> None:
    """Between it and the next load; by rate they are a span, and neighbours leave none."""
    result = capped()
    assert result.enable_range is not None
    rates = tuple(
        replace(cell, axes=replace(cell.axes, concurrency=None, rate=at))
        for cell, at in zip(result.cells, (1, 2.5, 4), strict=True)
    )
    by_rate = replace(result, cells=rates, enable_range=replace(result.enable_range, by="rate", high=2.5))
    next_to = replace(
        result, cells=(*result.cells[:2], replace(result.cells[2], axes=replace(result.cells[2].axes, concurrency=5)))
    )
    one_between = replace(
        result, cells=(*result.cells[:2], replace(result.cells[2], axes=replace(result.cells[2].axes, concurrency=6)))
    )

    assert action(result).startswith("Do not enable yet")
    assert action(result).endswith(": 5 to 15 streams.")
    assert action(one_between).endswith(": 5 streams.")
    assert action(by_rate).endswith("between 2.5 and 4 requests/s.")
    assert action(next_to).endswith("PROMOTE.")


@pytest.mark.parametrize("verdict", ["PROMOTE", "CAPPED", "HOLD", "ROLLBACK"])
def test_a_demonstration_names_the_command_for_real_servers(verdict: VerdictWord) -> None:
    """Its own next command may only run the demonstration again."""
    result = every_verdict()[verdict]

    same_text("real servers", own_command(result))
    assert own_command(on_real_engines(result)) == ""
