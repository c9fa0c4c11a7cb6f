"""What `bins` shows of a dataset: lengths, labels, copies and times, and the bins that it proposes. Numbers, never a text."""

from dataclasses import dataclass

from specbench.model.data.datasets import Census
from specbench.model.scenario import Bin

PERCENTILES = (1, 10, 50, 90, 99)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """When the requests came: `dispersion` is variance ÷ mean of their number in a second, 1 where they come by chance."""

    span_s: float
    rate_per_s: float
    dispersion: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSummary:
    """A dataset and its proposed bins. Lengths are by percentile (`p50`), `output_tokens` None where no answer's length is known.

    `labels`: the share of each, the most frequent first. `same_beginning`: the share of requests that begin with the commonest
    256 characters. `output_measured`: False where the bins' answers have a stated length.
    """

    census: Census
    bins: tuple[Bin, ...]
    input_tokens: dict[str, int]
    output_tokens: dict[str, int] | None
    labels: dict[str, float]
    same_beginning: float
    arrivals: Arrivals | None
    output_measured: bool
