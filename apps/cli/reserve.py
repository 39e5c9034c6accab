"""``adon reserve``: resources of a compute site or a path, kept for oneself for some time."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from apps.cli.common import JsonFlag, client, option, print_json, print_table

app = typer.Typer(help="Reservations of compute sites and paths.", no_args_is_help=True)

Begins = Annotated[
    str | None, typer.Option("--from", help="2026-11-21T02:00:00Z, or '2 h'; at once without one.")
]
Ends = Annotated[str, typer.Option("--until", help="2026-11-21T04:00:00Z, or '8 h'.")]
OfFlow = Annotated[str | None, typer.Option("--flow", help="For this flow of yours alone, as in f-17.")]
Note = Annotated[str, typer.Option(help="What it is for, in words.")]


@app.command()
def compute(
    ctx: typer.Context,
    site: Annotated[str, typer.Argument(help="A compute site.")],
    ends: Ends,
    begins: Begins = None,
    nodes: Annotated[int, typer.Option(min=0, help="Worker nodes.")] = 0,
    cores: Annotated[int, typer.Option(min=0)] = 0,
    gpus: Annotated[int, typer.Option(min=0)] = 0,
    memory: Annotated[str | None, typer.Option(help="As in '64 GB'.")] = None,
    storage: Annotated[str | None, typer.Option(help="As in '10 TB'.")] = None,
    flow: OfFlow = None,
    note: Note = "",
    json_: JsonFlag = False,
) -> None:
    """Keep some of a compute site; refused, with the time from which on it would fit, if it does not."""
    from adon.units import parse_size

    option(memory, parse_size, "memory")
    option(storage, parse_size, "storage")
    asked = {"compute": site, "worker_nodes": nodes, "cores": cores, "gpus": gpus}
    _reserve(ctx, {**asked, "memory": memory, "storage": storage}, begins, ends, flow, note, json_=json_)


@app.command()
def path(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="PATH", help="A path.")],
    source: Annotated[str, typer.Argument(metavar="FROM", help="The site that it leads from.")],
    destination: Annotated[str, typer.Argument(metavar="TO", help="The site that it leads to.")],
    bandwidth: Annotated[str, typer.Option(help="As in '5 Gbps'.")],
    ends: Ends,
    begins: Begins = None,
    flow: OfFlow = None,
    note: Note = "",
    json_: JsonFlag = False,
) -> None:
    """Keep bandwidth of a path, in one direction: nobody else is promised it."""
    from adon.units import parse_rate

    option(bandwidth, parse_rate, "bandwidth")
    asked = {"path": name, "source": source, "destination": destination, "bandwidth": bandwidth}
    _reserve(ctx, asked, begins, ends, flow, note, json_=json_)


def _reserve(
    ctx: typer.Context,
    what: dict[str, Any],
    begins: str | None,
    ends: str,
    flow: str | None,
    note: str,
    *,
    json_: bool,
) -> None:
    asked = {**what, "begins": begins, "ends": ends, "flow": flow, "note": note}
    made = client(ctx).reserve({name: value for name, value in asked.items() if value is not None})
    if json_:
        print_json(made)
    else:
        typer.echo(f"{made['id']} {made['stage']}: {made['words']}")


@app.command("list")
def list_(
    ctx: typer.Context,
    all_: Annotated[bool, typer.Option("--all", help="Also those that are over or released.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Reservations ahead and active; your own, unless you may see everybody's."""
    found = client(ctx).reservations(all_=all_)
    if json_:
        print_json(found)
        return
    rows = ((one["id"], one["stage"], one["owner"], one["words"], one["note"] or "-") for one in found)
    print_table(("Reservation", "Stage", "Owner", "What", "Note"), rows, "nothing is reserved")


@app.command()
def release(
    ctx: typer.Context, reservation: Annotated[str, typer.Argument(help="Its id, as in r-3.")]
) -> None:
    """Release a reservation, also in the middle of it."""
    gone = client(ctx).release(reservation)
    typer.echo(f"{gone['id']} is released")


@app.command()
def free(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """Every compute site: what it has, what flows hold of it, what is free for anybody now."""
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
            one["name"],
            one["campus"],
            words(one["limits"], "not limited"),
            words(one["held"], "-"),
            words(one["free"], "not limited"),
            " ".join(one["flows"]) or "-",
            "; ".join([one["why"], *one["overdrawn"]]).strip("; ") or "-",
        )
        for one in found
    )
    columns = ("Site", "Campus", "Has", "Held by flows", "Free", "Flows", "Note")
    print_table(columns, rows, "no compute site is configured")
