"""Route of the REST API: one operation with its address, permission, inputs and answer.

The table of all routes is :mod:`adon.api.routes`.  The web process binds a handler to each route, and its
permission check, audit log and description read the table.  The client calls a route by its value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from adon.access.policy import ANONYMOUS, Action
from adon.api.base import Ids, ListView, Query

GET, POST, PATCH, DELETE = "GET", "POST", "PATCH", "DELETE"
JSON = "application/json"
A = TypeVar("A")


class RouteKind(StrEnum):
    """Effect of a route, which decides what the audit log records."""

    READ = "read"
    ASK = "ask"
    """A POST that changes nothing, because its query is too long for an address."""
    CHANGE = "change"


class Subject(NamedTuple):
    """Object that the ids in a path name.

    :ivar kind: the name of its kind in errors.
    :ivar owned: whether the permission depends on its owner.
    """

    kind: str
    ids: type[Ids]
    owned: bool = False


@dataclass(slots=True, eq=False)
class Route(Generic[A]):
    """See the module.

    :ivar tag: group of routes in the API's description.
    :ivar name: id of the operation in the API's description.
    :ivar path: address below :data:`adon.api.base.PREFIX`, with ``{name}`` for each id.
    :ivar action: the action that :class:`adon.access.policy.Policy` checks.
    :ivar answer: a document, ``dict`` for any JSON object, or ``str`` for text of the type ``media``.
    :ivar subject: the object that the path names.
    :ivar created: the route that reads what this one creates; its address is the answer's Location.
    :ivar failures: statuses of failures in addition to those that its form entails.
    :ivar asks: whether a POST changes nothing.
    :ivar live: whether no two answers are the same, so that an answer has no entity tag.
    :ivar keyed: whether it accepts an Idempotency-Key.
    """

    tag: Tag
    method: str
    path: str
    action: Action
    answer: type[A]
    query: type[Query] | None = None
    body: type[BaseModel] | None = None
    status: int = 200
    created: Route[Any] | None = None
    failures: tuple[int, ...] = ()
    media: str = JSON
    asks: bool = False
    live: bool = False
    keyed: bool = False
    name: str = field(init=False, default="")
    subject: Subject | None = field(init=False, default=None)

    @property
    def kind(self) -> RouteKind:
        """Effect of the route."""
        if self.method == GET:
            return RouteKind.READ
        return RouteKind.ASK if self.asks else RouteKind.CHANGE

    @property
    def anonymous(self) -> bool:
        """Whether the route needs no identity."""
        return self.action in ANONYMOUS

    @property
    def conditional(self) -> bool:
        """Whether the route changes one object, which If-Match can require to be as it was read."""
        return self.method in (PATCH, DELETE) and self.subject is not None

    @property
    def next_parameter(self) -> str | None:
        """Parameter that takes the ``next`` of an answer; None where the answer is no list in pages."""
        if self.query is None or not issubclass(self.answer, ListView):
            return None
        return "before" if "before" in self.query.model_fields else "after"

    @property
    def most_items(self) -> int:
        """Largest ``limit`` of a list in pages."""
        bounds = self.query.model_fields["limit"].metadata if self.query is not None else ()
        return next(int(bound.le) for bound in bounds if hasattr(bound, "le"))

    def address(self, **ids: object) -> str:
        """Return the path with the ids filled in; each id becomes one part of the path."""
        return self.path.format(**{name: _part(str(value)) for name, value in ids.items()})


def _part(text: str) -> str:
    # Clients and proxies resolve "." and ".." in an address.
    return quote(text, safe="") if text.strip(".") else "-"


class Tag(NamedTuple):
    """Group of routes in the API's description; its methods make routes of the group."""

    name: str
    description: str

    def get(
        self, path: str, action: Action, answer: type[A], query: type[Query] | None = None, **more: Any
    ) -> Route[A]:
        """Return a route that reads."""
        return Route(self, GET, path, action, answer, query, **more)

    def post(
        self, path: str, action: Action, answer: type[A], body: type[BaseModel] | None = None, **more: Any
    ) -> Route[A]:
        """Return a route that carries out a command or answers a question."""
        return Route(self, POST, path, action, answer, None, body, **more)

    def create(
        self,
        read: Route[A],
        action: Action,
        body: type[BaseModel],
        status: int = 201,
        *,
        keyed: bool = False,
    ) -> Route[A]:
        """Return the route that creates an object, which ``read`` reads and answers in the same form.

        :param read: the route of one object; its path without the ids is the path of the new route.
        """
        path = read.path.partition("/{")[0]
        return self.post(path, action, read.answer, body, status=status, created=read, keyed=keyed)

    def patch(
        self, path: str, action: Action, answer: type[A], body: type[BaseModel], **more: Any
    ) -> Route[A]:
        """Return a route that changes an object."""
        return Route(self, PATCH, path, action, answer, None, body, **more)

    def delete(self, path: str, action: Action, answer: type[A], **more: Any) -> Route[A]:
        """Return a route that ends or deletes an object."""
        return Route(self, DELETE, path, action, answer, **more)
