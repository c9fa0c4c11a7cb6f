"""The command on a file of prompts: what it holds, and bins for a scenario. As in `main.py`, heavy imports stand inside."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from specbench.cli.help import add
from specbench.errors import DataError, ScenarioError
from specbench.model.data.datasets import SAMPLE, DatasetReading, ShapeName, TurnChoice
from specbench.run.output import deliver, tell

if TYPE_CHECKING:
    from specbench.model.data.dataset_summary import DatasetSummary
    from specbench.prompts.lengths import TextCounter


def register(app: typer.Typer) -> None:
    """Adds this command to the application."""
    add(app, bins)


def bins(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="JSON lines, a JSON array, CSV or Parquet, each also .gz.")],
    shape: Annotated[
        ShapeName, typer.Option("--shape", metavar="S", help=f"The shape of its rows: {', '.join(get_args(ShapeName))}.")
    ] = "auto",
    turns: Annotated[
        TurnChoice | None, typer.Option("--turns", metavar="T", help="Of a conversation: first, last or each question.")
    ] = None,
    label: Annotated[str | None, typer.Option("--label", metavar="FIELD", help="A field: bins for each value.")] = None,
    endpoint: Annotated[str | None, typer.Option("--endpoint", metavar="URL", help="An endpoint that counts tokens.")] = None,
    model: Annotated[str | None, typer.Option("--model", metavar="M", help="The model to count for.")] = None,
    api_key_env: Annotated[str | None, typer.Option("--api-key-env", metavar="VARIABLE", help="Holds its key.")] = None,
    tokenizer: Annotated[Path | None, typer.Option("--tokenizer", metavar="FILE", help="A tokenizer.json to count with.")] = None,
    output_tokens: Annotated[
        str | None, typer.Option("--output-tokens", metavar="LOW:HIGH", help="Limits of answers, the same for all bins.")
    ] = None,
    most: Annotated[int, typer.Option("--most", metavar="N", min=1, max=100, help="At most so many bins.")] = 6,
    sample: Annotated[int, typer.Option("--sample", metavar="N", min=1, max=100_000, help="Rows kept for each bin.")] = SAMPLE,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Chooses the sample.")] = 0,
    skip_broken: Annotated[bool, typer.Option("--skip-broken", help="Count lines that are no JSON, and go on.")] = False,
    json_to: Annotated[str | None, typer.Option("--json", metavar="FILE", help="The figures; '-' for standard output.")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="SCENARIO", help="Write a whole scenario there.")] = None,
) -> None:
    """Look at a dataset and propose bins for a scenario: words to stderr, the workload block to stdout."""
    from specbench.explain.dataset.dataset_words import dataset_lines
    from specbench.plan.dataset_bins import BinsRequest, summary_of
    from specbench.scenario.text.workload_text import workload_text
    from specbench.store import write_atomically

    if endpoint is not None and tokenizer is not None:
        raise typer.BadParameter("either --endpoint or --tokenizer", param_hint="--endpoint, --tokenizer")
    if out is not None and out.exists():
        raise DataError(f"{out}: exists already; give another file with -o")
    output = None if output_tokens is None else _band(output_tokens)
    reading = DatasetReading(shape=shape, turns=turns, label=label, sample=sample, broken="skip" if skip_broken else "refuse")
    counter = _counter(endpoint, model, api_key_env, tokenizer)
    summary = summary_of(BinsRequest(path=dataset, reading=reading, seed=seed, most=most, output=output), counter)
    for line in dataset_lines(summary):
        tell(line)
    beside = Path(".") if out is None else out.parent
    kept = {**asdict(reading), "sha256": summary.census.sha256, "tokenizer": _from(beside, tokenizer)}
    text = workload_text(_from(beside, dataset) or "", DatasetReading(**kept), summary.bins)
    if json_to is not None and json_to != "-":
        write_atomically(Path(json_to), (json.dumps(asdict(summary), indent=2, ensure_ascii=False) + "\n").encode())
    if out is not None:
        _write_scenario(out, dataset, endpoint, summary, text)
    if json_to == "-":
        deliver(json.dumps(asdict(summary), indent=2, ensure_ascii=False))
    elif out is None:
        deliver(text.rstrip("\n"))


def _band(text: str) -> tuple[int, int]:
    low, colon, high = text.partition(":")
    if not colon or not low.isdecimal() or not high.isdecimal() or not 1 <= int(low) <= int(high):
        raise typer.BadParameter(f"{text}: write LOW:HIGH, as in 32:256", param_hint="--output-tokens")
    return int(low), int(high)


def _from(folder: Path, path: Path | None) -> str | None:
    """The path as a scenario in that folder names it."""
    if path is None or (path.is_absolute() and not path.is_relative_to(folder.absolute())):
        return None if path is None else str(path)
    return os.path.relpath(path, folder)


def _counter(endpoint: str | None, model: str | None, key: str | None, tokenizer: Path | None) -> "TextCounter | None":
    from specbench.prompts.lengths import tokenizer_counter

    if tokenizer is not None:
        return tokenizer_counter(tokenizer)
    if endpoint is None:
        return None
    from specbench.credentials import key_header, secrets_in
    from specbench.net.urls import address_fault, base_url, without_secrets
    from specbench.telemetry.endpoint import ServedEndpoint, recognise, served_model
    from specbench.telemetry.token_counter import endpoint_counter

    if (fault := address_fault(endpoint)) is not None:
        raise ScenarioError(f"--endpoint {without_secrets(endpoint)}: {fault}")
    url, headers = base_url(endpoint), key_header(key, "--api-key-env")
    secrets = secrets_in(headers.values())
    name = served_model(url, headers, model, secrets=secrets).name
    engine = recognise(url, headers, secrets)
    counter = None if engine is None else endpoint_counter(ServedEndpoint(url, headers, name, secrets), engine)
    if counter is None:
        tell(f"specbench: {without_secrets(endpoint)} does not count tokens; give its tokenizer.json with --tokenizer")
    return counter


def _write_scenario(out: Path, dataset: Path, endpoint: str | None, summary: "DatasetSummary", workload: str) -> None:
    from specbench.scenario.parse import Overrides, parse_scenario
    from specbench.scenario.text.workload_text import MOST_STREAMS, scenario_text
    from specbench.store import write_atomically

    rows = min(summary.census.sampled.values(), default=1)
    streams = [level for level in MOST_STREAMS if level <= rows] or [1]
    text = scenario_text(
        dataset.name.partition(".")[0], (endpoint or "http://localhost:8000", "http://localhost:8001"), streams, workload
    )
    parse_scenario(text, str(out), Overrides())
    write_atomically(out, text.encode())
    tell(f"wrote {out}; next: specbench plan {out}")
