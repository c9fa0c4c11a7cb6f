"""Answers that the load did not bring: the same prompts asked of both arms after it, load by load.

Nothing is timed here. Where the arms share one server each prompt has a salt of its own, the same for both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec.structs import replace as replace_in

from specbench.answers.answer_loads import spread
from specbench.arms.arms import RunningArm, asked_at, shares_server
from specbench.load.parent import LoadGenerator
from specbench.load.session import drive, requests_block, works_of
from specbench.model.answers.kept_pairs import GeneratedAnswer, KeptPair
from specbench.model.captures import Capture
from specbench.model.records import RequestRecord
from specbench.model.result import PerArm
from specbench.model.scenario import ArmName, Scenario
from specbench.prompts.request_body import body_of
from specbench.prompts.sampler import Prompt, PromptSource, prompt, with_salt
from specbench.stream.exchange import Timeouts
from specbench.stream.record import RequestSpec, record_and_answer
from specbench.telemetry import ENGINES
from specbench.telemetry.endpoint import ServedEndpoint

PLACE = "answers"  # what these prompts are drawn for, as those of a pair are for the pair
MOST_S = 600.0  # for the missing answers of one arm at one load

Answered = tuple[RequestRecord, GeneratedAnswer]


@dataclass(frozen=True, slots=True, kw_only=True)
class MorePrompts:
    """The prompts to be asked of both arms, and at how many streams each, the lowest load first."""

    prompts: tuple[Prompt, ...]
    streams: tuple[int, ...]


def more_prompts(scenario: Scenario, drawing: PromptSource, loads: Sequence[int], missing: dict[str, int]) -> MorePrompts:
    """New prompts, as many of each sampling as are missing, spread over these loads with the samplings in turn."""
    wanted = [
        (load, number, sampling.name)
        for sampling in scenario.workload.sampling
        for number, load in enumerate(spread(missing.get(sampling.name, 0), loads))
    ]
    wanted.sort()
    drawn = [prompt(drawing, PLACE, None, sampling, number) for _, number, sampling in wanted]
    if shares_server(scenario):
        drawn = [with_salt(one, f"{scenario.seed}/{PLACE}/{index}") for index, one in enumerate(drawn)]
    return MorePrompts(
        prompts=tuple(replace(one, index=index) for index, one in enumerate(drawn)),
        streams=tuple(load for load, *_ in wanted),
    )


def answered(
    child: LoadGenerator, scenario: Scenario, ready: RunningArm, name: ArmName, more: MorePrompts
) -> dict[int, Answered]:
    """The answers of this arm that ended well, by prompt."""
    found: dict[int, Answered] = {}
    for streams in sorted(set(more.streams)):
        prompts = [one for one, load in zip(more.prompts, more.streams, strict=True) if load == streams]
        found |= _answered_at(streams, child, scenario, ready, name, prompts)
    return found


def _answered_at(
    streams: int, child: LoadGenerator, scenario: Scenario, ready: RunningArm, name: ArmName, prompts: Sequence[Prompt]
) -> dict[int, Answered]:
    workload, engine = scenario.workload, ENGINES[ready.arm.engine]
    extras = engine.request_extras(workload.route, True)
    bodies = [body_of(one, workload, ready.arm.model or "", extras, ready.arm) for one in prompts]
    url, path = asked_at(ready, workload.route)
    served = ServedEndpoint(url, ready.headers, ready.arm.model or "", ready.secrets)
    limits = scenario.matrix.limits
    order = replace_in(
        requests_block(f"{PLACE}/{streams}/{name}", served, path, len(bodies), MOST_S, min(streams, len(bodies))),
        timeouts=Timeouts(first_token_s=limits.first_token_s, between_tokens_s=limits.stall_s, total_s=limits.total_s),
    )
    found: dict[int, Answered] = {}

    def take(capture: Capture) -> None:
        asked = prompts[capture.index]
        spec = RequestSpec(asked.bin, asked.sampling.name, asked.max_tokens)
        record, answer = record_and_answer(capture, spec, engine.stream, ready.secrets)
        if record.outcome == "ok":
            found[asked.index] = record, answer

    drive(child, order, works_of(bodies), take)
    return found


def pairs_of(
    scenario: Scenario, more: MorePrompts, found: PerArm[dict[int, Answered]]
) -> list[tuple[KeptPair, PerArm[Answered]]]:
    """What both arms answered to the same prompt, in the order of the prompts."""
    pairs: list[tuple[KeptPair, PerArm[Answered]]] = []
    for asked, streams in zip(more.prompts, more.streams, strict=True):
        before, after = found.baseline.get(asked.index), found.speculative.get(asked.index)
        if before is None or after is None:
            continue
        kept = KeptPair(
            cell=None,
            pair=None,
            index=asked.index,
            bin=asked.bin,
            sampling=asked.sampling.name,
            temperature=asked.sampling.temperature,
            concurrency=streams,
            body=body_of(asked, scenario.workload, scenario.baseline.model or "", {}, scenario.baseline),
            answers=PerArm(before[1], after[1]),
        )
        pairs.append((kept, PerArm(before, after)))
    return pairs
