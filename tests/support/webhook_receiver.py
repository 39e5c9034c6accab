"""A receiver of webhooks that keeps the calls."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.server
from typing import Any

from tests.measurement.notify.conftest import Tls

SECRET = b"a secret of both"


class WebhookReceiver(http.server.ThreadingHTTPServer):
    """Takes calls and keeps them; answers as told."""

    def __init__(self, tls: Tls | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        if tls is not None:
            self.socket = tls.server.wrap_socket(self.socket, server_side=True)
        self.calls: list[tuple[str, dict[str, str], bytes]] = []
        self.status = 200

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that does not trust us goes away in the middle of the handshake."""


class _Handler(http.server.BaseHTTPRequestHandler):
    server: WebhookReceiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.calls.append((self.path, headers, body))
        self.send_response(self.server.status)
        self.send_header("Location", f"http://127.0.0.1:{self.server.port}/elsewhere")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


def is_signed(secret: bytes, headers: dict[str, str], body: bytes) -> bool:
    """What a receiver does."""
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    code = base64.b64encode(hmac.new(secret, text, hashlib.sha256).digest()).decode()
    return hmac.compare_digest(headers["webhook-signature"], f"v1,{code}")
