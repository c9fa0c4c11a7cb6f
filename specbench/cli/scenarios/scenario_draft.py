"""The text of a first scenario: at most 40 lines of YAML with the reasons beside them, from what two endpoints told."""

import json
from dataclasses import dataclass, replace

from specbench.cli.scenarios.first_look import FoundEndpoint
from specbench.model.scenario import Bin
from specbench.scenario.text.workload_text import bin_lines

MARGIN = 32  # tokens of the context that a chat template may take
_LONG_ENOUGH = 8  # tokens of a prompt or an answer, below which nothing is measured
# Chat of a short and a longer kind: what the built-in prose is cut to.
CORPUS_BINS = (
    Bin(name="short", input_tokens=(12, 48), output_tokens=(48, 96), weight=2),
    Bin(name="long", input_tokens=(48, 160), output_tokens=(64, 160), weight=1),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioDraft:
    """All that the text is made of. `dataset` is as the scenario names it; `one_host`: both endpoints are on one machine."""

    name: str
    file: str
    baseline: FoundEndpoint
    speculative: FoundEndpoint
    model: str
    api_key_env: str | None
    dataset: str | None
    bins: tuple[Bin, ...]
    one_host: bool


def scenario_text(draft: ScenarioDraft) -> str:
    """The scenario as YAML."""
    baseline, speculative, model = draft.baseline, draft.speculative, draft.model
    context = min((one.context_length for one in (baseline, speculative) if one.context_length), default=None)
    fitted = [one for one in (fit_to_context(found, context) for found in draft.bins) if one is not None]
    key = "" if draft.api_key_env is None else f", api_key_env: {_quoted(draft.api_key_env)}"
    source = "{corpus: prose}" if draft.dataset is None else f"{{dataset: {_quoted(draft.dataset)}}}"
    made_up = "  # a demonstration: put your own traffic here, as dataset: FILE" if draft.dataset is None else ""
    where = "one machine: the blocks of the arms take turns" if draft.one_host else _TWO_HOSTS
    lines = [
        "# Does speculation pay here? Written by `specbench init`; every key is in docs/scenario.md.",
        f"# Run it: specbench run {_one_line(draft.file)} --profile smoke",
        f"name: {_quoted(draft.name)}",
        "arms:",
        f"  # {_told(baseline)}",
        f"  baseline: {{url: {_quoted(baseline.url)}, model: {_quoted(model)}{key}}}",
        f"  # {_told(speculative)}",
        f"  speculative: {{url: {_quoted(speculative.url)}, model: {_quoted(model)}{key}}}",
        "workload:",
        f"  source: {source}{made_up}",
        "  # Lengths in tokens, and each bin's share of the requests." + _cut(context),
        "  bins:",
        *bin_lines(fitted),
        "  # As your clients ask. Acceptance depends on the temperature.",
        "  sampling:",
        "    - {name: default, temperature: 0.7, top_p: 0.95}",
        "matrix:",
        "  # Requests at once. Speculation pays at low load and costs at high load: name the loads that you serve.",
        "  concurrency: [1, 4, 16]",
        f"  # {where}",
        "  schedule: alternate",
        "# What must get better at one stream, and by how much; what must not get worse is guarded by the defaults.",
        "success: {metric: tpot_p50, improve_by: 5%}",
    ]
    return "\n".join(lines) + "\n"


_TWO_HOSTS = "two machines: show that they perform alike with: specbench run FILE --aa, then --place that run"


def fit_to_context(found: Bin, context: int | None) -> Bin | None:
    """The bin, cut so that a prompt and its answer fit; None where nothing of it is left."""
    if context is None or found.input_tokens[1] + found.output_tokens[1] + MARGIN <= context:
        return found
    room = context - MARGIN
    longest_answer = min(found.output_tokens[1], room // 2)
    longest_prompt = min(found.input_tokens[1], room - longest_answer)
    if longest_prompt < max(found.input_tokens[0], _LONG_ENOUGH) or longest_answer < _LONG_ENOUGH:
        return None
    answer = (min(found.output_tokens[0], longest_answer), longest_answer)
    return replace(found, input_tokens=(found.input_tokens[0], longest_prompt), output_tokens=answer)


def _told(one: FoundEndpoint) -> str:
    """What the endpoint said, for the comment above its arm."""
    version = f" {one.version}" if one.version else ""
    speculation = {"on": "speculates", "off": "does not speculate"}.get(
        one.speculation or "", "does not say whether it speculates"
    )
    return _one_line(f"{one.engine}{version}, {speculation}, round trip {one.round_trip_s * 1000:.1f} ms")


def _cut(context: int | None) -> str:
    return "" if context is None else f" Prompt and answer fit into the context of {context:,} tokens."


def _quoted(text: str) -> str:
    """The text as a YAML scalar: JSON's form is one, and it keeps what is in the text from being read as YAML."""
    return json.dumps(text, ensure_ascii=False)


def _one_line(text: str) -> str:
    return " ".join(text.split())
