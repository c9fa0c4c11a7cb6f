"""What the command line changes in a scenario: its words before its values are looked at, its loads once it is frozen. Pure.

A run that confirms a cap tests the loads below it alone. It is the frozen scenario that is narrowed, since whatever else names a
level (`optional`, `traffic_share`, `cells` of guardrails) would have to be changed with `matrix` by hand.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from specbench.errors import ScenarioError
from specbench.model.guardrails import RUN_WIDE
from specbench.model.scenario import Design, Guardrail, Scenario
from specbench.scenario.text.yaml_source import Path, YamlSource, lone_surrogate, read_text

Level = TypeVar("Level", int, float)
LEFT_OUT = "(left out)"
_PRIVATE = re.compile(r"headers|extra_body|\benv\b")
_PLACE = re.compile(r"[0-9]{1,9}")
_MOST_PARTS = 50  # a scenario needs about five


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """What the command line changes: `settings` are (dotted key, text) of `--set`, in order.

    `place` names runs that are to show the places alike, beside those of the scenario; `design` is what --aa or --swap asks for;
    `up_to` and `rate_up_to` are the highest levels of concurrency and rates that are to run.
    """

    profile: str | None = None
    settings: tuple[tuple[str, str], ...] = ()
    baseline_url: str | None = None
    speculative_url: str | None = None
    model: str | None = None
    place: tuple[str, ...] = ()
    design: Design = "plain"
    up_to: float | None = None
    rate_up_to: float | None = None


def apply_overrides(text: YamlSource, overrides: Overrides) -> dict[str, Any]:
    """The scenario's mapping as it reads once the command line has had its say.

    Raises:
        ScenarioError: A key of `--set` names no place, an arm is no mapping, or a word cannot be stored.
    """
    for word in flags_of(overrides):
        if (half := lone_surrogate(word)) is not None:
            raise ScenarioError(f"the command line's {word!a} {half}; write the whole character itself")
    tree: dict[str, Any] = dict(text.value)
    urls = (("baseline", overrides.baseline_url), ("speculative", overrides.speculative_url))
    for arm, url in urls:
        if url is not None:
            tree = _set_in_arms(text, f"--{arm}", tree, ("arms", arm), {**_without_engine(tree, arm), "url": url})
    if overrides.model is not None:
        for arm, _ in urls:
            tree = _set_in_arms(text, "--model", tree, ("arms", arm, "model"), overrides.model)
    for key, value in overrides.settings:
        where = f"--set {key}"
        if not value.strip():
            raise ScenarioError(f"{where}=: no value is given; for the default write {key}=null")
        try:
            tree = _set(tree, _path_of(key), read_text(value, where).value)
        except (KeyError, IndexError, TypeError):
            raise ScenarioError(f"{where}: the scenario has no such place; keys are dotted, as in matrix.pairs=8") from None
    if overrides.place:
        listed = tree.get("place") or []
        tree = {**tree, "place": [*(listed if isinstance(listed, list) else [listed]), *overrides.place]}
    return tree


def flags_by_path(overrides: Overrides) -> tuple[tuple[Path, str], ...]:
    """What the command line put at which key path, the last one in force: an error there is the flag's, not the file's."""
    urls = (("baseline", overrides.baseline_url), ("speculative", overrides.speculative_url))
    found: list[tuple[Path, str]] = [(("arms", arm, "url"), f"--{arm}") for arm, url in urls if url is not None]
    if overrides.model is not None:
        found += [(("arms", arm, "model"), "--model") for arm, _ in urls]
    return (*found, *((_path_of(key), f"--set {key}") for key, _ in overrides.settings))


def flags_of(overrides: Overrides) -> tuple[str, ...]:
    """The words of the command line that changed the scenario, for a run to be asked again; profile, design and loads apart.

    Values of an arm's headers, environment and request body are left out, as reports are shared.
    """
    single = (("--baseline", overrides.baseline_url), ("--speculative", overrides.speculative_url), ("--model", overrides.model))
    words = [word for flag, value in single if value is not None for word in (flag, value)]
    for key, value in overrides.settings:
        private = key.startswith(("arms", "workload")) and _PRIVATE.search(f"{key}={value}") is not None
        words += ["--set", f"{key}={LEFT_OUT if private else value}"]
    return (*words, *(word for run in overrides.place for word in ("--place", run)))


def _without_engine(tree: dict[str, Any], arm: str) -> dict[str, Any]:
    found = tree.get("arms", {}).get(arm) if isinstance(tree.get("arms"), dict) else None
    kept = dict(found) if isinstance(found, dict) else {}
    kept.pop("launch", None)
    if kept.get("engine") == "embedded":
        for key in ("engine", "speculative", "slow_by", "options"):
            kept.pop(key, None)
    return kept


def _set_in_arms(text: YamlSource, flag: str, tree: Any, path: Path, value: Any) -> Any:
    try:
        return _set(tree, path, value)
    except TypeError:
        raise text.error(path[:-1], f"must be a mapping for {flag} to change it") from None


def _path_of(key: str) -> Path:
    """The places that a dotted key names, as in workload.bins[0].weight.

    Raises:
        KeyError: It names none.
    """
    parts = [part for part in key.replace("[", ".").replace("]", "").split(".") if part]
    if not 0 < len(parts) <= _MOST_PARTS:
        raise KeyError(key)
    return tuple(int(part) if _PLACE.fullmatch(part) else part for part in parts)


def _set(tree: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    head, rest = path[0], path[1:]
    if isinstance(head, int) and isinstance(tree, list):
        return [*tree[:head], _set(tree[head], rest, value), *tree[head + 1 :]]
    if tree is None:
        tree = {}
    if not isinstance(tree, dict):
        raise TypeError
    return {**tree, head: _set(tree.get(head), rest, value)}


def limit_loads(scenario: Scenario, up_to: float | None, rate_up_to: float | None) -> Scenario:
    """The scenario with the levels of concurrency, and the rates, that lie no higher; None leaves them as they are.

    Guardrails stay as they were asked, so that runs cited for the places still match. But a run-wide one that is asked of no
    level any more has nothing to count, and goes.

    Raises:
        ScenarioError: No level is left, or the primary one lies above.
    """
    if up_to is None and rate_up_to is None:
        return scenario
    matrix = scenario.matrix
    concurrency = _kept(matrix.concurrency, up_to, f"{scenario.path}: --up-to", "matrix.concurrency")
    rate = _kept(matrix.rate, rate_up_to, f"{scenario.path}: --rate-up-to", "matrix.rate")
    levels = {*map(float, concurrency), *rate}
    if matrix.primary not in levels:
        flag = (
            f"--up-to {up_to:g}" if matrix.primary in matrix.concurrency and up_to is not None else f"--rate-up-to {rate_up_to:g}"
        )
        raise ScenarioError(
            f"{scenario.path}: {flag}: the primary level {matrix.primary:g}, which must show the gain, lies above"
        )
    return replace(
        scenario,
        matrix=replace(
            matrix,
            concurrency=concurrency,
            rate=rate,
            optional=tuple(level for level in matrix.optional if level in levels),
            traffic_share={level: share for level, share in matrix.traffic_share.items() if level in levels},
        ),
        guardrails=tuple(rule for rule in scenario.guardrails if rule.metric not in RUN_WIDE or _asked(rule, levels)),
    )


def _kept(levels: Sequence[Level], most: float | None, flag: str, key: str) -> tuple[Level, ...]:
    kept = tuple(level for level in levels if most is None or level <= most)
    if most is not None and not kept:
        named = ", ".join(f"{level:g}" for level in levels) or "none"
        raise ScenarioError(f"{flag} {most:g}: no level of {key} is that low; there are: {named}")
    return kept


def _asked(rule: Guardrail, levels: set[float]) -> bool:
    return rule.cells is None or any(level in levels for level in rule.cells)
