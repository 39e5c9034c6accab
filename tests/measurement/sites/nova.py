"""A stand-in for a cloud: Keystone and Nova as far as one project needs them, on loopback.

Its answers have the form of the OpenStack API reference (tests/data/openstack/README.md); its servers are
kept, and do what a test says.  It is not OpenStack.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "data" / "openstack"
PASSWORD = "not-a-secret-of-anybody"  # noqa: S105 - of the stand-in


def sample(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text())


class Cloud:
    """What the stand-in has.

    :ivar break_with: a status that every request to Nova is answered with from now on.
    :ivar said: a body that is answered instead of JSON.
    """

    def __init__(self) -> None:
        self.limits = sample("limits")
        self.hypervisors: dict[str, Any] | None = sample("hypervisors-statistics")
        self.flavors = sample("flavors-detail")
        self.servers: dict[str, dict[str, Any]] = {}
        self.consoles: dict[str, str] = {}
        self.asked: list[tuple[str, str]] = []
        self.made: list[dict[str, Any]] = []
        self.break_with: int | None = None
        self.said: bytes | None = None
        self.password = PASSWORD
        self.url = ""

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        self.asked.append((method, path))
        if path.startswith("/identity"):
            return self._identity(method, path, body)
        if self.break_with is not None:
            return self.break_with, {"error": {"message": f"internal words with {PASSWORD}"}}
        return self._compute(method, path.removeprefix("/compute/v2.1"), body)

    def _identity(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        if method == "GET":
            link = [{"rel": "self", "href": f"{self.url}/identity/v3/"}]
            return 200, {"version": {"id": "v3.14", "status": "stable", "links": link}}
        given = body["auth"]["identity"]["password"]["user"]["password"]
        if given != self.password:
            return 401, {"error": {"code": 401, "message": f"wrong: {given}", "title": "Unauthorized"}}
        interface = {"interface": "public", "region_id": "one", "region": "one", "id": "e"}
        endpoint = {**interface, "url": f"{self.url}/compute/v2.1"}
        catalog = [{"type": "compute", "name": "nova", "id": "c", "endpoints": [endpoint]}]
        token = {
            "methods": ["password"],
            "expires_at": "2099-01-01T00:00:00.000000Z",
            "issued_at": "2026-01-01T00:00:00.000000Z",
            "user": {"id": "u", "name": "ann", "domain": {"id": "default", "name": "Default"}},
            "project": {"id": "p", "name": "science", "domain": {"id": "default", "name": "Default"}},
            "catalog": catalog,
            "roles": [{"id": "r", "name": "member"}],
        }
        return 201, {"token": token}

    def _compute(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        match method, path.partition("?")[0].strip("/").split("/"):
            case "GET", [""]:
                links = [{"rel": "self", "href": f"{self.url}/compute/v2.1/"}]
                version = {"id": "v2.1", "status": "CURRENT", "version": "2.79", "min_version": "2.1"}
                return 200, {"version": {**version, "links": links}}
            case "GET", ["limits"]:
                return 200, self.limits
            case "GET", ["os-hypervisors", "statistics"]:
                if self.hypervisors is None:
                    return 403, {"forbidden": {"code": 403, "message": "Policy doesn't allow it."}}
                return 200, self.hypervisors
            case "GET", ["flavors", "detail"]:
                return 200, self.flavors
            case "POST", ["servers"]:
                return self._make(body["server"])
            case "GET", ["servers"] | ["servers", "detail"]:
                wanted = path.partition("name=")[2].partition("&")[0]
                return 200, {"servers": [s for s in self.servers.values() if wanted in s["name"]]}
            case method, ["servers", name, *rest]:
                return self._server(method, name, rest)
        return 404, {"itemNotFound": {"code": 404, "message": "no such thing"}}

    def _make(self, wish: dict[str, Any]) -> tuple[int, Any]:
        self.made.append(wish)
        made = sample("server-create")
        name = f"0e44cc9c-e052-415d-afbf-{len(self.made):012d}"
        made["server"]["id"] = name
        server = sample("server-get")["server"]
        self.servers[name] = {**server, "id": name, "name": wish["name"], "status": "BUILD"}
        return 202, made

    def _server(self, method: str, name: str, rest: list[str]) -> tuple[int, Any]:
        if name not in self.servers:
            return 404, {"itemNotFound": {"code": 404, "message": f"Instance {name} could not be found."}}
        if method == "DELETE":
            del self.servers[name]
            return 204, None
        if rest == ["action"]:
            return 200, {"output": self.consoles.get(name, "")}
        return 200, {"server": self.servers[name]}


@contextmanager
def running(folder: Path) -> Iterator[tuple[Cloud, Path]]:
    """The cloud, and a ``clouds.yaml`` that knows it as ``test``."""
    cloud = Cloud()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(cloud))
    cloud.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    clouds = folder / "clouds.yaml"
    auth = {
        "auth_url": f"{cloud.url}/identity/v3",
        "username": "ann",
        "password": PASSWORD,
        "project_name": "science",
    }
    domains = {"user_domain_name": "Default", "project_domain_name": "Default"}
    clouds.write_text(json.dumps({"clouds": {"test": {"auth": {**auth, **domains}, "region_name": "one"}}}))
    try:
        yield cloud, clouds
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def _handler(cloud: Cloud) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Hands every request to the cloud."""

        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            given = self.rfile.read(length)
            status, body = cloud.answer(self.command, self.path, json.loads(given) if given else None)
            compute = self.path.startswith("/compute")
            content = (
                cloud.said
                if compute and cloud.said is not None
                else b""
                if body is None
                else json.dumps(body).encode()
            )
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            if self.path.endswith("/auth/tokens"):
                self.send_header("X-Subject-Token", "a-token")
            if compute:
                self.send_header(
                    "OpenStack-API-Version", self.headers.get("OpenStack-API-Version", "compute 2.1")
                )
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = _answer  # noqa: N815 - the names that http.server asks for

        def log_message(self, *_: object) -> None:
            """Tests tell by failing."""

    return Handler
