"""Names that the shell offers after Tab, from the API.

After a failure nothing is offered and nothing is printed, because a prompt is no place for errors.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import typer

from adon.api import routes
from adon.api.route import Route

if TYPE_CHECKING:
    from adon.client import Client

TIMEOUT_S = 1.0
"""Longest wait for an answer to the Tab key."""
OFFERED = 100
"""Largest number of names that are offered."""
LISTS: Mapping[str, tuple[Route[Any], str, str]] = {
    "alarm": (routes.LIST_ALARMS, "id", "text"),
    "backtest": (routes.LIST_BACKTESTS, "id", "state"),
    "compute site": (routes.LIST_SITES, "name", "state"),
    "decision": (routes.LIST_FLOWS, "id", "state"),
    "flow": (routes.LIST_FLOWS, "id", "state"),
    "host": (routes.LIST_HOSTS, "name", "site"),
    "job": (routes.LIST_JOBS, "id", "state"),
    "maintenance": (routes.LIST_WINDOWS, "id", "name"),
    "path": (routes.LIST_PATHS, "path", "layer"),
    "campus": (routes.LIST_PATHS, "source", ""),
    "reservation": (routes.LIST_RESERVATIONS, "id", "words"),
    "session": (routes.LIST_SESSIONS, "id", "browser"),
    "study": (routes.LIST_STUDIES, "id", "title"),
    "subscription": (routes.LIST_SUBSCRIPTIONS, "id", "target"),
    "template": (routes.LIST_TEMPLATES, "name", "title"),
    "token": (routes.LIST_TOKENS, "id", "label"),
    "user": (routes.LIST_USERS, "name", "display"),
}
"""Route that lists the objects of a kind, and the fields with their name and description."""
KINDS: Mapping[str, str] = {
    "compute": "compute site",
    "destination": "campus",
    "owner": "user",
    "requester": "user",
    "site": "compute site",
    "source": "campus",
}
"""Kind of the object that a field names, if its name is another."""

Completion = Callable[[typer.Context, str], list[tuple[str, str]]]


def complete(field: str) -> Completion | None:
    """Return the completion of a field or of a kind of objects, in the form that Typer calls."""
    kind = KINDS.get(field, field)
    if kind not in LISTS:
        return None
    route, name, description = LISTS[kind]

    def offer(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
        try:
            items = list(_client(ctx).each(route, limit=OFFERED))
        except Exception:  # noqa: BLE001 - see the module
            return []
        return _offers(items, name, description, incomplete)

    return offer


def _offers(items: Iterable[Any], name: str, description: str, incomplete: str) -> list[tuple[str, str]]:
    found = {getattr(one, name): str(getattr(one, description, "") or "") for one in items}
    return [(key, text) for key, text in found.items() if key.startswith(incomplete)]


def _client(ctx: typer.Context) -> Client:
    from adon.client import Client, credentials
    from adon.client.transport import HttpTransport

    # During completion the root command has not run: its parameters have the options.
    url = credentials.url(os.environ, ctx.find_root().params.get("url"))
    token = credentials.token(os.environ, url)
    ca_file = os.environ.get("ADON_CA_FILE") or None
    return Client(HttpTransport(url, token, timeout=TIMEOUT_S, ca_file=ca_file))  # sends each request once
