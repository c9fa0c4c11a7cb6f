"""The options of `watch` as values, each refused in one line where it makes no sense."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from specbench.errors import DataError, ScenarioError

if TYPE_CHECKING:
    from specbench.live.source import LiveSource, PrometheusServer
    from specbench.model.live.watch_result import LiveLimit
    from specbench.model.result import Result


def cited(run: Path | None) -> "Result | None":
    """The cited result; a run that is no reference is refused."""
    from specbench.cli.printing import run_named
    from specbench.report import read_result
    from specbench.store import RESULT

    if run is None:
        return None
    folder = run_named(run)
    result = read_result(folder / RESULT)
    if result.run.partial:
        raise DataError(f"{folder}: the run ended early, and a part is no reference; name a whole run, or none")
    if result.verdict == "INVALID":
        raise DataError(f"{folder}: the run is INVALID, so nothing can be held against it; name another run, or none")
    return result


def limits_of_run(run: Path | None) -> list[str]:
    """The limits under `watch` of the run's scenario, as `--limit` would have them; none where the folder holds no scenario."""
    from specbench.report.runs import named_run
    from specbench.store import MANIFEST, read_manifest

    folder = None if run is None else named_run(run)[0]  # `cited` says which one it is
    if folder is None or not (folder / MANIFEST).exists():
        return []
    found = read_manifest(folder).scenario.watch_limits
    return [f"{metric}={value:f}{'' if metric == 'alpha' else 'ms'}" for metric, value in found.items()]


def server_of(url: str | None, key_variable: str | None) -> "PrometheusServer | None":
    """The Prometheus server at this address; None where none is named."""
    from specbench.credentials import key_header, secrets_in
    from specbench.live.source import PrometheusServer
    from specbench.net.urls import check_address

    if url is None:
        return None
    check_address(url)
    headers = key_header(key_variable, "--prometheus-key-env")
    return PrometheusServer(url=url, headers=headers, secrets=secrets_in(headers.values()))


def source(
    named: str, option: str, server: "PrometheusServer | None", engine: str | None, key_variable: str | None
) -> "LiveSource":
    """Where an arm's figures come from: a selector where there is a server, else URLs."""
    from specbench.credentials import key_header
    from specbench.live.source import PagesSource, PrometheusSource
    from specbench.net.urls import address_fault

    if not named.strip(" ,"):
        raise ScenarioError(f'{option}: is empty; name metrics URLs, or with --prometheus a selector such as {{arm="spec"}}')
    if server is not None:
        return PrometheusSource(server, named, engine_name(engine))
    urls = [url.strip() for url in named.split(",") if url.strip()]
    if named.strip().startswith("{"):
        raise ScenarioError(f"{option}: {named} is a selector; name the server too: --prometheus URL")
    for url in urls:
        if (fault := address_fault(url, page=True)) is not None:
            raise ScenarioError(f"{option}: {url} {fault}")
    return PagesSource(urls, key_header(key_variable, "--metrics-key-env"))


def second_source(
    speculative: str, baseline: str | None, server: "PrometheusServer | None", engine: str | None, key_variable: str | None
) -> "LiveSource | None":
    """The baseline's source, which must not be the speculative arm's; None where it is not named."""
    from specbench.export.selectors import label_selector
    from specbench.live.source import page_url

    if baseline is None:
        return None
    if server is not None:
        spec, base = label_selector(speculative, "--speculative"), label_selector(baseline, "--baseline")
        shared = spec.covers(base) or base.covers(spec)
    else:
        pages = [{page_url(url.strip()) for url in named.split(",")} for named in (speculative, baseline)]
        shared = bool(pages[0] & pages[1])
    if shared:
        raise ScenarioError("--baseline: is the speculative arm too, or lets it through; name replicas of each arm alone")
    return source(baseline, "--baseline", server, engine, key_variable)


def check_together(assignment: str, baseline: str | None, tolerance: float) -> None:
    """Nothing, where these make sense together.

    Raises:
        ScenarioError: Arms are to be compared, and there is one alone; or everything, or nothing, would be a drift.
    """
    if assignment == "random" and baseline is None:
        raise ScenarioError("--assignment random: compares two arms; name the other one too: --baseline SRC")
    if not 0 < tolerance < 1:
        raise ScenarioError(f"--tolerance {tolerance:g}: is no share between 0 and 1; 0.03 is the usual one")


def facts_address(url: str | None) -> str | None:
    """The endpoint whose facts are compared, if its address can be asked.

    Raises:
        ScenarioError: It cannot.
    """
    from specbench.net.urls import address_fault, without_secrets

    if url is not None and (fault := address_fault(url)) is not None:
        raise ScenarioError(f"--facts: {without_secrets(url)} {fault}")
    return url


def kept_name(named: str) -> str:
    """How an arm is named in the folder of the watch: its selector, or its URLs without what may be a secret in them."""
    from specbench.net.urls import without_secrets

    return named if named.strip().startswith("{") else ",".join(without_secrets(url.strip()) for url in named.split(","))


def engine_name(name: str | None) -> str | None:
    """The engine as it is named, if its histograms are known."""
    from specbench.errors import did_you_mean
    from specbench.telemetry import ENGINES

    known = [engine.name for engine in ENGINES.values() if engine.prefixes]
    if name is not None and name not in known:
        raise ScenarioError(
            f"--engine {name}: its histograms are not known here; known: {', '.join(known)}{did_you_mean(name, known)}"
        )
    return name


def errors_known(query: str | None, prometheus: str | None) -> Literal["told", "none"] | None:
    """Whether failed requests are known, or accepted as unknown."""
    if query is None or query == "none":
        return "none" if query else None
    if prometheus is None:
        raise ScenarioError("--errors: is a query of a Prometheus server; name it too: --prometheus URL")
    return "told"


def span(text: str, option: str) -> float:
    """The seconds of a span such as 5m."""
    from specbench.units import s_of_span

    try:
        return s_of_span(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def address(text: str) -> tuple[str, int]:
    """Host and port to listen on."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise typer.BadParameter(f"{text}: write HOST:PORT, such as 127.0.0.1:9109", param_hint="--listen")
    return host or "127.0.0.1", int(port)


def limits(given: list[str]) -> "tuple[LiveLimit, ...]":
    """The default limits, each replaced by the one that is given for its metric, and the others given.

    Raises:
        BadParameter: One is not written as METRIC=VALUE.
    """
    from specbench.model.live.watch_result import DEFAULT_LIMITS, LiveLimit
    from specbench.scenario.text.limit_text import EXAMPLES, limit_value

    chosen = {one.metric: one for one in DEFAULT_LIMITS}
    for text in given:
        metric, equals, value = text.replace(" ", "").partition("=")
        if not equals:
            raise typer.BadParameter(f"{text}: write METRIC=VALUE, such as {EXAMPLES}", param_hint="--limit")
        try:
            number = limit_value(metric, value)
        except ValueError as error:
            raise typer.BadParameter(f"{text}: {error}", param_hint="--limit") from None
        chosen[metric] = LiveLimit(metric=metric, value=number, periods=3 if metric == "alpha" else 2)
    return tuple(chosen.values())
