"""``adon place snapshot`` and ``staleness``: the network between instances, and how soon it is another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apps.cli.common import EXIT_DIFFERS, EXIT_INTERRUPTED, check_writable, option_errors, print_table, write
from apps.cli.document_printer import FORMAT, Format, print_document
from apps.cli.probe_agents import connect_agents, parse_train, run_until_interrupted
from apps.cli.study import SNAPSHOT, SubmitFlag, hand_in

if TYPE_CHECKING:
    import asyncio

    from measurement.snapshot.snapshot_options import SnapshotResult

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
) -> None:
    """Measure rates, distances and shared links between instances.

    Ctrl-C keeps the results so far.  Exit status: 0 if complete, 3 if results are missing, 130 after Ctrl-C.
    """
    from adon.config.instances import load_instances
    from measurement.document import dumps
    from measurement.model import to_json
    from measurement.snapshot.snapshot_options import SnapshotOptions
    from measurement.snapshot.snapshot_runner import take_snapshot

    listed = load_instances(file)
    with option_errors("--transfer"):
        interval = _seconds(transfer) / SnapshotOptions().intervals
    with option_errors("--width"):
        how = SnapshotOptions(
            parse_train(train),
            interval=interval,
            width=width,
            crossing=crossing,
            trains_at_once=at_once,
            transfers_at_once=at_once,
        )
    connect = connect_agents(listed)
    check_writable(output, "--output")
    has_progress = FORMAT.get() is Format.TABLE and sys.stderr.isatty()
    progress = _progress if has_progress else _silent

    async def one(stop: asyncio.Event) -> SnapshotResult:
        return await take_snapshot(listed.members, connect, how, stop=stop, progress=progress)

    taken = run_until_interrupted(one)
    if output is not None:
        write(output, dumps(taken.snapshot), "--output")
    if not print_document(to_json(taken.snapshot)):
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


def _print(taken: SnapshotResult) -> None:
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
