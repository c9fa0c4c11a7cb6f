"""What `bins` says of a dataset: its shape, lengths, labels, copies and times, a line each."""

from collections.abc import Mapping

from specbench.explain.dataset.dataset_notes import census_notes
from specbench.model.data.dataset_summary import DatasetSummary

SHARED = 0.10  # of the requests with one beginning: from then on a prefix cache matters


def dataset_lines(summary: DatasetSummary) -> list[str]:
    """The figures of a dataset, in lines for people."""
    census = summary.census
    lines = [
        *census_notes(census, 1.0),
        f"Prompt tokens (by {census.counted}): {_tokens(summary.input_tokens)}",
        "Output tokens: not recorded" if summary.output_tokens is None else f"Output tokens: {_tokens(summary.output_tokens)}",
    ]
    if not summary.output_measured:
        low, high = summary.bins[0].output_tokens if summary.bins else (0, 0)
        lines.append(f"All bins ask for {low} to {high} output tokens; --output-tokens LOW:HIGH sets other limits.")
    if summary.labels:
        lines.append("Labels: " + ", ".join(f"{name} {100 * share:.1f} %" for name, share in summary.labels.items()))
    if census.copies:
        lines.append(f"Copies: {census.copies:,} requests equal another one.")
    if summary.same_beginning >= SHARED:
        lines.append(
            f"{100 * summary.same_beginning:.0f} % of the requests begin with the same 256 characters, so a cache serves them."
        )
    if summary.arrivals is not None:
        when = summary.arrivals
        burst = "" if when.dispersion is None else f", index of dispersion {when.dispersion:.1f} a second (1 is Poisson)"
        lines.append(f"Arrivals: {when.span_s:,.0f} s, {when.rate_per_s:.3g} requests/s on average{burst}")
    return lines


def _tokens(found: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in found.items())
