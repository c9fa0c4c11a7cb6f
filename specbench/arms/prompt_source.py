"""What the prompts of a run are drawn from: a built-in corpus, or a dataset that the first arm's tokenizer measures."""

from pathlib import Path

from specbench.arms.arms import RunningArm
from specbench.arms.preflight import token_unit
from specbench.explain.dataset.dataset_notes import census_notes
from specbench.model.scenario import Scenario
from specbench.prompts.corpora import documents
from specbench.prompts.dataset.arrival_trace import ArrivalTrace, read_trace
from specbench.prompts.dataset.sample import Dataset, read_dataset
from specbench.prompts.lengths import TextCounter, tokenizer_counter
from specbench.prompts.made_up import CORPUS
from specbench.prompts.sampler import PromptSource
from specbench.prompts.sessions import check_sessions, conversations_of
from specbench.telemetry import ENGINES
from specbench.telemetry.endpoint import ServedEndpoint
from specbench.telemetry.token_counter import endpoint_counter


def prompt_source(scenario: Scenario, ready: RunningArm) -> PromptSource:
    """What prompts are drawn from, with what a reader should know of it.

    Raises:
        DataError: the dataset cannot be read, or has too few prompts for one of the bins.
    """
    workload = scenario.workload
    if workload.dataset is None:
        texts = documents(workload.corpus or "")
        return PromptSource(documents=texts, unit=token_unit(ready, texts), workload=workload, seed=scenario.seed)
    served = ServedEndpoint(ready.url, ready.headers, ready.arm.model or "", ready.secrets)
    dataset = dataset_of(scenario, endpoint_counter(served, ENGINES[ready.arm.engine]))
    census = dataset.census
    return PromptSource(
        documents=documents(CORPUS) if census.made_up else (),
        unit=token_unit(ready, dataset.texts or documents(CORPUS)),
        workload=workload,
        seed=scenario.seed,
        rows=dataset.rows,
        conversations=() if workload.sessions is None else conversations_of(dataset.rows, workload.sessions),
        notes=census_notes(census, dataset.compresses),
        census=census,
    )


def trace_of(scenario: Scenario) -> ArrivalTrace | None:
    """The moments of the scenario's dataset where its arrivals are replayed; None where they are drawn.

    Raises:
        DataError: the dataset cannot be read, or has no moments to replay.
    """
    workload = scenario.workload
    if scenario.matrix.replay is None:
        return None
    return read_trace(Path(scenario.path).parent / (workload.dataset or ""), workload.reading, scenario.seed, workload.route)


def dataset_of(scenario: Scenario, counter: TextCounter | None = None) -> Dataset:
    """The scenario's dataset in its bins, counted by this counter, else by the scenario's tokenizer file where it names one.

    Raises:
        DataError: the dataset or the tokenizer cannot be read, or a bin has fewer rows than the largest load has streams.
    """
    workload, beside = scenario.workload, Path(scenario.path).parent
    if counter is None and workload.reading.tokenizer is not None:
        counter = tokenizer_counter(beside / workload.reading.tokenizer)
    largest = max(scenario.matrix.concurrency, default=1)
    path = beside / (workload.dataset or "")
    dataset = read_dataset(path, workload, scenario.seed, counter, 1 if workload.sessions is not None else largest)
    if workload.sessions is not None:
        check_sessions(str(path), dataset.rows, workload.sessions, largest)
    return dataset
