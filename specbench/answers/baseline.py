"""Questions to the baseline, several at once, for so long and no longer. What they mean is not known here."""

import json
import queue
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from specbench.arms.arms import RunningArm, asked_at
from specbench.credentials import one_line
from specbench.explain.answers import asking_reasons as reasons
from specbench.model.scenario import Route
from specbench.telemetry import ENGINES, EngineSupport
from specbench.telemetry.engines.rulers import Question
from specbench.telemetry.http import HttpGetter
from specbench.telemetry.metrics_pages import HttpAnswer

T = TypeVar("T")
ONE_QUESTION_S = 60.0
LONGEST_REFUSAL = 120  # characters of what a server says of its refusal
_CHAT, _COMPLETIONS = "/chat/completions", "/completions"


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Why a question has no answer, as the end of a sentence."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The baseline as it is asked: at most `streams` questions at once, none any more once `until_s` (monotonic) is past."""

    ready: RunningArm
    route: Route
    streams: int
    until_s: float
    getters: "queue.SimpleQueue[HttpGetter]" = field(default_factory=queue.SimpleQueue)

    @property
    def engine(self) -> EngineSupport:
        """What is known of its engine."""
        return ENGINES[self.ready.arm.engine]

    @property
    def model(self) -> str:
        """The model to ask for."""
        return self.ready.arm.model or ""

    def ask(self, question: Question) -> object:
        """The JSON that the question is answered with, or why there is none."""
        left_s = self.until_s - time.monotonic()
        if left_s <= 0:
            return Unanswered(reasons.OUT_OF_TIME)
        getter = self.getters.get()
        try:
            path, body = question
            return _content(getter.post(self._url(path), self.ready.headers, min(left_s, ONE_QUESTION_S), body))
        finally:
            self.getters.put(getter)

    def each(self, places: Sequence[T], ask: Callable[[T], object]) -> Iterator[object]:
        """What `ask` makes of each place, in their order, several at once."""
        with ThreadPoolExecutor(max_workers=self.streams) as pool:
            try:
                yield from pool.map(ask, places)
            except BaseException:  # an interrupt does not wait for what was not asked yet
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _url(self, path: str) -> str:
        """Where this is asked: behind the base URL, or where completions are asked, at the path that the scenario names."""
        if path != f"/v1{_COMPLETIONS}":
            return self.ready.url + path
        url, asked = asked_at(self.ready, self.route)
        return url.rstrip("/") + asked.replace(_CHAT, _COMPLETIONS)


@contextmanager
def asked_baseline(ready: RunningArm, route: Route, streams: int, seconds: float) -> Iterator[Baseline]:
    """The baseline, to be asked for so many seconds from now on."""
    with ExitStack() as stack:
        baseline = Baseline(ready=ready, route=route, streams=streams, until_s=time.monotonic() + seconds)
        for _ in range(streams):
            baseline.getters.put(stack.enter_context(HttpGetter(ready.secrets)))
        yield baseline


def _content(answer: HttpAnswer) -> object:
    if answer.status is None:
        return Unanswered(reasons.no_answer(answer.problem or "no answer"))
    if answer.status != 200:
        return Unanswered(reasons.refused(answer.status, _said(answer.body)))
    told = answer.json()
    return Unanswered(reasons.NO_PROBABILITIES) if told is None else told


def _said(body: str) -> str:
    """What a server says of a refusal: the message in its JSON, on one line."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for name in ("error", "message", "detail"):
        found = told.get(name) if isinstance(told, dict) else None
        told = found if isinstance(found, dict) else told
        if isinstance(found, str):
            return one_line(found, LONGEST_REFUSAL).rstrip(".")
    return ""
