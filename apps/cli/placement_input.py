"""What ``adon place tasks`` and ``sequence`` share: options, the network between machines, and methods."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput
from adon.placement.model import Method
from apps.cli.rounds import told

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adon.placement.model import Machine, Placement, PlacementProblem
    from measurement.snapshot.model import Snapshot

MOST_S = 86_400.0

InstancesOption = Annotated[
    Path, typer.Option("--instances", metavar="FILE", help="The instances file, with cores and memory.")
]
SnapshotOption = Annotated[
    Path, typer.Option("--snapshot", metavar="FILE", help="What adon place snapshot wrote.")
]
MethodOption = Annotated[Method, typer.Option("--method", help="Method.")]
LimitOption = Annotated[
    str, typer.Option("--time-limit", metavar="TIME", help="Time limit of the exact search.")
]
HoseOption = Annotated[
    bool, typer.Option("--hose", help="Where no hose was measured, the fastest path out is taken for it.")
]
SeedOption = Annotated[int, typer.Option(help="Seed of random choices.")]


def seconds(text: str) -> float:
    """A time as an option has it.

    :raises ValueError: if it is none, 0, or above a day.
    """
    from adon.units import parse_duration

    found = parse_duration(text)
    if not 0 < found <= MOST_S:
        raise ValueError(f"{text[:40]} is not above 0 and at most a day")
    return found


def network(instances: Path, measured: Path, *, hose: bool) -> tuple[tuple[Machine, ...], Snapshot]:
    """The machines that can be used, and what is known of the paths between them; what is not is told.

    :raises InvalidInput: if a file is not valid, or the two have no instance in common.
    """
    from adon.config.instances import load_instances
    from adon.placement.completion import assume_hoses
    from adon.placement.model import Machine
    from measurement.document import loads
    from measurement.snapshot.model import Snapshot

    with told("--instances", whole=True):
        machines = tuple(Machine.of(one) for one in load_instances(instances).members)
    with told("--snapshot", whole=True):
        snapshot = loads(Snapshot, measured.read_bytes())
    return _measured(machines, snapshot), assume_hoses(snapshot) if hose else snapshot


def _measured(machines: tuple[Machine, ...], snapshot: Snapshot) -> tuple[Machine, ...]:
    """The machines that the snapshot knows; the others are told."""
    known = tuple(one for one in machines if one.name in snapshot.instances)
    if not known:
        raise InvalidInput.of("--snapshot", "knows none of the instances")
    if missing := [one.name for one in machines if one not in known]:
        typer.echo(f"not in the snapshot, thus not used: {', '.join(missing)}", err=True)
    names = {one.name for one in known}
    possible = len(names) * (len(names) - 1)
    found = sum(1 for pair, rate in snapshot.rates.items() if {*pair} <= names and rate > 0)
    if found < possible:
        typer.echo(f"{possible - found} of {possible} paths are unknown and not used", err=True)
    return known


def ways(limit: float, seed: int) -> Mapping[Method, Callable[[PlacementProblem], Placement]]:
    """How each method places.

    :param limit: seconds after which the exact search and the linear program's solver stop.
    """
    from adon.placement import baselines
    from adon.placement.exact_search import place_exactly
    from adon.placement.greedy import place_greedily

    def search(problem: PlacementProblem) -> Placement:
        ends = time.monotonic() + limit
        return place_exactly(problem, lambda: time.monotonic() >= ends)

    def solve(problem: PlacementProblem) -> Placement:
        from adon.placement.linear_program import place_by_linear_program

        return place_by_linear_program(problem, limit)

    return {
        Method.EXACT: search,
        Method.GREEDY: place_greedily,
        Method.LINEAR_PROGRAM: solve,
        Method.RANDOM: lambda problem: baselines.place_randomly(problem, seed),
        Method.ROUND_ROBIN: baselines.place_round_robin,
        Method.MINIMUM_MACHINES: baselines.place_on_minimum_machines,
    }
