"""A Globus on loopback: tokens, submission ids, tasks; as documented at docs.globus.org/api/transfer.

It moves nothing by itself: a test says how a task goes.
"""

from __future__ import annotations

import base64
import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

CLIENT, SECRET, REFRESH = str(uuid.UUID(int=7)), "the application's secret", "a refresh token"
TRANSFER_SCOPE = "urn:globus:auth:scope:transfer.api.globus.org:all"
Answer = tuple[int, dict[str, Any]]


class StandIn(ThreadingHTTPServer):
    """See the module.

    :ivar tasks: task documents by id; ``submitted`` the transfer documents they came of.
    :ivar lost: so many answers to submissions are lost on their way, after the task was made.
    :ivar fails: statuses and codes that the next requests to the Transfer service get.
    :ivar tokens: those that are good; ``scopes`` what was asked for, ``grants`` how.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lock = threading.RLock()
        self.tasks: dict[str, dict[str, Any]] = {}
        self.submitted: dict[str, dict[str, Any]] = {}
        self.ids: dict[str, str | None] = {}
        self.tokens: set[str] = set()
        self.scopes: list[str] = []
        self.grants: list[str] = []
        self.lost = 0
        self.fails: list[tuple[int, str]] = []
        self.expires_in = 172_800

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def task(self, job: object, **changes: Any) -> dict[str, Any]:
        """A task's document, after it was changed."""
        with self.lock:
            self.tasks[str(job)].update(changes)
            return dict(self.tasks[str(job)])

    def token(self, form: dict[str, list[str]], authorization: str) -> Answer:
        grant = form.get("grant_type", [""])[0]
        basic = "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        known = {
            "client_credentials": authorization == basic,
            "refresh_token": form.get("refresh_token") == [REFRESH] and form.get("client_id") == [CLIENT],
        }
        if not known.get(grant, False):
            return 401, {"error": "invalid_client", "error_description": "wrong client or secret"}
        token = uuid.uuid4().hex
        self.tokens.add(token)
        self.grants.append(grant)
        self.scopes.append(form.get("scope", [TRANSFER_SCOPE])[0])
        again = {"refresh_token": REFRESH} if grant == "refresh_token" else {}
        return 200, again | {
            "access_token": token,
            "expires_in": self.expires_in,
            "resource_server": "transfer.api.globus.org",
            "scope": TRANSFER_SCOPE,
            "token_type": "Bearer",
            "other_tokens": [],
        }

    def transfer(self, document: dict[str, Any]) -> Answer:
        submission = document.get("submission_id")
        if document.get("DATA_TYPE") != "transfer" or submission not in self.ids:
            return problem(400, "ClientError.BadRequest", "no submission_id of ours")
        items = document.get("DATA") or []
        if not items:
            return problem(400, "ClientError.BadRequest.NoTransferItems", "A transfer requires an item")
        known = self.ids[submission]
        if known is None:
            known = str(uuid.uuid4())
            self.ids[submission] = known
            self.submitted[known] = document
            self.tasks[known] = task_document(known, document)
            code = "Accepted"
        else:
            code = "Duplicate"
        return 202, {
            "DATA_TYPE": "transfer_result",
            "code": code,
            "message": "The transfer has been accepted and a task has been created",
            "submission_id": submission,
            "task_id": known,
            "request_id": "x",
            "resource": "/v0.10/transfer",
        }

    def cancel(self, job: str) -> Answer:
        task = self.tasks[job]
        code = "TaskComplete"
        if task["status"] in ("ACTIVE", "INACTIVE"):
            code = "Canceled"
            fatal = {"code": "CANCELED", "description": "canceled"}
            task.update(status="FAILED", fatal_error=fatal, is_ok=None)
        return 200, {"DATA_TYPE": "result", "code": code, "message": "", "resource": f"/task/{job}/cancel"}


def problem(status: int, code: str, message: str) -> Answer:
    return status, {"code": code, "message": message, "request_id": "x", "resource": "/v0.10"}


def task_document(job: str, submitted: dict[str, Any]) -> dict[str, Any]:
    return {
        "DATA_TYPE": "task",
        "task_id": job,
        "type": "TRANSFER",
        "status": "ACTIVE",
        "label": submitted.get("label"),
        "source_endpoint_id": submitted["source_endpoint"],
        "destination_endpoint_id": submitted["destination_endpoint"],
        "bytes_transferred": 0,
        "files": 0,
        "files_transferred": 0,
        "files_skipped": 0,
        "fatal_error": None,
        "is_ok": True,
        "is_paused": False,
        "nice_status": "OK",
        "nice_status_short_description": "OK",
        "effective_bytes_per_second": 0,
        "sync_level": submitted.get("sync_level"),
    }


class _Handler(BaseHTTPRequestHandler):
    server: StandIn
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer("GET", b"")

    def do_POST(self) -> None:
        self._answer("POST", self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def _answer(self, method: str, body: bytes) -> None:
        path = urlsplit(self.path).path
        with self.server.lock:
            status, document = self._found(method, path, body)
            if path == "/v0.10/transfer" and status == 202 and self.server.lost:
                self.server.lost -= 1
                self.close_connection = True
                self.connection.close()
                return
        text = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _found(self, method: str, path: str, body: bytes) -> Answer:
        here = self.server
        authorization = self.headers.get("Authorization") or ""
        if (method, path) == ("POST", "/v2/oauth2/token"):
            return here.token(parse_qs(body.decode()), authorization)
        if authorization.removeprefix("Bearer ") not in here.tokens:
            return problem(401, "AuthenticationFailed", "Token is not active")
        if here.fails:
            status, code = here.fails.pop(0)
            return problem(status, code, f"{code} says the stand-in")
        match method, path.split("/")[2:]:
            case "GET", ["submission_id"]:
                found = str(uuid.uuid4())
                here.ids[found] = None
                return 200, {"DATA_TYPE": "submission_id", "value": found}
            case "POST", ["transfer"]:
                return here.transfer(json.loads(body))
            case "GET", ["task", job] if job in here.tasks:
                return 200, here.tasks[job]
            case "POST", ["task", job, "cancel"] if job in here.tasks:
                return here.cancel(job)
            case _:
                return problem(404, "ClientError.NotFound", f"{path} not found")


@contextmanager
def running() -> Iterator[StandIn]:
    """Serve from a thread until the end of the block."""
    server = StandIn()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
