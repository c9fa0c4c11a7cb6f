"""Before any load: each arm is asked some prompts twice, so that a cache which only one of them has shows in its first tokens.

What the times mean is `analysis/integrity/repeated_prompts.py`'s.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

from specbench.analysis.integrity.repeated_prompts import FIRST_PROMPTS, PROMPTS, has_cache
from specbench.arms.arms import RunningArm, asked_at
from specbench.load.parent import LoadGenerator
from specbench.load.session import drive, requests_block, works_of
from specbench.model.captures import Capture
from specbench.model.facts import RepeatedPrompt
from specbench.model.records import RequestRecord
from specbench.model.scenario import ArmName, Scenario
from specbench.prompts.request_body import body_of
from specbench.prompts.sampler import Prompt, PromptSource, prompt, with_salt
from specbench.stream.record import RequestSpec, record_of
from specbench.telemetry import ENGINES
from specbench.telemetry.endpoint import ServedEndpoint

LONGEST_S = 60.0  # for three prompts; what has not come by then is left out
FEW_TOKENS = 2


def repeated_prompts(
    child: LoadGenerator, scenario: Scenario, ready: RunningArm, name: ArmName, drawing: PromptSource
) -> tuple[RepeatedPrompt, ...]:
    """The times to first token of some prompts that the arm was asked twice in a row, without any other load.

    They are as long as prompts of the workload get. Each has a salt of its own, new in every run, so that nobody has kept it
    before it is asked first; asked again it is the same to the byte. Where the first few show no cache, no more are asked.
    """
    prompts = _prompts(scenario, name, drawing)
    found = _asked_twice(child, scenario, ready, name, prompts[:FIRST_PROMPTS])
    if has_cache(found) is False or len(found) < FIRST_PROMPTS:  # or it does not answer, which the load will tell
        return found
    return found + _asked_twice(child, scenario, ready, name, prompts[FIRST_PROMPTS:])


def _prompts(scenario: Scenario, name: ArmName, drawing: PromptSource) -> list[Prompt]:
    workload = scenario.workload
    longest = max(workload.bins, key=lambda band: band.input_tokens[1])
    at_its_top = replace(longest, input_tokens=(longest.input_tokens[1], longest.input_tokens[1]))
    source = replace(drawing, workload=replace(workload, bins=(at_its_top,)))
    sampling, salt = workload.sampling[0].name, time.time_ns()
    drawn = [prompt(source, f"preflight/twice/{name}", None, sampling, index) for index in range(PROMPTS)]
    return [replace(with_salt(one, f"{salt}/{name}/{one.index}"), max_tokens=FEW_TOKENS) for one in drawn]


def _asked_twice(
    child: LoadGenerator, scenario: Scenario, ready: RunningArm, name: ArmName, prompts: Sequence[Prompt]
) -> tuple[RepeatedPrompt, ...]:
    engine = ENGINES[ready.arm.engine]
    extras = engine.request_extras(scenario.workload.route, True)
    twice = [one for one in prompts for _ in range(2)]
    bodies = [body_of(one, scenario.workload, ready.arm.model or "", extras, ready.arm) for one in twice]
    url, path = asked_at(ready, scenario.workload.route)
    served = ServedEndpoint(url, ready.headers, ready.arm.model or "", ready.secrets)
    order = requests_block(f"preflight/twice/{name}", served, path, len(bodies), LONGEST_S)
    records: dict[int, RequestRecord] = {}

    def take(capture: Capture) -> None:
        asked = twice[capture.index]
        spec = RequestSpec(asked.bin, asked.sampling.name, asked.max_tokens)
        records[capture.index] = record_of(capture, spec, engine.stream, ready.secrets)

    drive(child, order, works_of(bodies), take)
    times = [_first_token_ns(records.get(index)) for index in range(len(twice))]
    pairs = zip(times[::2], times[1::2], strict=True)
    return tuple(RepeatedPrompt(arm=name, first_ns=first, again_ns=again) for first, again in pairs if first and again)


def _first_token_ns(record: RequestRecord | None) -> int | None:
    return record.event_ns[0] if record is not None and record.outcome == "ok" and record.event_ns else None
