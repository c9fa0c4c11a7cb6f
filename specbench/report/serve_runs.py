"""A folder of runs as pages: the list at `/`, each run's report below it. Read-only, from the files as they stand."""

from pathlib import Path
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from specbench.errors import DataError
from specbench.explain import labels, numbers
from specbench.explain.history import history_sentences as sentences
from specbench.net.web_server import serve_app
from specbench.report.formats.html import rendered
from specbench.report.formats.result_json import read_result
from specbench.report.history.history_folder import history_as_it_stands
from specbench.report.history.history_formats import changes_with_facts
from specbench.report.runs import RunSummary, run_folders, runs_in
from specbench.report.serve import NO_RESULT, report_page

MOST_RUNS = 200  # that the page lists, the newest first
HTML = "text/html; charset=utf-8"


def runs_app(folder: Path) -> Starlette:
    """The pages over the runs right below this folder."""

    def listed(_: Request) -> Response:
        try:
            return Response(runs_page(folder), media_type=HTML)
        except DataError as error:
            raise HTTPException(NO_RESULT, str(error)) from None

    def one(request: Request) -> Response:
        name = request.path_params["run"]
        try:
            run = next((path for _, path in run_folders(folder) if path != folder and path.name == name), None)
            if run is None:
                raise HTTPException(404, "no run of this name is here; / lists those that are")
            return Response(report_page(run, read_result(run)), media_type=HTML)
        except DataError as error:
            raise HTTPException(NO_RESULT, str(error)) from None

    def refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return PlainTextResponse(f"{error.detail}\n", status_code=error.status_code)

    routes = [Route("/", listed), Route("/healthz", lambda _: PlainTextResponse("ok")), Route("/runs/{run}", one)]
    return Starlette(routes=routes, exception_handlers={HTTPException: refused})


def runs_page(folder: Path) -> str:
    """The list of the runs in the folder as one HTML document.

    Raises:
        DataError: There is no such folder, or no run in it.
    """
    runs = runs_in(folder)
    history = history_as_it_stands(folder)
    return rendered(
        "runs.html",
        title=f"{numbers.one_of(len(runs), 'run')} in {folder}",
        older=max(len(runs) - MOST_RUNS, 0),
        changes=changes_with_facts(history),
        changes_note=sentences.caveat(history),
        runs=[(run, _link(run), _tone(run)) for run in runs[:MOST_RUNS]],
    )


def _link(run: RunSummary) -> str:
    return f"/runs/{quote(run.folder.name, safe='')}" if not run.problem else ""


def _tone(run: RunSummary) -> str:
    return next((name.tone for word, name in labels.VERDICTS.items() if word == run.verdict), "void")


def serve_runs(folder: Path, host: str, port: int) -> None:
    """Serves the pages until the process is told to end.

    Raises:
        DataError: There is no run in the folder.
        UnreachableError: The address cannot be bound.
    """
    runs_in(folder, most=1)  # says at once what a request would say much later
    serve_app(runs_app(folder), host, port)
