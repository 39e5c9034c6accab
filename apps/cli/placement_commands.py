"""``adon place``: machines of tasks, by the network between the machines; needs no server ([CHOREO])."""

from __future__ import annotations

import math
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput
from adon.placement.model import BASELINES, Method
from apps.cli.common import check_writable, option_errors, parse_limit, print_table, write
from apps.cli.document_printer import (
    FORMAT,
    CommandGroup,
    Format,
    print_document,
    print_items,
    select_items,
)
from apps.cli.network_snapshot import snapshot
from apps.cli.series_commands import bursts, predict, staleness
from apps.cli.study import PLACEMENT, SubmitFlag, hand_in
from apps.cli.traffic_profile import profile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from adon.placement.model import (
        Application,
        DecidingLink,
        Machine,
        NoPlacement,
        Placement,
        PlacementProblem,
    )
    from adon.placement.sequence import ApplicationRun
    from measurement.snapshot.model import Snapshot

app = CommandGroup("Placement of an application's tasks on machines.")
for _command in (snapshot, profile, predict, staleness, bursts):
    app.command()(_command)

MOVE_COST = "10 s"
COMPARED = (Method.EXACT, Method.GREEDY, *BASELINES)
"""The methods of ``--compare``; the linear program is too slow to be among them by default."""


class SlurmForm(StrEnum):
    """Form for srun: its nodes, a node per task for SLURM_HOSTFILE, or the options for that file."""

    NODELIST = "nodelist"
    HOSTFILE = "hostfile"
    OPTIONS = "options"


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


@app.command()
def tasks(
    ctx: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(metavar="APPLICATION...", help="Application files; several are placed at once."),
    ],
    instances: InstancesOption,
    measured: SnapshotOption,
    method: MethodOption = Method.EXACT,
    limit: LimitOption = "1 s",
    hose: HoseOption = False,
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare all methods, and the gain of measuring.")
    ] = False,
    slurm: Annotated[
        SlurmForm | None, typer.Option("--slurm", help="Print this for srun, and nothing else.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the placement here, as JSON.")
    ] = None,
    seed: SeedOption = 1,
    submit: SubmitFlag = False,
) -> None:
    """Place tasks so that the last transfer ends soonest.

    The output states whether the placement is proven optimal, or a bound on the possible gain.
    """
    import json

    from adon.placement.model import placement_to_json

    if slurm is not None and (FORMAT.get() is not Format.TABLE or compare):
        raise InvalidInput.of("--slurm", "cannot be combined with --json or --compare")
    with option_errors("--time-limit"):
        longest = parse_limit(limit)
    check_writable(output, "--output")
    problem = _read_problem(files, instances, measured, hose=hose)
    found, failed = _place_by(
        problem, dict.fromkeys((method, *COMPARED)) if compare else [method], placement_methods(longest, seed)
    )
    if method in failed:
        raise failed[method]
    documents = {one: placement_to_json(placed) for one, placed in found.items()}
    if output is not None:
        write(output, json.dumps(documents[method], indent=2) + "\n", "--output")
    for document in documents.values() if submit else ():
        hand_in(ctx, PLACEMENT, document)
    if slurm is not None:
        typer.echo(_format_slurm(found[method], slurm))
    elif not print_document(list(documents.values()) if compare else documents[method]):
        _print(problem, found[method])
        if compare:
            _print_compared(found, failed)
            _print_advice(problem.application, found)


def _place_by(
    problem: PlacementProblem,
    methods: Iterable[Method],
    place: Mapping[Method, Callable[[PlacementProblem], Placement]],
) -> tuple[dict[Method, Placement], dict[Method, NoPlacement]]:
    """Return the placement of each method, and the errors of the others."""
    from adon.placement.model import NoPlacement

    found: dict[Method, Placement] = {}
    failed: dict[Method, NoPlacement] = {}
    for method in methods:
        try:
            found[method] = place[method](problem)
        except NoPlacement as error:
            failed[method] = error
    return found, failed


def _read_problem(files: list[Path], instances: Path, measured: Path, *, hose: bool) -> PlacementProblem:
    from adon.config.input_files import load_application
    from adon.placement.model import PlacementProblem

    loaded = [load_application(file) for file in files]
    with option_errors("APPLICATION", whole=True):
        application = _combine(loaded)
    machines, snapshot = read_network(instances, measured, hose=hose)
    with option_errors("APPLICATION", whole=True):
        return PlacementProblem(application, machines, snapshot)


def _combine(loaded: list[Application]) -> Application:
    from adon.placement.model import combine_applications

    return (
        loaded[0] if len(loaded) == 1 else combine_applications(loaded, "+".join(one.name for one in loaded))
    )


def _format_slurm(placement: Placement, form: SlurmForm) -> str:
    """Return a placement for srun; machines have the names of Slurm's nodes, and the first task is rank 0."""
    ranks = list(placement.machines.values())
    return {
        SlurmForm.NODELIST: ",".join(dict.fromkeys(ranks)),
        SlurmForm.HOSTFILE: "\n".join(ranks),
        SlurmForm.OPTIONS: f"--ntasks={len(ranks)} --distribution=arbitrary",
    }[form]


def _print(problem: PlacementProblem, found: Placement) -> None:
    from adon.units import format_size

    application = problem.application
    sent = dict.fromkeys(found.machines, 0.0)
    for (one, other), count in application.sent.items():
        if found.machines[one] != found.machines[other]:
            sent[one] += count
    rows = (
        (task.name, found.machines[task.name], f"{task.cores:g}", format_size(sent[task.name]))
        for task in application.tasks
    )
    print_table(("Task", "Machine", "Cores", "Sends over the network"), rows, "")
    typer.echo(_format_outcome(found))


