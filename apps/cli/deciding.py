"""``adon decision list``: what was decided about all flows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from apps.cli import completing as offered
from apps.cli.arguments import OfFlow, OfTemplate
from apps.cli.common import JsonFlag, client, naming, print_json, print_table
from apps.cli.values import Since, Until, moment

FIELDS = ("flow", "template", "outcome", "path", "site", "since", "until")
QUERY = {name: f"--{name}" for name in FIELDS}


def list_(
    ctx: typer.Context,
    flow: OfFlow = None,
    template: OfTemplate = None,
    outcome: Annotated[
        str | None, typer.Option(help="admit, queue, reject, move, stay, expire or end.")
    ] = None,
    path: Annotated[
        str | None, typer.Option(help="Only those that chose this path.", autocompletion=offered.paths)
    ] = None,
    site: Annotated[
        str | None, typer.Option(help="Only those that chose this site.", autocompletion=offered.sites)
    ] = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000_000, help="Maximum number.")] = 50,
    json_: JsonFlag = False,
) -> None:
    """List decisions about all flows, the newest first."""
    from apps.cli.times import day_and_clock

    now = datetime.now(UTC)
    asked = {"flow": flow, "template": template, "outcome": outcome, "path": path, "site": site}
    asked |= {"since": moment(since, now, "--since"), "until": moment(until, now, "--until")}
    with naming(QUERY):
        found = list(client(ctx).each_decision(limit, **asked))
    if json_:
        print_json(found)
        return
    rows = (
        (
            one.id,
            day_and_clock(one.at),
            one.flow,
            one.outcome,
            one.path or "-",
            one.reason,
        )
        for one in found
    )
    print_table(("Decision", "At", "Flow", "Outcome", "Path", "Why"), rows, "nothing was decided")
