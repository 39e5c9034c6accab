"""``adon place sequence``: applications that come one after the other, and whether to move one that runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput
from adon.placement.methods import Method
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

    from adon.placement.fluid import Again, Arrival, Ran
    from adon.placement.model import Application

MOVE_COST = "10 s"


def sequence(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="APPLICATION...", help="Application files, in their order."),
    ],
    instances: InstancesOption,
    measured: SnapshotOption,
    every: Annotated[
        str, typer.Option(metavar="TIME", help="From when one comes to when the next does.")
    ] = "0 s",
    again: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Look at placements again so often, and move what gains by it."),
    ] = None,
    move_cost: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help=f"How long an application stands still to move; its tasks' memory travels, too "
            f"(default {MOVE_COST}).",
        ),
    ] = None,
    method: MethodOption = Method.EXACT,
    limit: LimitOption = "1 s",
    hose: HoseOption = False,
    seed: SeedOption = 1,
    json_: JsonFlag = False,
) -> None:
    """The machines of applications that come one after the other, each placed beside those that run.

    When each is done is reckoned: all transfers share the links fairly.  Who finds no room waits.
    """
    from adon.config.input_files import load_application
    from adon.placement.fluid import run
    from adon.placement.model import Impossible

    with told("--time-limit"):
        place = ways(seconds(limit), seed)[method]
    looks = _again(again, move_cost)
    arrivals = _arrivals([load_application(file) for file in files], every)
    machines, snapshot = network(instances, measured, hose=hose)
    try:
        ran = {one.name: one for one in run(snapshot, machines, arrivals, place, looks)}
    except Impossible as error:
        raise InvalidInput.of(error.field, error.cause) from error
    found = [ran[one.application.name] for one in arrivals]
    if json_:
        print_json([_document(one) for one in found])
    else:
        _print(found)


def _again(again: str | None, move_cost: str | None) -> Again | None:
    from adon.placement.fluid import Again
    from adon.placement.sequences import MigrationCost
    from adon.units import parse_duration

    if again is None:
        if move_cost is not None:
            raise InvalidInput.of("--move-cost", "nothing moves without --again")
        return None
    with told("--move-cost"):
        pause = parse_duration(move_cost or MOVE_COST)
    with told("--again"):
        return Again(seconds(again), MigrationCost(pause))


def _arrivals(loaded: list[Application], every: str) -> list[Arrival]:
    from adon.placement.fluid import Arrival
    from adon.units import parse_duration

    names = [one.name for one in loaded]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput.of("APPLICATION", f"{twice} is there twice: each needs a name of its own")
    with told("--every"):
        apart = parse_duration(every)
    return [Arrival(number * apart, one) for number, one in enumerate(loaded)]


def _document(ran: Ran) -> dict[str, Any]:
    return {
        "application": ran.name,
        "came_s": ran.came,
        "placed_s": ran.placed,
        "ended_s": ran.ended,
        "moves": ran.moves,
        "placements": [{"since_s": since, "machines": dict(where)} for since, where in ran.where],
    }


def _print(found: list[Ran]) -> None:
    from adon.units import format_duration

    def rows() -> Iterator[tuple[str, ...]]:
        for one in found:
            for number, (since, where) in enumerate(one.where):
                machines = ", ".join(f"{task} {machine}" for task, machine in where.items())
                what = "placed" if number == 0 else "moved"
                yield one.name, what, format_duration(since), machines

    print_table(("Application", "", "At", "Tasks"), rows(), "")
    for one in found:
        waited = one.placed - one.came
        after = f", {format_duration(waited)} of them waiting for room" if waited > 0 else ""
        typer.echo(f"{one.name}: {format_duration(one.seconds)}{after}; done at {format_duration(one.ended)}")
