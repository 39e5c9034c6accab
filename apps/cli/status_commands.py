"""State of ADON and its events: ``adon status``, ``metrics``, ``openapi``, ``events``, ``alarm watch``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput
from apps.cli.common import EXIT_OTHER, api_address, client, plain_json, print_json, print_json_line
from apps.cli.document_printer import FORMAT, Format, print_document, print_items
from apps.cli.value_format import format_short_time

if TYPE_CHECKING:
    from adon.api.alarms import AlarmView
    from adon.client import Client
    from adon.client.calling import Json

LONGEST_S = 300.0
"""Longest duration of one event stream; then another one is opened."""
PAUSE_S = 1.0

Seconds = Annotated[
    float | None, typer.Option("--seconds", help="Stop after this time (default: at Ctrl-C).")
]


def status(
    ctx: typer.Context,
    parts: Annotated[
        bool, typer.Option("--parts", help="Show each part with state and age; needs a token.")
    ] = False,
) -> None:
    """Report whether ADON is ready.

    Exit status 1 if it is not.  Only --parts needs a token.
    """
    from adon.client import Client

    if parts:
        _print_parts(client(ctx))
        return
    api = Client.at(api_address(ctx), None)
    alive, ready = api.alive(), api.readiness()
    if print_document({"alive": alive, "ready": ready}):
        return
    for name, state in ready.checks.items():
        typer.echo(f"{name}: {state}")


def _print_parts(api: Client) -> None:
    found = api.health()
    if not print_document(found):
        typer.echo(f"ADON is {found.state}")
        print_items(plain_json(found.parts), "name state since data_age_seconds text", "No parts.")
    if found.state == "away":
        raise typer.Exit(EXIT_OTHER)


def metrics(ctx: typer.Context) -> None:
    """Print the metrics for Prometheus."""
    text = client(ctx).metrics()
    if not print_document({"text": text}):
        typer.echo(text, nl=False)


def openapi(ctx: typer.Context) -> None:
    """Print the OpenAPI 3.1 description of the REST API."""
    from adon.client import Client

    description = Client.at(api_address(ctx), None).description()
    if not print_document(description):
        print_json(description)


def events(ctx: typer.Context, seconds: Seconds = None) -> None:
    """Print events as they occur: alarms, announcements, notices.

    With --json each event is one document on a line.
    """
    try:
        for kind, content in iterate_events(client(ctx, patient=True), seconds):
            if FORMAT.get() is Format.JSON:
                print_json_line({"kind": kind, "content": content})
            else:
                typer.echo(f"{kind}: {content.get('text', '')}")
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


def watch_alarms(ctx: typer.Context, seconds: Seconds = None) -> None:
    """Print alarms as they are raised, acknowledged and cleared.

    With --json each alarm is one document on a line.
    """
    from adon.api.alarms import AlarmView

    try:
        for kind, content in iterate_events(client(ctx, patient=True), seconds):
            if kind != "alarm":
                continue
            if FORMAT.get() is Format.JSON:
                print_json_line(content)
            else:
                typer.echo(_format_alarm(AlarmView.model_validate(content)))
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


def _format_alarm(alarm: AlarmView) -> str:
    if alarm.cleared_at is not None:
        state = "over" if alarm.bad else "better"
    elif alarm.acknowledged_by is not None:
        state = f"{alarm.severity}, acknowledged by {alarm.acknowledged_by}"
    else:
        state = alarm.severity
    return f"{format_short_time(alarm.raised_at)} {state}: {alarm.text}"


def iterate_events(api: Client, seconds: float | None) -> Iterator[tuple[str, Json]]:
    """Yield kind and content of each event, over as many streams as necessary.

    :param seconds: duration; None for no end.
    :raises InvalidInput: for a duration of 0 or less.
    """
    if seconds is not None and not seconds > 0:
        raise InvalidInput.of("--seconds", f"{seconds:g} is not above zero; expected for example 60")
    end = None if seconds is None else time.monotonic() + seconds
    last: str | None = None
    while (left := LONGEST_S if end is None else end - time.monotonic()) > 0:
        for name, kind, content in api.events(min(left, LONGEST_S), last):
            last = name
            yield kind, content
        time.sleep(PAUSE_S if end is None else min(PAUSE_S, max(0.0, end - time.monotonic())))
