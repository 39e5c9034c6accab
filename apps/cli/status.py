"""``adon status``, ``metrics``, ``events``, ``openapi``: for who watches, and for programs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput
from apps.cli.common import (
    EXIT_OTHER,
    JsonFlag,
    address,
    client,
    print_json,
    print_json_line,
    print_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adon.api.status import StatusView
    from adon.client import Client
    from adon.client.calling import Json
LONGEST_S = 300.0
"""The event stream ends after so long, and is opened again."""
AGAIN_S = 1.0

Seconds = Annotated[
    float | None, typer.Option("--seconds", help="Stop after this time (default: at Ctrl-C).")
]
JsonLines = Annotated[bool, typer.Option("--json", help="Print one JSON document per line.")]


def status(
    ctx: typer.Context,
    parts: Annotated[
        bool, typer.Option("--parts", help="Show each part with state and age; needs a token.")
    ] = False,
    json_: JsonFlag = False,
) -> None:
    """Report whether ADON is ready.

    Exit status 1 if it is not.  Only --parts needs a token.
    """
    from adon.client import Client

    if parts:
        standing = client(ctx).health()
        print_json(standing) if json_ else _print_parts(standing)
        if standing.state == "away":
            raise typer.Exit(EXIT_OTHER)
        return
    api = Client.at(address(ctx), None)
    alive, ready = api.alive(), api.readiness()
    if json_:
        print_json({"alive": alive, "ready": ready})
        return
    for name, state in ready.checks.items():
        typer.echo(f"{name}: {state}")


def _print_parts(standing: StatusView) -> None:
    from apps.cli.times import day_and_clock
    from apps.cli.words import age

    typer.echo(f"ADON is {standing.state}")
    rows = (
        (
            part.name,
            part.state,
            "-" if part.since is None else day_and_clock(part.since),
            "-" if (old := part.data_age_seconds) is None else age(old),
            part.text or "-",
        )
        for part in standing.parts
    )
    print_table(("Part", "State", "Since", "Its data", "Problem"), rows, "no part is known")


def metrics(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """Print the metrics for Prometheus."""
    text = client(ctx).metrics()
    if json_:
        print_json({"text": text})
    else:
        typer.echo(text, nl=False)


def openapi(ctx: typer.Context, json_: JsonFlag = False) -> None:  # noqa: ARG001 - it is JSON in any case
    """Print the OpenAPI 3.1 description of the REST API."""
    from adon.client import Client

    print_json(Client.at(address(ctx), None).description())


def events(ctx: typer.Context, seconds: Seconds = None, json_: JsonLines = False) -> None:
    """Print events as they occur: alarms, announcements, notices."""
    try:
        for kind, content in happening(client(ctx, patient=True), seconds):
            if json_:
                print_json_line({"kind": kind, "content": content})
            else:
                typer.echo(f"{kind}: {content.get('text', '')}")
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


def happening(api: Client, seconds: float | None) -> Iterator[tuple[str, Json]]:
    """Events by kind and content, over as many streams as it takes.

    :param seconds: stop after so long; None for never.
    :raises InvalidInput: for no time at all.
    """
    if seconds is not None and not seconds > 0:
        raise InvalidInput.of("--seconds", f"{seconds:g} is not above zero")
    end = None if seconds is None else time.monotonic() + seconds
    last: str | None = None
    while (left := LONGEST_S if end is None else end - time.monotonic()) > 0:
        for name, kind, content in api.events(min(left, LONGEST_S), last):
            last = name
            yield kind, content
        time.sleep(AGAIN_S if end is None else min(AGAIN_S, max(0.0, end - time.monotonic())))
