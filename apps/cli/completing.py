"""What the shell offers behind Tab, asked of the API.

Whatever goes wrong, nothing is offered and nothing is told: a prompt is no place for errors.  Nothing is
kept from one Tab to the next.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from adon.client import Client

TIMEOUT_S = 1.0
"""Longest wait for an answer to the Tab key."""
OFFERED = 100

Offer = tuple[str, str]
"""What to insert, and what it is."""


def _completer(ask: Callable[[Client], Iterable[Offer]]) -> Callable[[typer.Context, str], list[Offer]]:
    """A completion in the form that Typer calls."""

    def complete(ctx: typer.Context, incomplete: str) -> list[Offer]:
        try:
            offers = ask(_client(ctx))
            return [one for one in offers if one[0].startswith(incomplete)][:OFFERED]
        except Exception:  # noqa: BLE001 - see above: silence is what a prompt wants
            return []

    return complete


def _client(ctx: typer.Context) -> Client:
    from adon.client import Client, credentials
    from adon.client.transport import HttpTransport

    # While completing, the root command has not run: what was typed is in its parameters.
    url = credentials.url(os.environ, ctx.find_root().params.get("url"))
    token = credentials.token(os.environ, url)
    ca_file = os.environ.get("ADON_CA_FILE") or None
    return Client(HttpTransport(url, token, timeout=TIMEOUT_S, ca_file=ca_file))  # asks once only


def _flows(api: Client) -> Iterable[Offer]:
    for flow in api.flows(limit=OFFERED):
        yield flow.id, f"{flow.state}, {flow.source} > {flow.destination}"


def _templates(api: Client) -> Iterable[Offer]:
    return ((one.name, one.title) for one in api.templates())


def _hosts(api: Client) -> Iterable[Offer]:
    return ((one.name, one.site) for one in api.hosts())


def _sites(api: Client) -> Iterable[Offer]:
    return ((one.name, one.state) for one in api.sites())


def _campuses(api: Client) -> Iterable[Offer]:
    ends = {end for path in api.paths() for end in (path.source, path.destination)}
    return [(name, "") for name in sorted(ends)]


def _paths(api: Client) -> Iterable[Offer]:
    return sorted({path.path: path.layer for path in api.paths()}.items())


def _alarms(api: Client) -> Iterable[Offer]:
    return ((one.id, one.text) for one in api.alarms(open_only=False, limit=str(OFFERED)))


def _jobs(api: Client) -> Iterable[Offer]:
    return ((one.id, f"{one.state}, {one.job} at {one.site}") for one in api.jobs(limit=OFFERED))


def _reservations(api: Client) -> Iterable[Offer]:
    return ((one.id, one.words) for one in api.reservations(all_=False))


def _windows(api: Client) -> Iterable[Offer]:
    return ((one.id, f"{one.scope} {one.name}") for one in api.maintenance(all_=False))


def _subscriptions(api: Client) -> Iterable[Offer]:
    return ((one.id, f"{one.channel} to {one.target}") for one in api.subscriptions())


def _backtests(api: Client) -> Iterable[Offer]:
    return ((one.id, one.state) for one in api.backtests())


def _studies(api: Client) -> Iterable[Offer]:
    return ((one.id, f"{one.kind.value}: {one.title}") for one in api.studies(limit=OFFERED))


def _switches(api: Client) -> Iterable[Offer]:
    return ((one.dpid, one.name) for one in api.topology().switches)


def _users(api: Client) -> Iterable[Offer]:
    return ((one.name, " ".join(one.roles)) for one in api.users())


def _sessions(api: Client) -> Iterable[Offer]:
    return ((one.id, f"{one.owner} {one.browser}") for one in api.sessions())


def _tokens(api: Client) -> Iterable[Offer]:
    return ((one.id, f"{one.owner} {one.label}") for one in api.tokens())


users = _completer(_users)
tokens = _completer(_tokens)
sessions = _completer(_sessions)
flows = _completer(_flows)
templates = _completer(_templates)
hosts = _completer(_hosts)
sites = _completer(_sites)
campuses = _completer(_campuses)
paths = _completer(_paths)
alarms = _completer(_alarms)
jobs = _completer(_jobs)
reservations = _completer(_reservations)
windows = _completer(_windows)
subscriptions = _completer(_subscriptions)
backtests = _completer(_backtests)
switches = _completer(_switches)
studies = _completer(_studies)
