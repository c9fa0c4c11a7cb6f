"""A dataset's bins as the text of a scenario: the `workload:` block, or a whole scenario around it."""

import re
from collections.abc import Sequence
from typing import Any

import yaml

from specbench.model.data.datasets import DatasetReading
from specbench.model.scenario import Bin
from specbench.scenario.text.yaml_source import scalar

MOST_STREAMS = (1, 4, 16)


class _Quoting(yaml.SafeDumper):
    """Quotes what our reader takes for a number and the writer does not, such as `1e3`."""


def _quoted(dumper: _Quoting, text: str) -> yaml.ScalarNode:
    style = None if isinstance(scalar(text), str) else "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Quoting.add_representer(str, _quoted)


def workload_text(dataset: str, reading: DatasetReading, bins: Sequence[Bin]) -> str:
    """The `workload:` block for these bins; of the reading only what is not the default."""
    usual = DatasetReading()
    names = ("shape", "turns", "label", "keep", "tokenizer", "sample", "broken", "sha256")
    changed = {name: getattr(reading, name) for name in names if getattr(reading, name) != getattr(usual, name)}
    source = {"dataset": dataset, **{name: list(value) if isinstance(value, tuple) else value for name, value in changed.items()}}
    lines = ["workload:", "  source:", *(f"    {key}: {_flow(value)}" for key, value in source.items()), "  bins:"]
    return "\n".join([*lines, *bin_lines(bins)]) + "\n"


def bin_lines(bins: Sequence[Bin]) -> tuple[str, ...]:
    """The entries of `workload.bins`, one a line."""
    return tuple(f"    - {_flow(_entry(band))}" for band in bins)


def scenario_text(name: str, urls: tuple[str, str], streams: Sequence[int], workload: str) -> str:
    """A whole scenario with this workload, for two endpoints at these loads."""
    return (
        f"name: {_flow(scenario_name(name))}\n"
        "arms:\n"
        f"  baseline: {{url: {_flow(urls[0])}}}\n"
        f"  speculative: {{url: {_flow(urls[1])}}}\n"
        f"{workload}"
        f"matrix: {{concurrency: {_flow(list(streams))}}}\n"
    )


def scenario_name(word: str) -> str:
    """The word as a scenario may be named."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", word).strip("-_.")[:64] or "dataset"


def _entry(band: Bin) -> dict[str, Any]:
    label = {"label": list(band.label)} if band.label else {}
    lengths = {"input_tokens": list(band.input_tokens), "output_tokens": list(band.output_tokens)}
    return {"name": band.name, **label, **lengths, "weight": band.weight}


def _flow(value: Any) -> str:
    text = yaml.dump(value, Dumper=_Quoting, default_flow_style=True, width=1 << 30, sort_keys=False, allow_unicode=True)
    return text.removesuffix("...\n").strip()
