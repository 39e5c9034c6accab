"""``adon outcome``, and of one flow ``adon flow outcome``: what transfers that have ended left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from apps.cli.arguments import OfTemplate
from apps.cli.common import JsonFlag, client, naming, print_json, print_table

if TYPE_CHECKING:
    from adon.api.flows import OutcomeView

app = typer.Typer(help="Promised and achieved values of finished flows.", no_args_is_help=True)


@app.command("list")
def list_(
    ctx: typer.Context,
    template: OfTemplate = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Ended then or later, as in 2026-11-21T02:00:00Z.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number.")] = 50,
    json_: JsonFlag = False,
) -> None:
    """List finished flows with promised and achieved values."""
    from adon.units import format_duration, format_size
    from apps.cli.words import error, value

    with naming({"since": "--since", "template": "--template"}):
        found = client(ctx).outcomes(template, since, limit)
    if json_:
        print_json(found)
        return
    rows = (
        (
            one.flow,
            one.state,
            one.template,
            f"{one.source} > {one.destination}",
            format_size(one.transferred_bytes),
            format_duration(one.waited_seconds),
            "-" if one.duration_seconds is None else format_duration(one.duration_seconds),
            value(one.throughput_bps, "bps"),
            value(one.promised_bps, "bps"),
            "-" if one.error is None else error(one.error),
            str(one.moves),
            _kept(one),
        )
        for one in found
    )
    columns = ("Flow", "Ended", "Template", "From > to", "Moved", "Waited", "Took", "Achieved", "Promised")
    print_table((*columns, "Error", "Moves", "QSpec"), rows, "no flow has ended yet")


def _kept(outcome: OutcomeView) -> str:
    if outcome.admitted_at is None:
        return "-"
    return "kept" if outcome.kept else "broken"


def print_outcome(one: OutcomeView) -> None:
    """An outcome for people."""
    from adon.units import format_duration, format_size
    from apps.cli.times import at
    from apps.cli.words import error, value

    where = f"{one.source} > {one.destination}"
    typer.echo(f"{one.flow} {one.state} at {at(one.ended_at)}: {one.template}, {where}")
    sizes = f"{format_size(one.transferred_bytes)} of {format_size(one.requested_bytes)}"
    took = "" if one.duration_seconds is None else f" in {format_duration(one.duration_seconds)}"
    typer.echo(f"moved {sizes}{took}, after {format_duration(one.waited_seconds)} in the queue")
    if one.throughput_bps is not None:
        typer.echo(f"achieved {value(one.throughput_bps, 'bps')} ({one.measured_by})")
    if one.promised_bps is not None:
        off = "" if one.error is None else f": off by {error(one.error)}"
        typer.echo(f"promised {value(one.promised_bps, 'bps')}{off}")
    quality = ", ".join(f"{name} {format_duration(span)}" for name, span in one.quality_seconds.items())
    typer.echo(f"QSpec {_kept(one)}" + (f": {quality}" if quality else ""))
    seen = ", ".join(f"{each.metric} {value(each.value, each.unit)}" for each in one.conditions)
    if seen:
        typer.echo(f"measured at its admission ({one.decision}): {seen}")
    stays = ((stay.path, at(stay.since), at(stay.until), format_duration(stay.seconds)) for stay in one.stays)
    print_table(("Path", "Since", "Until", "Stayed"), stays, "it never had a path")
