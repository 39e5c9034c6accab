"""An ADON that answers, one that has died behind its owner's socket, and none."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from mininet_topos.standing import answering
from mininet_topos.standing.asked import Standing


def standing(url: str | None) -> Standing:
    return Standing("a", Path("/run/a"), 1, "mu_osu", 100, "host-user", "", "", url, 0.0, 0.0)


class Web(BaseHTTPRequestHandler):
    """The web side, as far as it is asked here."""

    def do_GET(self) -> None:
        there = self.path == "/api/v1/healthz"
        self.send_response(200 if there else 404)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"status": "ok"}')

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def web() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Web)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_who_answers(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as died, closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        silent, gone = (f"http://127.0.0.1:{one.getsockname()[1]}" for one in (died, free))
        assert answering.answering([standing(web), standing(None)]) == [True, None]
        monkeypatch.setattr(answering, "PATIENCE", 0.2)
        assert answering.answering([standing(silent), standing(gone)]) == [False, False]
    assert answering.answering([]) == []