def _format_outcome(found: Placement) -> str:
    """Return the completion time, what decides it, and the bound on the possible gain."""
    from adon.units import format_duration

    if found.limit is None:
        return "no transfer crosses the network; no placement is faster"
    time = format_duration(found.completion_time_s)
    text = f"{time} until the last transfer ends; {_format_link(found.limit)}"
    if found.proven:
        return f"{text}\nproven: no placement is faster"
    if found.lower_bound_s:
        return f"{text}\nnot proven; none takes less than {format_duration(found.lower_bound_s)}"
    return text


def _format_link(limit: DecidingLink) -> str:
    from adon.units import format_rate, format_size

    names = sorted(" > ".join(pair) for pair in limit.pairs)
    where = {
        "path": f"the path {names[0]}",
        "hose": f"all that leaves {limit.pairs[0].source}",
        "shared": f"what {', '.join(names[:3])}{' and others' if len(names) > 3 else ''} share",
    }[limit.kind.value]
    waits = f" after {format_size(limit.waiting_bytes)} of others" if limit.waiting_bytes else ""
    return f"{where} decides: {format_size(limit.carried_bytes)}{waits} at {format_rate(limit.rate_bps)}"


def _print_compared(found: Mapping[Method, Placement], failed: Mapping[Method, NoPlacement]) -> None:
    from adon.units import format_duration

    best = min(one.completion_time_s for one in found.values())
    rows = [
        (
            method.value,
            format_duration(one.completion_time_s),
            f"{one.completion_time_s / best:.2f}" if best else "-",
            str(len({*one.machines.values()})),
            "-" if one.limit is None else _format_link(one.limit),
        )
        for method, one in sorted(found.items(), key=lambda item: item[1].completion_time_s)
    ]
    rows += [(method.value, "-", "-", "-", str(error)) for method, error in failed.items()]
    typer.echo("")
    print_table(("Method", "Completion time", "Of the best", "Machines", "What decides"), rows, "")


def _print_advice(application: Application, found: Mapping[Method, Placement]) -> None:
    """Print whether measuring pays, compared with placing without knowledge of the network."""
    from adon.placement.abstention import advise_placement

    blind = [found[one] for one in BASELINES if one in found]
    best = min(found.values(), key=lambda one: one.completion_time_s)
    if blind:
        advice = advise_placement(application, best, blind)
        typer.echo(f"placing by measurement {'pays' if advice.pays else 'does not pay'}: {advice.reason}")


# -- a sequence of applications ------------------------------------------------------------------------


@app.command()
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
) -> None:
    """Place applications that arrive one after the other.

    Completion times are computed with fair shares of the links.  An application without room waits.
    """
    from adon.config.input_files import load_application
    from adon.placement.sequence import SequenceSimulation

    with option_errors("--time-limit"):
        place = placement_methods(parse_limit(limit), seed)[method]
    interval, pause = _parse_review(again, move_cost)
    arrivals = _schedule_arrivals([load_application(file) for file in files], every)
    machines, snapshot = read_network(instances, measured, hose=hose)
    found = SequenceSimulation(snapshot, machines, place, interval, pause).run(arrivals)
    documents = [_document(one) for one in found]
    if not print_document(documents):
        print_items(documents, "application came_s placed_s ended_s moves", "")
        placements = select_items({"items": documents}, "items.placements")
        print_items(placements, "application since_s machines", "")


def _parse_review(again: str | None, move_cost: str | None) -> tuple[float, float]:
    """Return the seconds between two reviews, and of the pause of a move."""
    from adon.units import parse_duration

    if again is None:
        if move_cost is not None:
            raise InvalidInput.of("--move-cost", "requires --again")
        return math.inf, 0.0
    with option_errors("--move-cost"):
        pause = parse_duration(move_cost or MOVE_COST)
    with option_errors("--again"):
        return parse_limit(again), pause


def _schedule_arrivals(loaded: list[Application], every: str) -> list[tuple[float, Application]]:
    from adon.units import parse_duration

    names = [one.name for one in loaded]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput.of("APPLICATION", f"{twice} occurs twice; expected different names")
    with option_errors("--every"):
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


# -- machines, network, methods ------------------------------------------------------------------------


def read_network(instances: Path, measured: Path, *, hose: bool) -> tuple[tuple[Machine, ...], Snapshot]:
    """Return the usable machines and the snapshot of the paths between them; report what is unknown.

    :raises InvalidInput: if a file is not valid, or the two have no instance in common.
    """
    from adon.config.instances import load_instances
    from adon.placement.completion import assume_hoses
    from adon.placement.model import Machine
    from measurement.document import loads
    from measurement.snapshot.model import Snapshot

    with option_errors("--instances", whole=True):
        machines = tuple(Machine.of(one) for one in load_instances(instances).members)
    with option_errors("--snapshot", whole=True):
        snapshot = loads(Snapshot, measured.read_bytes())
    return _select_measured(machines, snapshot), assume_hoses(snapshot) if hose else snapshot


def _select_measured(machines: tuple[Machine, ...], snapshot: Snapshot) -> tuple[Machine, ...]:
    """Return the machines that the snapshot knows; report the others."""
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


def placement_methods(limit: float, seed: int) -> Mapping[Method, Callable[[PlacementProblem], Placement]]:
    """Return the function of each method.

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
