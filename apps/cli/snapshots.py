"""``adon place snapshot`` and ``staleness``: the network between instances, and how soon it is another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from apps.cli.common import EXIT_DIFFERS, JsonFlag, print_json, print_table, writable, write
from apps.cli.probing import EXIT_INTERRUPTED, connecting, shape, until_interrupted
from apps.cli.rounds import told
from apps.cli.series_files import archived
from apps.cli.study import SNAPSHOT, SubmitFlag, hand_in

if TYPE_CHECKING:
    import asyncio

    from measurement.snapshot.staleness import Curve
    from measurement.snapshot.wanted import Taken

MOST_ROWS = 40


def snapshot(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="INSTANCES", help="The instances file.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the snapshot here, as JSON.")
    ] = None,
    train: Annotated[str, typer.Option(metavar="KxB", help="A train: K bursts of B packets.")] = "10x200",
    width: Annotated[
        int, typer.Option(help="Paths of a trial of what is shared, at least 2; 0 to try nothing.")
    ] = 2,
    transfer: Annotated[str, typer.Option(metavar="TIME", help="Duration of each transfer.")] = "2 s",
    crossing: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="PATHS",
            help="Look for others' traffic on so many paths, each one's fastest first.",
        ),
    ] = 0,
    at_once: Annotated[
        int | None,
        typer.Option(min=1, help="Trains, and transfers, at a time (default: as many as do not meet)."),
    ] = None,
    submit: SubmitFlag = False,
    json_: JsonFlag = False,
) -> None:
    """Measure rates, distances and shared links between instances.

    Ctrl-C keeps the results so far.  Exit status: 0 if complete, 3 if results are missing, 130 after Ctrl-C.
    """
    from adon.config.instances import load_instances
    from measurement.document import dumps
    from measurement.model import to_json
    from measurement.snapshot.taking import take
    from measurement.snapshot.wanted import Taking

    listed = load_instances(file)
    with told("--transfer"):
        interval = _seconds(transfer) / Taking().intervals
    with told("--width"):
        how = Taking(
            shape(train),
            interval=interval,
            width=width,
            crossing=crossing,
            trains_at_once=at_once,
            transfers_at_once=at_once,
        )
    connect = connecting(listed)
    writable(output, "--output")
    progress = _silent if json_ or not sys.stderr.isatty() else _progress

    async def one(stop: asyncio.Event) -> Taken:
        return await take(listed.members, connect, how, stop=stop, progress=progress)

    taken = until_interrupted(one)
    if output is not None:
        write(output, dumps(taken.snapshot), "--output")
    if json_:
        print_json(to_json(taken.snapshot))
    else:
        _print(taken)
    if submit:  # last: where that fails, nothing is lost
        hand_in(ctx, SNAPSHOT, to_json(taken.snapshot))
    if taken.stopped:
        raise typer.Exit(EXIT_INTERRUPTED)
    if not taken.snapshot.whole:
        raise typer.Exit(EXIT_DIFFERS)


def _silent(*_: object) -> None:
    """Standard error stays empty."""


def _progress(what: str, done: int, of: int) -> None:
    typer.echo(f"\r{what}: {done} of {of}{chr(10) if done == of else ''}", nl=False, err=True)


def _seconds(text: str) -> float:
    from adon.units import parse_duration

    seconds = parse_duration(text)
    if not 0.1 <= seconds <= 100:
        raise ValueError(f"{text[:40]} is not between 0.1 s and 100 s")
    return seconds


def _print(taken: Taken) -> None:
    from adon.units import format_duration, format_rate

    found = taken.snapshot
    pairs = sorted(found.rates, key=lambda pair: (found.rates[pair], pair))
    rows = (
        (
            *pair,
            format_rate(found.rates[pair]),
            found.how[pair],
            format_duration(found.rtts[pair]) if pair in found.rtts else "-",
            str(found.hops.get(pair, "-")),
        )
        for pair in pairs[:MOST_ROWS]
    )
    print_table(("From", "To", "Rate", "By", "Round trip", "Hops"), rows, "no path could be measured")
    if len(pairs) > MOST_ROWS:
        typer.echo(f"{len(pairs) - MOST_ROWS} faster paths are not shown: --json")
    for rack in found.racks:
        typer.echo(f"close together: {', '.join(sorted(rack))}")
    for name, rate in sorted(found.hoses.items()):
        model = "hose model" if name in taken.constant else "shared on its way out"
        typer.echo(f"out of {name}: {format_rate(rate)} together ({model})")
    for each in found.bottlenecks:
        sources = ", ".join(sorted({pair.source for pair in each.pairs}))
        typer.echo(f"out of {sources}: {format_rate(each.rate)} together, over one link")
    for fault in taken.faults:
        typer.echo(f"{' - '.join(fault.instances)}: {fault.why}", err=True)
    for pair, why in sorted(found.missing.items()):
        typer.echo(f"{pair.source} > {pair.destination}: {why}", err=True)
    for pair, others in sorted(found.crossing.items()):
        typer.echo(f"{pair.source} > {pair.destination}: cross traffic equals {others:.2g} connections")
    for pair, why in sorted(taken.uncrossed.items()):
        typer.echo(f"{pair.source} > {pair.destination}: cross traffic: {why}", err=True)
    if taken.failed:
        typer.echo(
            f"{taken.failed} of {taken.trials} trials of what is shared had too little to compare", err=True
        )


def staleness(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A CSV file of the archive: adon archive export.")
    ],
    metric: Annotated[str, typer.Option(help="throughput, rtt, or another.")] = "throughput",
    error: Annotated[str, typer.Option(help="Permitted error of an old value.")] = "10 %",
    share: Annotated[str, typer.Option(help="Share of values within the error.")] = "95 %",
    json_: JsonFlag = False,
) -> None:
    """Estimate the error of old values and a max_age for templates.

    Exit status 3 if no age is good enough.
    """
    from adon.units import format_duration, parse_ratio
    from measurement.snapshot.staleness import curves, max_age

    with told("--error"):
        accepted = parse_ratio(error)
    with told("--share"):
        of = parse_ratio(share)
        if not 0 < of <= 1:
            raise ValueError(f"{share[:40]} is not above 0 and at most 100 %")
    with told("FILE"):
        found = curves(archived(file, metric).values())
    greatest = max_age(found, accepted, of)
    if json_:
        print_json({"ages": [_document(each, of) for each in found], "max_age": greatest})
    else:
        rows = (
            (format_duration(each.age), str(len(each.errors)), *(f"{one:.2%}" for one in _figures(each, of)))
            for each in found
        )
        columns = ("Age", "Values", "Median error", "Mean", f"{of:.0%} below")
        print_table(columns, rows, f"no series of {metric} is long enough")
        if greatest is not None:
            typer.echo(
                f"max_age: {format_duration(greatest)} keeps {of:.0%} of the values within {accepted:.1%}"
            )
        elif found:
            typer.echo(f"no age keeps {of:.0%} of the values within {accepted:.1%}")
    if greatest is None:
        raise typer.Exit(EXIT_DIFFERS)


def _figures(curve: Curve, share: float) -> tuple[float, float, float]:
    return curve.quantile(0.5), curve.mean, curve.quantile(share)


def _document(curve: Curve, share: float) -> dict[str, Any]:
    median, mean, most = _figures(curve, share)
    return {"age": curve.age, "values": len(curve.errors), "median": median, "mean": mean, "quantile": most}
