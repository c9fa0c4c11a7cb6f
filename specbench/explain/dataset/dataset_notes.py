"""What a dataset held, in sentences: the rows that are sent, those that are not and why, and what to think of their lengths."""

from collections.abc import Mapping

from specbench.model.data.datasets import Census

REPETITIVE = 20.0  # plain prose and code compress 3 to 6 : 1, and one sentence copied 200 times about 100 : 1
MANY_COPIES = 0.05
ESTIMATED = "estimated"
_OUTSIDE = {
    "below": "shorter than all bins",
    "above": "longer than all bins",
    "between": "between the bins",
    "output": "with an answer that no bin takes",
    "label": "with a label that no bin takes",
}


def census_notes(census: Census, compresses: float) -> tuple[str, ...]:
    """What a reader of the verdict should know of these prompts.

    Args:
        compresses: how many times smaller their texts are compressed.
    """
    notes = [
        f"The dataset {census.path} has {census.rows:,} rows ({_listed(census.shapes)}); {census.used:,} requests fall into the"
        f" bins ({_listed(census.bins)}), and up to {sum(census.sampled.values()):,} of them are sent."
    ]
    if census.outside:
        outside = " ".join(f"{count:,}: {_OUTSIDE.get(name, name)}." for name, count in census.outside.items())
        notes.append(f"Requests of the dataset lie outside all bins. {outside}")
    notes += [f"{count:,} rows of the dataset were skipped: {reason}" for reason, count in census.skipped.items()]
    if census.copies > MANY_COPIES * max(1, census.used):
        notes.append(f"{census.copies:,} requests of the dataset are copies of others; the sample holds each once.")
    if census.unsorted:
        notes.append(f"{census.unsorted:,} rows of the dataset were out of time order and were sorted.")
    if census.counted == ESTIMATED:
        notes.append(
            "lengths_estimated: lengths are estimates, as nothing counted tokens, so some rows may be in the wrong bin;"
            " use an engine that counts tokens, or set workload.source.tokenizer."
        )
    if census.left:
        notes.append(f"{census.left:,} sampled rows left their bin once their tokens were counted.")
    if census.made_up:
        notes.append(
            "unrepresentative_prompts: the lengths are the trace's, the text is not; acceptance on it does not describe this"
            " traffic."
        )
    elif compresses > REPETITIVE:
        notes.append(
            f"unrepresentative_prompts: the prompts compress {compresses:.0f} : 1, so they repeat themselves far more than real"
            " text does; acceptance on them says little about other traffic"
        )
    return tuple(notes)


def bins_line(census: Census) -> str:
    """How many rows each bin has, in one line for a plan and for a run's beginning."""
    each = ", ".join(f"{name} {count:,} (sends {census.sampled[name]:,})" for name, count in census.bins.items())
    return f"{census.path}: {census.used:,} of {census.rows:,} rows, lengths by {census.counted}; rows in bin {each}"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())
