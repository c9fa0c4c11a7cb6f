"""Whether a workload's answers are long enough for what the scenario asks of them. Its text is made in `explain/`."""

from collections.abc import Sequence
from textwrap import wrap

from specbench.explain.rules.answers_too_short import too_short
from specbench.model.metrics import METRICS, PACE_TOKENS, TPOT_TOKENS
from specbench.model.scenario import Bin, Scenario

_LEAST = {"tpot": TPOT_TOKENS, "pace": PACE_TOKENS + 1}  # tokens of an answer; pace is from one token to the eighth after it

_WIDTH = 80  # characters


def never_shown(scenario: Scenario) -> list[str]:
    """What can never be shown as answers are too short for it, in lines for `specbench plan`; none where all are long enough.

    In mixed traffic one bin of long answers is enough; with separate cells each bin is judged alone.
    """
    bins = scenario.workload.bins
    groups = [(one,) for one in bins] if scenario.matrix.traffic == "separate" else [bins]
    found: list[str] = []
    for group in groups:
        most = max(one.output_tokens[1] for one in group)
        success = scenario.success.metric if _lacks(scenario.success.metric, most) else None
        rails = _rails(scenario, group, most)
        if success or rails:
            text = too_short([one.name for one in group] if len(groups) > 1 else [], most, success, rails)
            found += ["", *wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="  ")]
    return found


def _rails(scenario: Scenario, group: Sequence[Bin], most: int) -> list[str]:
    asked = (
        rule.metric
        for rule in scenario.guardrails
        if rule.decides and _lacks(rule.metric, most) and (rule.bins is None or any(one.name in rule.bins for one in group))
    )
    return list(dict.fromkeys(asked))


def _lacks(metric: str, most: int) -> bool:
    known = METRICS.get(metric)
    return known is not None and most < _LEAST.get(known.quantity, 0)
