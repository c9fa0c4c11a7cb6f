"""Answers that the load did not bring: the same prompts asked of both arms after it, one arm after the other.

Nothing is timed here. Where the arms share one server each prompt has a salt of its own, the same for both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec.structs import replace as replace_in

from specbench.arms.arms import RunningArm, asked_at, shares_server
from specbench.load.messages import IN_FLIGHT_LIMIT
from specbench.load.parent import LoadGenerator
from specbench.load.session import drive, requests_block, works_of
from specbench.model.answers.kept_pairs import GeneratedAnswer, KeptPair
from specbench.model.captures import Capture
from specbench.model.records import Cell, RequestRecord
from specbench.model.result import PerArm
from specbench.model.scenario import ArmName, Scenario
from specbench.prompts.request_body import body_of
from specbench.prompts.sampler import Prompt, PromptSource, prompt, with_salt
from specbench.stream.exchange import Timeouts
from specbench.stream.record import RequestSpec, record_and_answer
from specbench.telemetry import ENGINES
from specbench.telemetry.endpoint import ServedEndpoint

PLACE = "answers"  # what these prompts are drawn for, as those of a pair are for the pair
MOST_S = 600.0  # for the missing answers of one arm
RATE_STREAMS = 8  # where no load is a number of streams

Answered = tuple[RequestRecord, GeneratedAnswer]


@dataclass(frozen=True, slots=True, kw_only=True)
class MorePrompts:
    """The prompts to be asked of both arms, and at how many streams."""

    prompts: tuple[Prompt, ...]
    streams: int


def more_prompts(scenario: Scenario, drawing: PromptSource, cells: Sequence[Cell], missing: dict[str, int]) -> MorePrompts:
    """So many prompts of each sampling as are missing, the settings in turn, at the highest required load."""
    wanted = [
        (number, sampling.name) for sampling in scenario.workload.sampling for number in range(missing.get(sampling.name, 0))
    ]
    drawn = [prompt(drawing, PLACE, None, sampling, number) for number, sampling in sorted(wanted)]
    if shares_server(scenario):
        drawn = [with_salt(one, f"{scenario.seed}/{PLACE}/{index}") for index, one in enumerate(drawn)]
    levels = [cell.concurrency for cell in cells if cell.required and cell.concurrency is not None]
    streams = max(levels, default=RATE_STREAMS)
    return MorePrompts(
        prompts=tuple(replace(one, index=index) for index, one in enumerate(drawn)), streams=min(streams, IN_FLIGHT_LIMIT)
    )


def answered(
    child: LoadGenerator, scenario: Scenario, ready: RunningArm, name: ArmName, more: MorePrompts
) -> dict[int, Answered]:
    """The answers of this arm that ended well, by prompt."""
    if not more.prompts:
        return {}
    workload, engine = scenario.workload, ENGINES[ready.arm.engine]
    extras = engine.request_extras(workload.route, True)
    bodies = [body_of(one, workload, ready.arm.model or "", extras, ready.arm) for one in more.prompts]
    url, path = asked_at(ready, workload.route)
    served = ServedEndpoint(url, ready.headers, ready.arm.model or "", ready.secrets)
    streams = min(more.streams, len(bodies))
    limits = scenario.matrix.limits
    order = replace_in(
        requests_block(f"{PLACE}/{name}", served, path, len(bodies), MOST_S, streams),
        timeouts=Timeouts(first_token_s=limits.first_token_s, between_tokens_s=limits.stall_s, total_s=limits.total_s),
    )
    found: dict[int, Answered] = {}

    def take(capture: Capture) -> None:
        asked = more.prompts[capture.index]
        spec = RequestSpec(asked.bin, asked.sampling.name, asked.max_tokens)
        record, answer = record_and_answer(capture, spec, engine.stream, ready.secrets)
        if record.outcome == "ok":
            found[capture.index] = record, answer

    drive(child, order, works_of(bodies), take)
    return found


def pairs_of(
    scenario: Scenario, more: MorePrompts, found: PerArm[dict[int, Answered]]
) -> list[tuple[KeptPair, PerArm[Answered]]]:
    """What both arms answered to the same prompt, in the order of the prompts."""
    pairs: list[tuple[KeptPair, PerArm[Answered]]] = []
    for asked in more.prompts:
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
            concurrency=more.streams,
            body=body_of(asked, scenario.workload, scenario.baseline.model or "", {}, scenario.baseline),
            answers=PerArm(before[1], after[1]),
        )
        pairs.append((kept, PerArm(before, after)))
    return pairs
