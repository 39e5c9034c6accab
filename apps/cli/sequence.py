"""``adon place sequence``: applications that come one after the other, and whether to move one that runs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput
from adon.placement.model import Method
from apps.cli.common import JsonFlag, print_json, print_table
from apps.cli.placement_input import (
    HoseOption,
    InstancesOption,
    LimitOption,
    MethodOption,
    SeedOption,
    SnapshotOption,
    network,
    seconds,
    ways,
)
from apps.cli.rounds import told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adon.placement.model import Application
    from adon.placement.sequence import ApplicationRun

MOVE_COST = "10 s"


def sequence(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="APPLICATION...", help="Application files, in their order."),
    ],
    instances: InstancesOption,
    measured: SnapshotOption,
    every: Annotated[str, typer.Option(metavar="TIME", help="Time between two arrivals.")] = "0 s",
    again: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Review placements this often, and move tasks that gain."),
    ] = None,
    move_cost: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help=f"Pause of an application that moves, without the copy of its memory (default {MOVE_COST}).",
        ),
    ] = None,
    method: MethodOption = Method.EXACT,
    limit: LimitOption = "1 s",
    hose: HoseOption = False,
    seed: SeedOption = 1,
    json_: JsonFlag = False,
) -> None:
    """Place applications that arrive one after the other.

    Completion times are computed with fair shares of the links.  An application without room waits.
    """
    from adon.config.input_files import load_application
    from adon.placement.sequence import SequenceSimulation

    with told("--time-limit"):
        place = ways(seconds(limit), seed)[method]
    interval, pause = _again(again, move_cost)
    arrivals = _arrivals([load_application(file) for file in files], every)
    machines, snapshot = network(instances, measured, hose=hose)
    found = SequenceSimulation(snapshot, machines, place, interval, pause).run(arrivals)
    if json_:
        print_json([_document(one) for one in found])
    else:
        _print(found)


def _again(again: str | None, move_cost: str | None) -> tuple[float, float]:
    """Seconds between two evaluations, and of the pause of a move."""
    from adon.units import parse_duration

    if again is None:
        if move_cost is not None:
            raise InvalidInput.of("--move-cost", "requires --again")
        return math.inf, 0.0
    with told("--move-cost"):
        pause = parse_duration(move_cost or MOVE_COST)
    with told("--again"):
        return seconds(again), pause


def _arrivals(loaded: list[Application], every: str) -> list[tuple[float, Application]]:
    from adon.units import parse_duration

    names = [one.name for one in loaded]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput.of("APPLICATION", f"{twice} occurs twice; expected different names")
    with told("--every"):
        apart = parse_duration(every)
    return [(number * apart, one) for number, one in enumerate(loaded)]


def _document(ran: ApplicationRun) -> dict[str, Any]:
    return {
        "application": ran.application.name,
        "came_s": ran.arrived_at,
        "placed_s": ran.placements[0][0],
        "ended_s": ran.ended_at,
        "moves": len(ran.placements) - 1,
        "placements": [{"since_s": since, "machines": dict(where)} for since, where in ran.placements],
    }


def _print(found: list[ApplicationRun]) -> None:
    from adon.units import format_duration

    def rows() -> Iterator[tuple[str, ...]]:
        for one in found:
            for number, (since, where) in enumerate(one.placements):
                machines = ", ".join(f"{task} {machine}" for task, machine in where.items())
                what = "placed" if number == 0 else "moved"
                yield one.application.name, what, format_duration(since), machines

    print_table(("Application", "", "At", "Tasks"), rows(), "")
    for one in found:
        waited = one.placements[0][0] - one.arrived_at
        after = f", {format_duration(waited)} of them waiting for room" if waited > 0 else ""
        took = format_duration(one.ended_at - one.arrived_at)
        typer.echo(f"{one.application.name}: {took}{after}; done at {format_duration(one.ended_at)}")
