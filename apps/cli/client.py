"""A small client of the REST API (docs/rest-api.md).

Answers are the API's JSON objects; failures are raised as the exceptions they began as
(:mod:`apps.problems`).  The token goes into the Authorization header and nowhere else: redirects are not
followed, and neither ``.netrc`` nor a proxy from the environment is asked.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import requests

from adon.errors import NotAuthenticated, Unavailable
from apps import problems

TIMEOUT = 30.0
"""Seconds to wait for an answer; the web process itself waits 10 for the controller."""

Json = dict[str, Any]


class Client:
    """The API at one address, as one actor."""

    def __init__(self, url: str, token: str | None) -> None:
        self._base = url.rstrip("/") + "/api/v1"
        self._session = requests.Session()
        self._session.trust_env = False
        if token is not None:
            self._session.headers["Authorization"] = f"Bearer {token}"

    def submit(self, request: Mapping[str, Any]) -> Json:
        """Ask for a transfer; returns at once with the flow it became."""
        return self._call("POST", "/flows", body=request, headers={"Idempotency-Key": uuid.uuid4().hex})

    def flow(self, flow: str) -> Json:
        """One flow."""
        return self._call("GET", f"/flows/{_part(flow)}")

    def flows(self, state: str | None = None, requester: str | None = None, limit: int = 50) -> list[Json]:
        """The newest flows, at most ``limit``."""
        found: list[Json] = []
        before: str | None = None
        while len(found) < limit:
            query = {"state": state, "requester": requester, "before": before}
            page = self._call("GET", "/flows", query={**query, "limit": min(500, limit - len(found))})
            found += page["items"]
            before = page["next"]
            if before is None:
                break
        return found

    def history(self, flow: str) -> list[Json]:
        """The steps of a flow's life."""
        return self._items(f"/flows/{_part(flow)}/history")

    def cancel(self, flow: str) -> Json:
        """Cancel a flow; the flow as it is then."""
        return self._call("DELETE", f"/flows/{_part(flow)}")

    def report(self, flow: str, status: str, size: int, detail: str = "") -> Json:
        """Tell how a flow's transfer stands."""
        body = {"status": status, "bytes": size, "detail": detail}
        return self._call("POST", f"/flows/{_part(flow)}/reports", body=body)

    def decision(self, decision: str) -> Json:
        """One decision."""
        return self._call("GET", f"/decisions/{_part(decision)}")

    def decisions(self, flow: str) -> list[Json]:
        """All decisions about a flow, the oldest first."""
        return self._items(f"/flows/{_part(flow)}/decisions")

    def templates(self) -> list[Json]:
        """The latest version of every template, in short."""
        return self._items("/templates")

    def template(self, name: str, version: str | None = None) -> Json:
        """One template version, the latest if none is named."""
        tail = "" if version is None else f"/versions/{_part(version)}"
        return self._call("GET", f"/templates/{_part(name)}{tail}")

    def add_template(self, template: Mapping[str, Any]) -> Json:
        """Save a template; without a version of its own, as the next one."""
        return self._call("POST", "/templates", body=template)

    def paths(self) -> list[Json]:
        """Every directed path with its latest values."""
        return self._items("/paths")

    def measurements(self, **query: str) -> list[Json]:
        """Measurements, the newest first; the query's names are the API's."""
        return self._items("/measurements", query)

    def ready(self) -> bool:
        """Whether all of ADON that this address needs answers."""
        try:
            self._call("GET", "/readyz")
        except Unavailable:
            return False
        return True

    def rules(self, flow: str | None = None, dpid: str | None = None) -> list[Json]:
        """The rules that should be in the switches."""
        return self._items("/rules", {"flow": flow, "dpid": dpid})

    def rules_diff(self) -> list[Json]:
        """Per switch how its rules differ from what should be."""
        return self._items("/rules/diff")

    def rules_sync(self) -> list[str]:
        """Have every connected switch compared and repaired now; which they are."""
        switches: list[str] = self._call("POST", "/rules/sync", body={})["switches"]
        return switches

    def _items(self, path: str, query: Mapping[str, Any] | None = None) -> list[Json]:
        items: list[Json] = self._call("GET", path, query=query)["items"]
        return items

    def _call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        """One request.

        :raises AdonError: what the API answered with, or :class:`Unavailable` if nothing of it answers.
        """
        try:
            answer = self._session.request(
                method,
                self._base + path,
                json=body,
                params=query,
                headers=headers,
                timeout=TIMEOUT,
                allow_redirects=False,
            )
        except requests.ConnectionError as error:
            raise Unavailable(f"nothing answers at {self._base}; is 'adon serve' running?") from error
        except requests.RequestException as error:
            raise Unavailable(f"{self._base}: {_cause(error)}") from error
        return _body(answer, self._base)


def _part(text: str) -> str:
    # "." and ".." would be taken out of the address by whoever normalises it.
    return quote(text, safe="") if text.strip(".") else "-"


def _cause(error: requests.RequestException) -> str:
    return "does not answer in time" if isinstance(error, requests.Timeout) else type(error).__name__


def _body(answer: requests.Response, base: str) -> Json:
    try:
        body = answer.json()
    except ValueError:
        body = None
    if answer.status_code < 300 and isinstance(body, dict):
        return body
    if isinstance(body, dict) and "detail" in body:
        raise problems.from_document({**body, "status": answer.status_code})
    if answer.status_code == 401:
        raise NotAuthenticated("the token is not accepted")
    if answer.status_code < 400:
        raise Unavailable(f"{base} is not ADON's REST API: it answered {answer.status_code}")
    raise problems.of_status(answer.status_code, f"{base} answered {answer.status_code}")


def changes(
    fetch: Callable[[], Json], pause: Callable[[], object], key: Callable[[Json], object]
) -> Iterator[Json]:
    """A flow each time it has changed, until it is final; ``pause`` is called between two looks."""
    last: object = None
    while True:
        flow = fetch()
        if (now := key(flow)) != last:
            last = now
            yield flow
        if flow["final"]:
            return
        pause()
