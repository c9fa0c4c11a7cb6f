"""The workload of a scenario: from what was written to frozen values, and what must fit together in it."""

from specbench.model.data.datasets import DatasetReading
from specbench.model.scenario import Bin, Sampling, Sessions, Workload
from specbench.scenario.answer_forms import valid_rule
from specbench.scenario.schema import BinSchema, ScenarioSchema, WorkloadSchema
from specbench.scenario.text.yaml_source import Path, YamlSource


def check_sessions(form: ScenarioSchema, text: YamlSource) -> None:
    """Nothing, unless sessions stand beside what they cannot be sent with.

    Raises:
        ScenarioError: one line with file, line and key path.
    """
    where: Path = ("workload", "sessions")
    if form.workload.sessions is None:
        return
    if form.workload.source.dataset is None or form.workload.source.turns != "each":
        raise text.error(where, "sends conversations of a dataset: set workload.source: {dataset: ..., turns: each}")
    if form.matrix.traffic == "separate":
        raise text.error(where, "has turns in several bins, and separate traffic has one: set matrix.traffic: mixed")
    if form.matrix.arrivals == "replay":
        raise text.error(where, "has pauses of its own, and replayed arrivals those of the dataset: leave one of them out")
    if form.workload.sessions.history == "own":
        _check_own_history(form, text)


def _check_own_history(form: ScenarioSchema, text: YamlSource) -> None:
    """Nothing, unless an arm's own answers have no place in its requests."""
    if form.workload.route != "chat":
        raise text.error(
            ("workload", "sessions", "history"),
            "is own, and only chat has answers among its messages: set workload.route: chat, or history: dataset",
        )
    for name, arm in (("baseline", form.arms.baseline), ("speculative", form.arms.speculative)):
        if "messages" in arm.extra_body:
            raise text.error(
                ("arms", name, "extra_body", "messages"),
                "leaves no place for the arm's own answers: leave it out, or set workload.sessions.history: dataset",
            )


def workload_of(form: WorkloadSchema, text: YamlSource) -> Workload:
    """What is asked of the endpoints.

    Raises:
        ScenarioError: parts of it do not fit together.
    """
    if (form.source.corpus is None) == (form.source.dataset is None):
        raise text.error(("workload", "source"), "name either a corpus or a dataset")
    if not form.streaming:
        raise text.error(("workload", "streaming"), "must be true, as latency per token needs a stream")
    for key, names in (("bins", [b.name for b in form.bins]), ("sampling", [s.name for s in form.sampling])):
        for place, found in enumerate(names):
            if found in names[:place]:
                raise text.error(("workload", key, place, "name"), f"the name {found} is used twice")
    of_dataset = [key for key in form.source.model_fields_set if key not in ("corpus", "dataset")]
    if form.source.dataset is None and of_dataset:
        raise text.error(("workload", "source", of_dataset[0]), "says how a dataset is read, and there is none")
    labelled = next((place for place, band in enumerate(form.bins) if band.label), None)
    if labelled is not None and form.source.label is None:
        field = "needs workload.source.label, the field of the dataset that holds the labels"
        raise text.error(("workload", "bins", labelled, "label"), field)
    return Workload(
        corpus=form.source.corpus,
        dataset=form.source.dataset,
        reading=DatasetReading(**form.source.model_dump(exclude={"corpus", "dataset", "keep"}), keep=tuple(form.source.keep)),
        **form.model_dump(exclude={"source", "bins", "sampling", "sessions"}),
        sessions=None if form.sessions is None else Sessions(**form.sessions.model_dump()),
        bins=tuple(_bin(band, place, text) for place, band in enumerate(form.bins)),
        sampling=tuple(Sampling(**sampling.model_dump()) for sampling in form.sampling),
    )


def _bin(form: BinSchema, place: int, text: YamlSource) -> Bin:
    given = None if form.valid is None else (form.valid.regex, form.valid.json_schema)
    rule = valid_rule(given, ("workload", "bins", place, "valid"), text)
    return Bin(**{**form.model_dump(), "label": tuple(form.label), "valid": rule})
