"""``adon place tasks``: applications, machines and a snapshot in; the machine of each task out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput
from adon.placement.model import BASELINES, Method
from apps.cli.common import JsonFlag, print_json, print_table, writable, write
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
from apps.cli.study import PLACEMENT, SubmitFlag, hand_in

COMPARED = (Method.EXACT, Method.GREEDY, *BASELINES)
"""The methods of ``--compare``; the linear program is too slow to be among them by default."""


class SlurmForm(StrEnum):
    """What srun takes: its nodes, a node per task for SLURM_HOSTFILE, or the options beside that file."""

    NODELIST = "nodelist"
    HOSTFILE = "hostfile"
    OPTIONS = "options"


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from adon.placement.model import Application, DecidingLink, NoPlacement, Placement, PlacementProblem


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
    json_: JsonFlag = False,
) -> None:
    """Place tasks so that the last transfer ends soonest.

    The output states whether the placement is proven optimal, or a bound on the possible gain.
    """
    import json

    from adon.placement.model import placement_to_json

    if slurm is not None and (json_ or compare):
        raise InvalidInput.of("--slurm", "cannot be combined with --json or --compare")
    with told("--time-limit"):
        longest = seconds(limit)
    writable(output, "--output")
    problem = _problem(files, instances, measured, hose=hose)
    found, failed = _placed(
        problem, dict.fromkeys((method, *COMPARED)) if compare else [method], ways(longest, seed)
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
    elif json_:
        print_json(list(documents.values()) if compare else documents[method])
    else:
        _print(problem, found[method])
        if compare:
            _print_compared(found, failed)
            _print_advice(problem.application, found)


def _placed(
    problem: PlacementProblem,
    methods: Iterable[Method],
    place: Mapping[Method, Callable[[PlacementProblem], Placement]],
) -> tuple[dict[Method, Placement], dict[Method, NoPlacement]]:
    """What each method found, and why some found nothing."""
    from adon.placement.model import NoPlacement

    found: dict[Method, Placement] = {}
    failed: dict[Method, NoPlacement] = {}
    for method in methods:
        try:
            found[method] = place[method](problem)
        except NoPlacement as error:
            failed[method] = error
    return found, failed


def _problem(files: list[Path], instances: Path, measured: Path, *, hose: bool) -> PlacementProblem:
    from adon.config.input_files import load_application
    from adon.placement.model import PlacementProblem

    loaded = [load_application(file) for file in files]
    with told("APPLICATION", whole=True):
        application = _combined(loaded)
    machines, snapshot = network(instances, measured, hose=hose)
    with told("APPLICATION", whole=True):
        return PlacementProblem(application, machines, snapshot)


def _combined(loaded: list[Application]) -> Application:
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
    typer.echo(_outcome(found))


def _outcome(found: Placement) -> str:
    """How long it takes, why, and what is known of others."""
    from adon.units import format_duration

    if found.limit is None:
        return "no transfer crosses the network; no placement is faster"
    time = format_duration(found.completion_time_s)
    text = f"{time} until the last transfer ends; {_decides(found.limit)}"
    if found.proven:
        return f"{text}\nproven: no placement is faster"
    if found.lower_bound_s:
        return f"{text}\nnot proven; none takes less than {format_duration(found.lower_bound_s)}"
    return text


def _decides(limit: DecidingLink) -> str:
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
            "-" if one.limit is None else _decides(one.limit),
        )
        for method, one in sorted(found.items(), key=lambda item: item[1].completion_time_s)
    ]
    rows += [(method.value, "-", "-", "-", str(error)) for method, error in failed.items()]
    typer.echo("")
    print_table(("Method", "Completion time", "Of the best", "Machines", "What decides"), rows, "")


def _print_advice(application: Application, found: Mapping[Method, Placement]) -> None:
    """Whether it was worth to measure, beside placing without knowledge of the network."""
    from adon.placement.abstention import advise_placement

    blind = [found[one] for one in BASELINES if one in found]
    best = min(found.values(), key=lambda one: one.completion_time_s)
    if blind:
        told = advise_placement(application, best, blind)
        typer.echo(f"placing by measurement {'pays' if told.pays else 'does not pay'}: {told.reason}")
