"""Call of a route for a command: request, pages of a list, output."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import typer

from adon import yamlfile
from adon.api import routes
from adon.api.route import Route
from adon.client.calling import flag, idempotency_header
from adon.units import parse_size
from apps.cli.common import client, find_id, naming, parse_option, plain_json
from apps.cli.document_printer import Item, print_document, print_items, print_object, select_items
from apps.cli.rest_command import SIZES, RestCommand
from apps.cli.value_format import format_cell, parse_past

if TYPE_CHECKING:
    from adon.client import Client

PAST = {"since", "until"}
"""Fields that also take a span before now."""
KEYED = {routes.SUBMIT_JOB, routes.ADD_RESERVATION}
"""Routes that take an idempotency key."""
LONG_IDS: Mapping[str, Route[Any]] = {"alarm": routes.LIST_ALARMS, "subscription": routes.LIST_SUBSCRIPTIONS}
"""Kinds of objects whose ids can be shortened, with the routes that list them."""


def run_rest_command(row: RestCommand, ctx: typer.Context, values: dict[str, Any]) -> None:
    """Call the route of a command and print the answer.

    :param values: values by field, of the request and of the path, and ``quiet``.
    """
    api, quiet = client(ctx), values.pop("quiet", False)
    ids = {name: _find_id(api, row.kind, values.pop(name)) for name in row.ids}
    labels = {_sent_name(row, name): row.label(name).partition("/")[0] for name in row.request_fields}
    with naming({**labels, **{name: row.label(name) for name in row.ids}}):
        answer = call_route(row, api, _request(row, values), ids)
    if quiet:
        typer.echo(answer["id"])
    else:
        print_answer(row, answer)


def _find_id(api: Client, kind: str, given: Any) -> Any:
    if kind not in LONG_IDS:
        return given
    return find_id((one.id for one in api.each(LONG_IDS[kind])), given, kind)


def _sent_name(row: RestCommand, name: str) -> str:
    return row.request_fields[name].alias or name


def _request(row: RestCommand, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request with the values that are given.

    :raises InvalidInput: for a time or a size that cannot be parsed.
    """
    now = datetime.now(UTC)
    sent: dict[str, Any] = {}
    for name, value in values.items():
        if value is None:
            continue
        if name in PAST:
            value = parse_past(value, now, row.label(name))
        elif name in SIZES:
            value = parse_option(value, parse_size, row.label(name))
        sent[_sent_name(row, name)] = value
    return sent


def call_route(row: RestCommand, api: Client, sent: Mapping[str, Any], ids: Mapping[str, Any]) -> Any:
    """Return the answer as JSON values; of a list in pages ``limit`` items, or all.

    :raises InvalidInput: for a request that its model refuses.
    """
    route, request = row.route, dict(sent)
    pages = route.next_parameter is not None
    if pages and "limit" in sent:
        request["limit"] = min(sent["limit"], route.most_items)
    if row.request is not None:
        yamlfile.check_model(request, row.request)
    if route.body is not None:
        headers = idempotency_header(None) if route in KEYED else None
        return plain_json(api.call(route, body=request, headers=headers, **ids))
    query = {name: flag(value) if isinstance(value, bool) else value for name, value in request.items()}
    if pages:
        return _call_pages(row, api, query, ids, sent.get("limit"))
    return plain_json(api.call(route, query=query, **ids))


def _call_pages(
    row: RestCommand, api: Client, query: dict[str, Any], ids: Mapping[str, Any], limit: int | None
) -> Any:
    """Return the first page of a list with the items of all pages, at most ``limit``."""
    answer = plain_json(api.call(row.route, query=query, **ids))
    items, following, cursor = answer["items"], answer["next"], str(row.route.next_parameter)
    while following is not None and (limit is None or len(items) < limit):
        page = plain_json(api.call(row.route, query={**query, cursor: following}, **ids))
        items, following = items + page["items"], page["next"]
    return {**answer, "items": items if limit is None else items[:limit], "next": following}


def print_answer(row: RestCommand, answer: Item) -> None:
    """Print an answer: for programs the list of ``columns`` or all of it, for people as the row says."""
    if print_document(answer[row.items] if row.columns else answer):
        return
    if row.line:
        typer.echo(row.line.format_map({name: format_cell(name, value) for name, value in answer.items()}))
        return
    if row.columns:
        print_items(select_items(answer, row.items), row.columns, row.empty)
    for number, (place, columns) in enumerate(row.tables.items()):
        found = select_items(answer, place)
        if found and (number or row.columns):
            typer.echo("")
        print_items(found, columns, row.empty if number == 0 else "")
    if not row.columns and not row.tables:
        print_object(answer)
