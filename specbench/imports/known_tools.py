"""Which tools' results can be read: one row each, in the order in which a file is tried; and a path's runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from specbench.errors import DataError
from specbench.imports import aiperf, genai_bench, guidellm, inference_perf, llamacpp_bench, sglang_bench, vllm_bench
from specbench.imports.result_file import ResultFile, result_file, storable
from specbench.model.data.imported import ImportedRun

MOST_FILES = 2000
# What lies beside results and is none: warm-ups, failures, what was sent, and sums over runs that are there themselves.
_NO_RESULTS = ("warmup.json", ".failure.json", "inputs.json", "_aggregate.json", "_collated.json", "server_metrics_export.json")


def _alone(_: Path) -> tuple[Path, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Tool:
    """A load tool: its name for people, how its files are told, the files that belong to one, and their runs."""

    id: str
    label: str
    recognises: Callable[[ResultFile], bool]
    read: Callable[[Sequence[ResultFile]], list[ImportedRun]]
    siblings: Callable[[Path], tuple[Path, ...]] = _alone


TOOLS: tuple[Tool, ...] = (
    Tool("sglang", "SGLang bench_serving", sglang_bench.recognises, sglang_bench.read),
    Tool("vllm", "vLLM bench serve", vllm_bench.recognises, vllm_bench.read),
    Tool("aiperf", "AIPerf", aiperf.recognises, aiperf.read, aiperf.siblings),
    Tool("guidellm", "GuideLLM", guidellm.recognises, guidellm.read),
    Tool("genai-bench", "genai-bench", genai_bench.recognises, genai_bench.read),
    Tool("inference-perf", "inference-perf", inference_perf.recognises, inference_perf.read, inference_perf.siblings),
    Tool("llamacpp", "llama.cpp speed_bench", llamacpp_bench.recognises, llamacpp_bench.read),
)
KNOWN = ", ".join(tool.label for tool in TOOLS)


def label_of(tool: str) -> str:
    """The tool's name for people."""
    return next((one.label for one in TOOLS if one.id == tool), tool)


def runs_at(path: Path) -> tuple[ImportedRun, ...]:
    """The runs that a result file, or a folder of them, holds.

    Raises:
        DataError: nothing of a known tool is there, or a file of one is damaged.
    """
    is_folder = path.is_dir()
    files = [result_file(one) for one in (_inside(path) if is_folder else [path])]
    found = [(file, tool) for file in files if (tool := _tool_of(file)) is not None]
    if not found:
        raise DataError(_unknown(path, files))
    if not is_folder:
        found += _beside(*found[0])
    return _each_once([run for tool in TOOLS for run in _read(tool, [file for file, one in found if one is tool])])


def same_run(one: ImportedRun, other: ImportedRun) -> bool:
    """Whether both hold the very same figures, so that one is a copy of the other; runs without any are no copies."""
    told = bool(one.summary) or any(request.ok for request in one.requests)
    return told and replace(one, files=(), notes=()) == replace(other, files=(), notes=())


def _each_once(runs: Sequence[ImportedRun]) -> tuple[ImportedRun, ...]:
    """The runs without copies, which would count as repeats that agree to the digit."""
    kept: list[ImportedRun] = []
    for run in runs:
        place = next((at for at, one in enumerate(kept) if same_run(one, run)), None)
        if place is None:
            kept.append(run)
        elif "copies_left_out" not in kept[place].notes:
            kept[place] = replace(kept[place], notes=(*kept[place].notes, "copies_left_out"))
    return tuple(kept)


def _read(tool: Tool, files: Sequence[ResultFile]) -> list[ImportedRun]:
    try:
        return [_storable(run) for run in tool.read(files)] if files else []
    except (TypeError, AttributeError, KeyError, ValueError, IndexError, OverflowError) as error:
        # A file whose values are of other kinds than its keys promise: whatever it trips over is a fault of the file.
        named = ", ".join(str(file.path) for file in files)
        raise DataError(f"{named}: not as {tool.label} writes it ({error}); run the tool again") from None


def _storable(run: ImportedRun) -> ImportedRun:
    """The run with names that can be written down again."""

    def kept(value: str | None) -> str | None:
        return None if value is None else storable(value)

    return replace(
        run,
        version=kept(run.version),
        load=storable(run.load),
        model=kept(run.model),
        url=kept(run.url),
        route=kept(run.route),
        dataset=kept(run.dataset),
        seed=kept(run.seed),
    )


def _tool_of(file: ResultFile) -> Tool | None:
    return next((tool for tool in TOOLS if tool.recognises(file)), None)


def _beside(file: ResultFile, tool: Tool) -> list[tuple[ResultFile, Tool]]:
    """What belongs to the same run and lies beside."""
    there = [result_file(other) for other in tool.siblings(file.path) if other.is_file()]
    return [(other, tool) for other in there if tool.recognises(other)]


def _inside(folder: Path) -> list[Path]:
    try:
        found = sorted(path for path in folder.rglob("*.json*") if path.suffix in (".json", ".jsonl") and path.is_file())
    except OSError as error:
        raise DataError(f"{folder}: cannot be read ({error.strerror})") from None
    found = [path for path in found if not path.name.endswith(_NO_RESULTS)]
    if not found:
        raise DataError(f"{folder}: holds no .json and no .jsonl file; name a folder with results of {KNOWN}")
    if len(found) > MOST_FILES:
        raise DataError(f"{folder}: holds {len(found)} JSON files, more than {MOST_FILES}; name the folder of one arm's results")
    return found


def _unknown(path: Path, files: Sequence[ResultFile]) -> str:
    """What such a file is not; two that look like one are named."""
    keys = {key for file in files for one in file.objects[:1] for key in one}
    if {"build_commit", "model_filename"} <= keys:
        return f"{path}: is of llama-bench, which measures inside one process and no endpoint; measure with: specbench run"
    if any(key.startswith("results_inter_token_latency_s") for key in keys):
        return f"{path}: is of llmperf, whose time between tokens holds the first token too; measure with: specbench run"
    shown = ", ".join(sorted(keys)[:6])
    has = f" (its keys: {shown})" if shown else ""
    return f"{path}: is of no tool that can be read{has}; known are {KNOWN}"
