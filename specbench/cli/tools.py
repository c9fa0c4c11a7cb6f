"""The commands beside the main job: one endpoint measured, this machine examined, engines and verdicts served.

As in `cli/main.py`: parse flags, call one function, print, exit; heavy imports stand inside the commands.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from specbench.cli.completion import engines
from specbench.cli.fleet_command import Listen, Processes, Workers, WorkerWait, fleet_options
from specbench.cli.help import add
from specbench.cli.printing import AsJson, run_or_folder
from specbench.errors import DataError, ExitCode, ScenarioError, UnreachableError
from specbench.net.urls import without_secrets
from specbench.run.output import deliver, say, tell

Model = Annotated[str | None, typer.Option("--model", metavar="M", help="Model to request.")]
EngineName = Annotated[
    str | None, typer.Option("--engine", metavar="NAME", help="Engine name; detected if omitted.", autocompletion=engines)
]
KeyVariable = Annotated[
    str | None, typer.Option("--api-key-env", metavar="VARIABLE", help="Environment variable that holds the key.")
]
AskedPath = Annotated[str | None, typer.Option("--path", metavar="PATH", help="Path to request, with its query.")]
LimitKey = Annotated[str | None, typer.Option("--limit-key", metavar="NAME", help="Name of the max_tokens field.")]
ExtraBody = Annotated[
    str | None, typer.Option("--extra-body", metavar="JSON", help="Fields to add to the body; null removes one.")
]
CALIBRATION = Path("calibration")


def register(app: typer.Typer) -> None:
    """Adds these commands to the command line."""
    for command in (probe, doctor, engine, serve, calibrate):
        add(app, command)


def probe(
    url: Annotated[str, typer.Argument(metavar="URL", help="An OpenAI-compatible endpoint, with or without /v1.")],
    model: Annotated[
        str | None, typer.Option("--model", metavar="M", help="Model to request; optional if only one is served.")
    ] = None,
    concurrency: Annotated[int, typer.Option("--concurrency", metavar="C", help="Concurrent streams.")] = 1,
    requests: Annotated[int, typer.Option("--requests", metavar="N", help="Total requests.")] = 16,
    max_tokens: Annotated[int, typer.Option("--max-tokens", metavar="T", help="Maximum output tokens per request.")] = 128,
    engine: EngineName = None,
    processes: Processes = 1,
    workers: Workers = 0,
    worker_wait: WorkerWait = "60s",
    listen: Listen = None,
    api_key_env: KeyVariable = None,
    path: AskedPath = None,
    limit_key: LimitKey = None,
    extra_body: ExtraBody = None,
    json_to: Annotated[
        str | None, typer.Option("--json", metavar="FILE", help="Write JSON there; '-' for standard output.")
    ] = None,
) -> None:
    """Measure one endpoint quickly, no verdict."""
    from specbench.credentials import key_header, printable
    from specbench.probe.probe import ProbeRequest, as_text, probe
    from specbench.scenario.asking import asking_of
    from specbench.store import write_atomically

    order = ProbeRequest(
        url=url,
        model=model,
        concurrency=concurrency,
        requests=requests,
        max_tokens=max_tokens,
        engine=engine,
        fleet=fleet_options(processes, workers, worker_wait, listen),
        headers=key_header(api_key_env, "--api-key-env"),
        asking=asking_of(path, limit_key, extra_body),
    )
    told = probe(order, tell)
    none_succeeded = not told["requests"]["ok"]
    try:
        if json_to is None:
            deliver(printable(as_text(told)))
        elif json_to == "-":
            deliver(json.dumps(told, indent=2))
        else:
            write_atomically(Path(json_to), (json.dumps(told, indent=2) + "\n").encode())
    except DataError as error:
        if json_to not in (None, "-"):
            say(as_text(told))  # what was measured is not lost with the file
        if not none_succeeded:
            raise
        tell(f"specbench: {error}")
    if none_succeeded:
        why = f"({told['requests']['by_outcome']}): {'; '.join(told['reasons'].values())}"
        path_hint = "; is its path another (--path)?" if "404" in told["requests"]["by_status"] and path is None else ""
        raise UnreachableError(f"{without_secrets(url)}: none of {requests} requests succeeded {why}{path_hint}")


def doctor(
    url: Annotated[str | None, typer.Argument(metavar="[URL]", help="An endpoint; without it, this machine.")] = None,
    model: Model = None,
    engine: EngineName = None,
    api_key_env: KeyVariable = None,
    path: AskedPath = None,
    limit_key: LimitKey = None,
    extra_body: ExtraBody = None,
    as_json: AsJson = False,
) -> None:
    """Check that this machine can measure accurately; with a URL, that the endpoint's stream can be measured."""
    from specbench.credentials import key_header
    from specbench.doctor import as_text, doctor
    from specbench.scenario.asking import asking_of

    headers, asking = key_header(api_key_env, "--api-key-env"), asking_of(path, limit_key, extra_body)
    diagnosis = doctor(url, model=model, engine=engine, headers=headers, asking=asking, say=tell)
    if as_json:
        deliver(json.dumps({"fit": diagnosis.fit, **asdict(diagnosis)}, indent=2))
    else:
        say(as_text(diagnosis))
    if not diagnosis.fit:
        raise typer.Exit(ExitCode.INVALID)


