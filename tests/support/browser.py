"""A Chromium driven over its own debugging pipe: open a page, look at it, ask it. No test and no assertion lives here.

Two inherited pipes carry the DevTools protocol, so neither a driver nor a port is needed.
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from select import select
from typing import Any, Literal

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
TIMEOUT_S = 120.0
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


def chromium() -> str | None:
    """The path of a Chromium on this machine, None where there is none."""
    return next((found for found in map(shutil.which, NAMES) if found), None)


@dataclass
class Browser:
    """One open tab. `requests`, `errors` are what it asked for and what it complained about, in order."""

    read: int
    write: int
    session: str = ""
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    _last: int = 0
    _buffer: bytes = b""
    _loaded: bool = False

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The answer to one command of the protocol."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": params} | ({"sessionId": self.session} if self.session else {})
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, page: Path, width: int, scheme: Literal["light", "dark"] = "light", media: str = "screen") -> None:
        """Loads the file at that width and colour scheme, and waits until it is there."""
        self.requests.clear()
        self.errors.clear()
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])
        self._loaded = False
        self.ask("Page.navigate", url=page.as_uri())
        while not self._loaded:
            self._next()

    def resize(self, width: int, height: int) -> None:
        """Gives the window another size."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page; a promise is awaited."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"].get("exception", answer["exceptionDetails"])))
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """One key down and up."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowRight": 39}
        text = {"text": "\r"} if key == "Enter" else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=codes[key], **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=codes[key])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select([self.read], [], [], TIMEOUT_S)[0]:
                raise TimeoutError("the browser did not answer")
            chunk = os.read(self.read, 1 << 16)
            if not chunk:
                raise EOFError("the browser closed")
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, event: str, params: dict[str, Any]) -> None:
        if event == "Page.loadEventFired":
            self._loaded = True
        elif event == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.errors.append(str(params["exceptionDetails"].get("text")))
        elif event == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif event == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.errors.append(str(params["args"]))


@contextmanager
def browsing(program: str) -> Iterator[Browser]:
    """A tab of a fresh Chromium with a profile of its own; both are gone afterwards."""
    to_read, to_write = os.pipe(), os.pipe()  # its 3 reads commands, its 4 writes answers

    def place() -> None:
        low = os.dup(to_read[0]), os.dup(to_write[1])  # copies first: 3 and 4 may be in use by the pipes themselves
        os.dup2(low[0], 3)
        os.dup2(low[1], 4)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        started = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=place,
            pass_fds=(3, 4),
            start_new_session=True,
        )
        os.close(to_read[0])
        os.close(to_write[1])
        try:
            yield _tab(Browser(read=to_write[0], write=to_read[1]))
        finally:
            os.close(to_read[1])
            os.close(to_write[0])
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()


def _tab(browser: Browser) -> Browser:
    target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
    browser.session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network"):
        browser.ask(f"{domain}.enable")
    return browser
