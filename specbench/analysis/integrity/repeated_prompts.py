"""Does one arm alone answer a prompt sooner that it has had before? Then a cache is in the times, and not in both arms.

A prompt is *sooner* the second time where its first token takes at most 0.6 times as long, and 5 ms less. An arm has a cache
where at least 5 of 6 prompts are, it has none where at most a third are. Where the log of the TTFT of one prompt scatters by 0.2
from one asking to the next (standard deviation), 4 in 100 prompts are sooner by chance, and an arm without a cache seems to have
one in fewer than 1 of 100,000 runs; at 0.4 in 1 of 1,000, at 0.6 in 7. A cache that spares less than 0.4 of TTFT is not found.
"""

from collections.abc import Sequence

from specbench.explain import integrity
from specbench.model.facts import RepeatedPrompt
from specbench.model.result import IntegrityCheck, PerArm
from specbench.model.scenario import ARMS, Scenario
from specbench.units import ns_of_ms

CACHE_IMBALANCE = "cache_imbalance"
ACCEPTED_AS = "prefix_caching"
SOONER = 0.6
LEAST_NS = ns_of_ms(5.0)
FIRST_PROMPTS, PROMPTS = 3, 6
_ENOUGH = 5
_FEW = 1 / 3


def cached_alike(scenario: Scenario, repeated: Sequence[RepeatedPrompt]) -> tuple[IntegrityCheck, ...]:
    """Whether both arms keep what they were asked before in a cache, or neither does; nothing where no prompt was asked twice."""
    if not repeated:
        return ()
    by_arm = PerArm(*([one for one in repeated if one.arm == arm] for arm in ARMS))
    found = PerArm(has_cache(by_arm.baseline), has_cache(by_arm.speculative))
    counts = PerArm(*((sum(map(_is_sooner, by_arm.of(arm))), len(by_arm.of(arm))) for arm in ARMS))
    ok = None if None in (found.baseline, found.speculative) else found.baseline == found.speculative
    accepted = ok is False and ACCEPTED_AS in scenario.accept_differences
    message = integrity.repeated_prompts(counts, SOONER, ok, accepted)
    return (IntegrityCheck(id=CACHE_IMBALANCE, cell=None, ok=accepted or ok, value=None, limit=None, message=message),)


def has_cache(repeated: Sequence[RepeatedPrompt]) -> bool | None:
    """Whether an arm answered these prompts so much sooner the second time that it had kept them; None where that is open."""
    sooner = sum(map(_is_sooner, repeated))
    if sooner >= _ENOUGH and sooner >= len(repeated) - 1:
        return True
    return False if len(repeated) >= FIRST_PROMPTS and sooner <= _FEW * len(repeated) else None


def _is_sooner(one: RepeatedPrompt) -> bool:
    return one.again_ns <= min(SOONER * one.first_ns, one.first_ns - LEAST_NS)
