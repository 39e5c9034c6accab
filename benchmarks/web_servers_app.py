"""What every server of :mod:`benchmarks.web_servers` serves: a prepared answer by Flask, and event streams.

``plain`` is WSGI, streams included; ``adapted`` and ``bridged`` are ASGI with Flask behind a2wsgi, or behind
:mod:`apps.rest.bridge`, and answer the streams themselves.  Run under each server's own command.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

from flask import Flask, Response

PATHS = {"items": [{"path": f"p{n}", "value": n * 1.5e6, "source": "mu", "usable": True} for n in range(30)]}
PREPARED = json.dumps(PATHS)
EVENT = b'event: flow\ndata: {"flow": "f-1", "state": "active", "path": "al2s", "at": 1.0}\n\n'
EVERY_S = 0.5
LASTS_S = 60.0

plain = Flask(__name__)


@plain.get("/json")
def _prepared() -> Response:
    return Response(PREPARED, mimetype="application/json")


@plain.get("/events")
def _events() -> Response:
    def lines() -> Iterator[bytes]:
        end = time.monotonic() + LASTS_S
        while time.monotonic() < end:
            yield EVENT
            time.sleep(EVERY_S)

    return Response(lines(), mimetype="text/event-stream")


async def _stream(send: Any) -> None:
    head = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    end = time.monotonic() + LASTS_S
    while time.monotonic() < end:
        await send({"type": "http.response.body", "body": EVENT, "more_body": True})
        await asyncio.sleep(EVERY_S)
    await send({"type": "http.response.body", "body": b""})


async def adapted(scope: Any, receive: Any, send: Any) -> None:
    """Flask behind a2wsgi."""
    if scope["type"] == "http" and scope["path"] == "/events":
        await _stream(send)
    else:
        await _adapter()(scope, receive, send)


async def bridged(scope: Any, receive: Any, send: Any) -> None:
    """Flask behind our own bridge."""
    from apps.rest.bridge import environ_of, read_body, send_answer

    if scope["type"] != "http":
        return
    if scope["path"] == "/events":
        await _stream(send)
        return
    body = await read_body(scope, receive, 1_000_000)
    await send_answer(await _threads().call(environ_of(scope, body, {})), send)


_made: dict[str, Any] = {}


def _adapter() -> Any:
    if "adapter" not in _made:
        from a2wsgi import WSGIMiddleware

        _made["adapter"] = WSGIMiddleware(plain, workers=16)
    return _made["adapter"]


def _threads() -> Any:
    if "threads" not in _made:
        from apps.rest.bridge import Threads

        _made["threads"] = Threads(plain, 16, 256)
    return _made["threads"]
