"""``adon reserve``: resources of a compute site or a path, kept for oneself for some time."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from apps.cli import completing as offered
from apps.cli.arguments import FromCampus, PathName, ReservationId, SiteName, ToCampus
from apps.cli.common import (
    JsonFlag,
    QuietFlag,
    client,
    given,
    naming,
    option,
    print_json,
    print_table,
)

app = typer.Typer(help="Reservations of compute sites and paths.", no_args_is_help=True)

Begins = Annotated[
    str | None, typer.Option("--from", help="2026-11-21T02:00:00Z, or '2 h'; at once without one.")
]
Ends = Annotated[str, typer.Option("--until", help="2026-11-21T04:00:00Z, or '8 h'.")]
ForFlow = Annotated[
    str | None,
    typer.Option("--flow", help="Only for your flow, such as f-17.", autocompletion=offered.flows),
]
Note = Annotated[str, typer.Option(help="Purpose.")]


OPTIONS = {
    "compute": "SITE",
    "path": "PATH",
    "source": "FROM",
    "destination": "TO",
    "worker_nodes": "--nodes",
    "begins": "--from",
    "ends": "--until",
    **{name: f"--{name}" for name in ("cores", "gpus", "memory", "storage", "bandwidth", "flow", "note")},
}
"""The API's field -> where it comes from."""


@app.command()
def compute(
    ctx: typer.Context,
    site: SiteName,
    ends: Ends,
    begins: Begins = None,
    nodes: Annotated[int, typer.Option(min=0, help="Worker nodes.")] = 0,
    cores: Annotated[int, typer.Option(min=0)] = 0,
    gpus: Annotated[int, typer.Option(min=0)] = 0,
    memory: Annotated[str | None, typer.Option(help="As in '64 GB'.")] = None,
    storage: Annotated[str | None, typer.Option(help="As in '10 TB'.")] = None,
    flow: ForFlow = None,
    note: Note = "",
    quiet: QuietFlag = False,
    json_: JsonFlag = False,
) -> None:
    """Reserve resources of a compute site.

    A refusal gives the time from which they are free.
    """
    from adon.units import parse_size

    option(memory, parse_size, "--memory")
    option(storage, parse_size, "--storage")
    asked = {"compute": site, "worker_nodes": nodes, "cores": cores, "gpus": gpus}
    _reserve(
        ctx,
        {**asked, "memory": memory, "storage": storage},
        begins,
        ends,
        flow,
        note,
        quiet=quiet,
        json_=json_,
    )


@app.command()
def path(
    ctx: typer.Context,
    name: PathName,
    source: FromCampus,
    destination: ToCampus,
    bandwidth: Annotated[str, typer.Option(help="As in '5 Gbps'.")],
    ends: Ends,
    begins: Begins = None,
    flow: ForFlow = None,
    note: Note = "",
    quiet: QuietFlag = False,
    json_: JsonFlag = False,
) -> None:
    """Reserve bandwidth of a path in one direction."""
    from adon.units import parse_rate

    option(bandwidth, parse_rate, "--bandwidth")
    asked = {"path": name, "source": source, "destination": destination, "bandwidth": bandwidth}
    _reserve(ctx, asked, begins, ends, flow, note, quiet=quiet, json_=json_)


def _reserve(
    ctx: typer.Context,
    what: dict[str, Any],
    begins: str | None,
    ends: str,
    flow: str | None,
    note: str,
    *,
    quiet: bool,
    json_: bool,
) -> None:
    asked = {**what, "begins": begins, "ends": ends, "flow": flow, "note": note}
    with naming(OPTIONS):
        made = client(ctx).reserve(given(asked))
    if json_:
        print_json(made)
    elif quiet:
        typer.echo(made.id)
    else:
        typer.echo(f"{made.id} {made.stage}: {made.words}")


@app.command("list")
def list_(
    ctx: typer.Context,
    all_: Annotated[bool, typer.Option("--all", help="Include ended and released ones.")] = False,
    json_: JsonFlag = False,
) -> None:
    """List announced and active reservations."""
    found = client(ctx).reservations(all_=all_)
    if json_:
        print_json(found)
        return
    rows = ((one.id, one.stage, one.owner, one.words, one.note or "-") for one in found)
    print_table(("Reservation", "Stage", "Owner", "What", "Note"), rows, "nothing is reserved")


@app.command()
def show(ctx: typer.Context, reservation: ReservationId, json_: JsonFlag = False) -> None:
    """Show one reservation."""
    from apps.cli.times import span

    found = client(ctx).reservation(reservation)
    if json_:
        print_json(found)
        return
    typer.echo(f"{found.id} {found.stage}, of {found.owner}: {found.words}")
    typer.echo(span(found.begins, found.ends))
    if found.note:
        typer.echo(found.note)


@app.command()
def release(ctx: typer.Context, reservation: ReservationId, json_: JsonFlag = False) -> None:
    """Release a reservation, also an active one."""
    gone = client(ctx).release(reservation)
    if json_:
        print_json(gone)
    else:
        typer.echo(f"{gone.id} is released")


@app.command()
def free(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """List compute sites with held and free resources."""
    from adon.broker.resources.amounts import KINDS, amount_text

    found = client(ctx).resources()
    if json_:
        print_json(found)
        return

    def words(amounts: dict[str, int], nothing: str) -> str:
        told = (amount_text(kind, amounts[kind]) for kind in KINDS if kind in amounts)
        return ", ".join(told) or nothing

    rows = (
        (
            one.name,
            one.campus,
            words(one.limits, "not limited"),
            words(one.held, "-"),
            words(one.free, "not limited"),
            " ".join(one.flows) or "-",
            "; ".join([one.why, *one.overdrawn]).strip("; ") or "-",
        )
        for one in found
    )
    columns = ("Site", "Campus", "Has", "Held by flows", "Free", "Flows", "Note")
    print_table(columns, rows, "no compute site is configured")
