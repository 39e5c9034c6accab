"""Calls of routes: the base of all parts of the client."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from adon import problems
from adon.api.base import ListView, View
from adon.api.route import Route
from adon.client.transport import Answer, Transport
from adon.errors import NotAuthenticated, Unavailable

Json = dict[str, Any]
V = TypeVar("V", bound=View)
L = TypeVar("L", bound=ListView)


class Caller:
    """Base of all parts of the client: requests of one actor over one transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def call(
        self,
        route: Route[V],
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        **ids: Any,
    ) -> V:
        """Call a route of :mod:`adon.api.routes`; return its answer as a document.

        Fields that this version does not know are left out: a server may be newer than its client.

        :param ids: the names in the route's path.
        :raises AdonError: what the API answers, or :class:`Unavailable` if it does not answer.
        """
        answer = self._send(route, body, query, headers, **ids)
        return route.answer.model_validate(body_of(answer, self._transport.base))

    def _send(
        self,
        route: Route[Any],
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        **ids: Any,
    ) -> Answer:
        """Send one request; return its answer, whatever its status."""
        path = route.address(**ids)
        if body is None and route.method == "POST":
            body = {}
        return self._transport.send(route.method, path, body, query, headers)

    def _json(self, route: Route[Any], body: Mapping[str, Any] | None = None, **ids: Any) -> Json:
        """Call a route; return the JSON of its answer as it came.

        :raises AdonError: as :meth:`call`.
        """
        return body_of(self._send(route, body, **ids), self._transport.base)

    def _text(self, route: Route[Any], accept: str | None = None, **ids: Any) -> str:
        """Call a route that answers text; return the text.

        :raises AdonError: as :meth:`call`.
        """
        headers = None if accept is None else {"Accept": accept}
        answer = self._send(route, headers=headers, **ids)
        if answer.status != 200:
            body_of(answer, self._transport.base)
        return answer.text

    def each(
        self, route: Route[L], query: Mapping[str, Any] | None = None, limit: int | None = None, **ids: Any
    ) -> Iterator[Any]:
        """Yield the items of a list; request its pages as they are needed.

        :param limit: at most so many; None for all.
        """
        asked, left = dict(query or {}), limit
        following = "after" if "after" in asked else route.next_parameter
        while left is None or left > 0:
            size = route.most_items if left is None else min(route.most_items, left)
            page: Any = self.call(route, query={**asked, "limit": size}, **ids)
            yield from page.items
            if left is not None:
                left -= len(page.items)
            if page.next is None or not page.items:
                return
            asked[str(following)] = page.next

    def _all(self, route: Route[L], query: Mapping[str, Any] | None = None, **ids: Any) -> list[Any]:
        """Return all items of a list."""
        return list(self.each(route, query, **ids))

    def _whole(self, route: Route[L], query: Mapping[str, Any]) -> L:
        """Return the first page of a list with the items of all pages.

        :param query: with a ``limit`` only the first page is read.
        """
        whole: Any = self.call(route, query=query)
        items, following = whole.items, whole.next
        while following is not None and query.get("limit") is None:
            more: Any = self.call(route, query={**query, "after": following})
            items, following = items + more.items, more.next
        found: L = whole.model_copy(update={"items": items, "next": following})
        return found


def idempotency_header(key: str | None) -> Mapping[str, str]:
    """Return the header with which a request is carried out once, however often it is sent.

    :param key: a key of the caller's own; a new one by default.
    """
    return {"Idempotency-Key": key or uuid.uuid4().hex}


def flag(value: bool) -> str:
    """Return a truth value as text for a query."""
    return "true" if value else "false"


def body_of(answer: Answer, base: str) -> Json:
    """Return the JSON object that the API answered.

    :raises AdonError: if the answer is a failure, or no answer of ADON.
    """
    try:
        body = answer.json()
    except ValueError:
        body = None
    if answer.status < 300 and isinstance(body, dict):
        return body
    if isinstance(body, dict) and "detail" in body:
        raise problems.from_document({**body, "status": answer.status})
    if answer.status == 401:
        raise NotAuthenticated("the token is not accepted")
    if answer.status < 400:
        raise Unavailable(f"{base} is not ADON's REST API: it answered {answer.status}")
    raise problems.from_document({"status": answer.status, "detail": f"{base} answered {answer.status}"})
