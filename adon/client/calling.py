"""What the areas of the client share: asking, reading an answer, going through pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

from adon import problems
from adon.api.base import View
from adon.client.transport import Answer, Transport
from adon.errors import NotAuthenticated, Unavailable

Json = dict[str, Any]
V = TypeVar("V", bound=View)

PAGE = 500
"""Items of one page, where a list has no other bound."""


class Caller:
    """Base of all areas: requests of one actor over one transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _get(self, kind: type[V], path: str, query: Mapping[str, Any] | None = None) -> V:
        """The answer to a question; ``kind`` is the document that the API describes it as."""
        return self._call(kind, "GET", path, query=query)

    def _post(self, kind: type[V], path: str, body: Mapping[str, Any], key: str | None = None) -> V:
        """The answer to a command; with a key, repeating it does nothing twice."""
        headers = None if key is None else {"Idempotency-Key": key}
        return self._call(kind, "POST", path, body=body, headers=headers)

    def _delete(self, kind: type[V], path: str, headers: Mapping[str, str] | None = None) -> V:
        """The answer to ending something."""
        return self._call(kind, "DELETE", path, headers=headers)

    def _call(
        self,
        kind: type[V],
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> V:
        """Send one request; return its answer as a document.

        Fields that this version does not know are left out: a server may be newer than its client.

        :raises AdonError: what the API answered with, or :class:`Unavailable` if nothing of it answers.
        """
        return kind.model_validate(self._json(method, path, body, query, headers))

    def _json(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        """Send one request; return its answer as it came.

        :raises AdonError: as :meth:`_call`.
        """
        answer = self._transport.send(method, path, body, query, headers)
        return body_of(answer, self._transport.base)

    def _items(self, kind: type[V], path: str, query: Mapping[str, Any] | None = None) -> list[V]:
        """A list that comes whole."""
        return [kind.model_validate(one) for one in self._json("GET", path, query=query)["items"]]

    def _pages(
        self,
        kind: type[V],
        path: str,
        query: Mapping[str, Any],
        limit: int | None,
        following: str = "before",
        page: int = PAGE,
    ) -> Iterator[V]:
        """The items of a list that comes in pages, asked for as they are wanted.

        :param limit: at most so many; None for all.
        :param following: the parameter that takes an answer's ``next``.
        :param page: items to ask for at once, at most.
        """
        asked, left = dict(query), limit
        while left is None or left > 0:
            size = page if left is None else min(page, left)
            found = self._json("GET", path, query={**asked, "limit": size})
            yield from map(kind.model_validate, found["items"])
            if left is not None:
                left -= len(found["items"])
            if found["next"] is None or not found["items"]:
                return
            asked[following] = found["next"]

    def _whole(self, kind: type[V], path: str, query: Mapping[str, Any]) -> V:
        """A list that tells more than its items: its first page, with the items of all that follow.

        :param query: with a ``limit`` it is the first page alone.
        """
        whole = self._json("GET", path, query=query)
        while whole["next"] is not None and query.get("limit") is None:
            more = self._json("GET", path, query={**query, "after": whole["next"]})
            whole["items"] += more["items"]
            whole["next"] = more["next"]
        return kind.model_validate(whole)

    def _text(self, path: str, query: Mapping[str, Any] | None = None, accept: str | None = None) -> str:
        """What is no JSON.

        :raises AdonError: as every call.
        """
        headers = None if accept is None else {"Accept": accept}
        answer = self._transport.send("GET", path, query=query, headers=headers)
        if answer.status != 200:
            body_of(answer, self._transport.base)
        return answer.text


def part(text: str) -> str:
    """A name as one part of an address."""
    # "." and ".." would be taken out of the address by whoever normalises it.
    return quote(text, safe="") if text.strip(".") else "-"


def flag(value: bool) -> str:
    """A truth value as it stands in a query."""
    return "true" if value else "false"


def body_of(answer: Answer, base: str) -> Json:
    """The JSON object that the API answered with.

    :raises AdonError: if that was a failure, or nothing of ours.
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