def serve(
    run: Annotated[Path, typer.Argument(metavar="RUN|DIR", help="A run folder, latest, or a folder of runs.")],
    host: Annotated[str, typer.Option("--host", metavar="H", help="Address to listen on; default: loopback only.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="P", min=0, max=65_535, help="Port to listen on.")] = 8080,
    allow_capped: Annotated[bool, typer.Option("--allow-capped", help="CAPPED counts as passed.")] = False,
    max_age: Annotated[
        str | None, typer.Option("--max-age", metavar="AGE", help="Oldest verdict that still counts: 90s, 30m, 6h or 2d.")
    ] = None,
) -> None:
    """Serve a run's verdict to rollout controllers (Argo, Flagger, Prometheus), or a folder of runs as web pages."""
    from specbench.report.serve import serve
    from specbench.store import MANIFEST, RESULT
    from specbench.units import s_of_span

    try:
        max_age_s = None if max_age is None else s_of_span(max_age)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--max-age") from None
    run = run_or_folder(run)
    if not (run / RESULT).exists() and not (run / MANIFEST).exists():
        from specbench.report.serve_runs import serve_runs

        serve_runs(run, host, port)
    else:
        serve(run, host, port, allow_capped, max_age_s)


def engine(
    speculative: Annotated[
        str | None, typer.Option("--speculative", metavar="METHOD", help="draft_model, ngram or heads.")
    ] = None,
    tokens: Annotated[int, typer.Option("--num-speculative-tokens", metavar="N", help="Draft tokens per round, 1 to 8.")] = 4,
    port: Annotated[int, typer.Option("--port", metavar="P", help="Port to listen on; 0 for a free one.")] = 8000,
    slow_by: Annotated[float, typer.Option("--slow-by", metavar="SHARE", help="Slow every step: 0.3 is 30 %.")] = 0.0,
    options: Annotated[str, typer.Option("--options", metavar="JSON", help="More options, see docs/engine.md.")] = "{}",
) -> None:
    """Serve the embedded engine until Ctrl-C."""
    from specbench.engine.http.server import serve
    from specbench.engine.options import options_of

    try:
        further = json.loads(options)
    except ValueError as error:
        raise ScenarioError(f"--options: not JSON: {error}") from None
    if not isinstance(further, dict):
        raise ScenarioError('--options: a JSON object is needed, such as {"corpus": "prose"}')
    speculation = {"method": speculative, "num_speculative_tokens": tokens} if speculative else None
    serve(options_of({"port": port, "slow_by": slow_by, "speculative": speculation, **further}))


def calibrate(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Campaigns, by the beginning of their names; with URLs, folders of earlier starts."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Output folder; existing partial results are reused.")
    ] = CALIBRATION,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, help="Parallel processes.")] = 1,
    real: Annotated[bool, typer.Option("--real", help="Add runs over real sockets (hours).")] = False,
    most: Annotated[int | None, typer.Option("--most", metavar="N", min=1, help="Maximum runs per campaign.")] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="URL", help="First endpoint of a hardware A/A test.")
    ] = None,
    speculative: Annotated[
        str | None, typer.Option("--speculative", metavar="URL", help="Second endpoint; both without speculation.")
    ] = None,
    model: Model = None,
) -> None:
    """Measure how often the verdict is wrong; with two URLs, how much equal arms differ on your hardware."""
    if (baseline is None) != (speculative is None):
        raise typer.BadParameter("give both URLs, or neither", param_hint="--baseline, --speculative")
    if baseline is None:
        from specbench.calibrate import calibrate

        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"--out {out}: cannot be made: {error.strerror}; give another folder") from None
        say(f"wrote {calibrate(out, names or [], tell, jobs=jobs, real=real, most=most)}")
        return
    from specbench.calibrate.hardware_noise import describe_noise, equal_arms, measure_noise
    from specbench.calibrate.start_spread import describe_starts, earlier_starts
    from specbench.run.progress import progress_on
    from specbench.scenario.parse import Overrides

    scenario = equal_arms(Overrides(baseline_url=baseline, speculative_url=speculative, model=model))
    before = earlier_starts(names or [], scenario)
    with progress_on() as watching:
        result = measure_noise(scenario, out, watching)
    starts = describe_starts([*before, result])
    say(f"{describe_noise(scenario, result)}\n{starts}\nfacts: {out} (use them with: specbench plan SCENARIO --like {out})")
