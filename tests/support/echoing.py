"""An endpoint that tells everybody every secret that it was ever sent, in many forms, with control characters and commands."""

import base64
import contextlib
import html
import json
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.loopback import on_loopback

BAD = "\x1b[31mred\x1b]0;title\x07\u202etxet\x9b2J\r\n::error::forged\n##[error]forged\n=cmd()\n"
"""Colours, a window's title, text from right to left, a C1 command, forged second lines, a formula."""
FAILS_EVERY = 4  # requests for tokens: the last of so many is answered with an error


def forms(secret: str) -> dict[str, str]:
    """The secret as servers and proxies write it."""
    packed = base64.b64encode(secret.encode()).decode()
    return {
        "plain": secret,
        "base64": packed,
        "base64 for addresses": base64.urlsafe_b64encode(secret.encode()).decode().rstrip("="),
        "user and password": base64.b64encode(f"user:{secret}".encode()).decode(),
        "bearer": base64.b64encode(f"Bearer {secret}".encode()).decode(),
        "percent": urllib.parse.quote(secret, safe=""),
        "percent, small": "".join(f"%{octet:02x}" for octet in secret.encode()),
        "json": json.dumps(secret)[1:-1],
        "json, all": "".join(f"\\u{ord(one):04x}" for one in secret),
        "html": html.escape(secret),
        "hex": secret.encode().hex(),
    }


def cores(secret: str) -> dict[str, str]:
    """What of each form must stand nowhere: of base64 the part that only the secret decides."""
    wholly = {name: form for name, form in forms(secret).items() if name not in ("user and password", "bearer")}
    shifted = {f"base64 at {by}": base64.b64encode(b"x" * by + secret.encode()).decode()[4:-4] for by in (1, 2)}
    return {**wholly, "base64": wholly["base64"][:-4], **shifted}


@contextmanager
def echoing(known: list[str]) -> Iterator[str]:
    """The URL of such an endpoint. `known` is what it tells: endpoints that share the list tell each other's secrets."""
    with on_loopback(_answering(known)) as url:
        yield url


def _answering(known: list[str]) -> type[BaseHTTPRequestHandler]:
    asked = [0]

    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

        def _told(self) -> str:
            return " ".join(form for secret in dict.fromkeys(known) for form in forms(secret).values())

        def do_GET(self) -> None:
            told = self._told()
            if self.path == "/v1/models":
                listed = {"id": "m", "owned_by": told + BAD, "root": told, "max_model_len": 4096, "parent": BAD}
                self._json(200, {"object": "list", "data": [listed]})
            elif self.path == "/version":
                self._json(200, {"version": f"0.1 {told} {BAD}"})
            elif self.path == "/metrics":
                label = (told + BAD).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
                # Nothing runs: whoever waits for an idle engine would wait at each block.
                told_of = {"vllm:generation_tokens_total": 1, "vllm:num_requests_running": 0, f"vllm:{'x' * 9}": 1}
                lines = [f'{name}{{model_name="{label}"}} {value}\n' for name, value in told_of.items()]
                self._send(200, "text/plain", "".join(lines).encode())
            else:
                self._json(500, {"error": {"message": told + BAD, "code": told}})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked[0] += 1
            told = self._told() + BAD
            if "messages" not in body or asked[0] == 1:
                # The first answer is a good one whatever comes later, or there would be no run.
                (self._json(404, {"detail": told}) if "messages" not in body else self._stream(told, False))
            elif asked[0] % FAILS_EVERY:
                self._stream(told, asked[0] % 7 == 0)
            else:
                # A secret that an excerpt cuts in two is found as well.
                self._json(429, {"error": {"message": "x" * (asked[0] * 7 % 200) + told, "type": told}})

        def _stream(self, told: str, breaks: bool) -> None:
            said = {"index": 0, "delta": {"content": "word "}}
            finish = {"index": 0, "delta": {}, "finish_reason": "stop"}
            events = [json.dumps({"id": told, "model": told, "choices": [said], "system_fingerprint": told})] * 4
            if breaks:
                events += [json.dumps({"error": {"message": told, "code": "overloaded"}})]
            events += [json.dumps({"id": told, "choices": [finish]}), "[DONE]"]
            self._send(200, "text/event-stream", "".join(f"data: {event}\n\n" for event in events).encode())

        def _json(self, status: int, content: Any) -> None:
            self._send(status, "application/json", json.dumps(content).encode())

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status, "told " + known[0] if known else "told")
            self.send_header("Content-Type", kind)
            for place, secret in enumerate(dict.fromkeys(known)):
                self.send_header(f"X-Told-{place}", " ".join(forms(secret).values()))
            self.send_header("Content-Length", str(len(body)))
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # a block ends, and with it what is under way
                self.end_headers()
                self.wfile.write(body)

    return Answering
