"""``adon health probe``: a round of probes among the instances of a file, kept in the folder of rounds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput
from apps.cli.common import EXIT_DIFFERS, EXIT_INTERRUPTED, option_errors
from apps.cli.document_printer import FORMAT, Format, print_document, show_object
from apps.cli.health_rounds import ROUNDS, Rounds, summarise_round
from apps.cli.probe_agents import connect_agents, parse_train, run_until_interrupted
from apps.cli.study import SubmitFlag, hand_in_round

if TYPE_CHECKING:
    import asyncio

    from adon.config.instances import Instances
    from measurement.health.history import History
    from measurement.health.record import RoundRecord
    from measurement.health.round_judgement import Judged
    from measurement.health.round_pairs import Asking
    from measurement.health.round_runner import Progress, Running
    from measurement.health.round_schedule import Limits
    from measurement.instances import Instance
    from measurement.probes.probe_types import TrainShape


def probe(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The instances file.")],
    rounds: Rounds = ROUNDS,
    towards: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only pairs with this instance: all read from it, or write to it."),
    ] = None,
    pair: Annotated[
        list[str] | None, typer.Option(metavar="FROM:TO", help="Only this pair; may be given again.")
    ] = None,
    verify: Annotated[
        int, typer.Option(min=0, help="So many pairs have their throughput found by a transfer, too.")
    ] = 0,
    exhaustive: Annotated[
        bool, typer.Option("--exhaustive", help="A ten-second transfer per pair, as the paper has it.")
    ] = False,
    changed: Annotated[
        str | None,
        typer.Option(
            metavar="AGE",
            help="Measure throughput again only if a marker fires or it is older than this ('6 h').",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Chooses the pairs to verify.")] = 1,
    duplex: Annotated[
        bool, typer.Option("--duplex", help="An instance may send a train and receive another at once.")
    ] = False,
    both_ways: Annotated[
        bool,
        typer.Option(
            "--both-ways",
            help="One of two instances is asked about both directions at once: half as many connections.",
        ),
    ] = False,
    at_once: Annotated[
        int | None,
        typer.Option(min=1, help="Orders of all instances at a time (default: as many as are free)."),
    ] = None,
    count: Annotated[int, typer.Option(min=1, max=1000, help="Light probes of each kind and size.")] = 5,
    train: Annotated[str, typer.Option(metavar="KxB", help="A train: K bursts of B packets.")] = "10x200",
    plan_only: Annotated[
        bool, typer.Option("--plan", help="Print the number of rounds without probing.")
    ] = False,
    submit: SubmitFlag = False,
) -> None:
    """Probe the instances of a file and store the round.

    Ctrl-C keeps the results so far.  Exit status: 0 if complete, 3 if results are missing, 130 after Ctrl-C.
    """
    from adon.config.instances import load_instances
    from measurement.health.history import History
    from measurement.health.round_judgement import REMEMBERED

    listed = load_instances(file)
    instances = listed.members
    asking = _build_asking(instances, towards, pair, (verify, seed), changed, exhaustive=exhaustive)
    how = _build_running(
        _build_limits(listed, duplex=duplex),
        at_once,
        count,
        parse_train(train, back=both_ways),
        both_ways=both_ways,
    )
    if plan_only:
        _print_plan(asking, how)
        return
    connect = connect_agents(listed)
    history = History(rounds)
    with option_errors("--rounds"):
        before, tolerances = history.latest(REMEMBERED), history.tolerances()
        history.make()  # before it takes minutes to find what then has no place

    async def one(stop: asyncio.Event) -> Judged:
        from measurement.health.round_pairs import health_round

        tell = _progress if FORMAT.get() is Format.TABLE else _silent
        return await health_round(
            asking, instances, connect, how, before, tolerances, stop=stop, progress=tell
        )

    judged = run_until_interrupted(one)
    file = _store_round(history, judged)
    if submit:
        hand_in_round(ctx, judged.record)
    _print_round(judged.record, file)


def _store_round(history: History, judged: Judged) -> Path:
    with option_errors("--rounds"):
        kept = history.keep(judged.record)
        if not judged.record.interrupted:
            history.keep_tolerances(judged.tolerances)
    return kept


def _print_round(record: RoundRecord, kept: Path) -> None:
    fires = sum(map(len, record.fired.values()))
    if not print_document(
        {
            "file": str(kept),
            "complete": record.complete,
            "interrupted": record.interrupted,
            "pairs": len(record.planned),
            "found": len(record.found),
            "failures": len(record.failures),
            "fired": fires,
            "seconds": record.ended - record.began,
        }
    ):
        for line in (
            *summarise_round(record),
            f"{fires} markers fired" if fires else "no marker fired",
            str(kept),
        ):
            typer.echo(line)
    if record.interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)
    if not record.complete:
        raise typer.Exit(EXIT_DIFFERS)


def _build_asking(
    instances: tuple[Instance, ...],
    centre: str | None,
    pairs: list[str] | None,
    verify: tuple[int, int],
    changed: str | None,
    *,
    exhaustive: bool,
) -> Asking:
    from adon.units import parse_duration
    from measurement.health import profiles
    from measurement.health.round_pairs import Asking

    names = [one.name for one in instances]
    if exhaustive and verify[0]:
        raise InvalidInput.of(
            "--verify", "cannot be combined with --exhaustive, which transfers between all pairs"
        )
    if centre is not None and pairs:
        raise InvalidInput.of("--pair", "cannot be combined with --towards")
    if centre is not None:
        with option_errors("--towards"):
            wanted, profile = profiles.star(centre, names), f"star of {centre}"
    elif pairs:
        with option_errors("--pair"):
            wanted, profile = profiles.choose_pairs(map(_parse_pair, pairs), names), "given pairs"
    else:
        wanted, profile = profiles.mesh(names), "mesh"
    if not wanted:
        raise InvalidInput.of("FILE", "has one instance; a round needs at least 2")
    max_age = None
    if changed is not None:
        with option_errors("--changed"):
            max_age = parse_duration(changed)
    zones = {one.name: one.zone for one in instances}
    return Asking(wanted, profile, profiles.sample(wanted, zones, *verify), exhaustive, max_age)


def _parse_pair(text: str) -> tuple[str, str]:
    source, colon, destination = text.partition(":")
    if not colon or not source or not destination:
        raise InvalidInput.of("--pair", f"{text[:40]!r} is no pair such as a:b")
    return source, destination


def _build_limits(listed: Instances, *, duplex: bool) -> Limits:
    from measurement.health.round_schedule import Limits

    return Limits(duplex, listed.between_zones, {one.name: one.zone for one in listed.members})


def _build_running(
    limits: Limits, at_once: int | None, count: int, shape: TrainShape, *, both_ways: bool
) -> Running:
    from measurement.health.orders import Probing
    from measurement.health.round_runner import Running

    probing = Probing(count, shape=shape)
    if both_ways:
        with option_errors("--count"):
            probing.sandwich_back()
    return Running(
        probing,
        limits,
        both_ways=both_ways,
        lights_at_once=at_once,
        trains_at_once=at_once,
        transfers_at_once=at_once,
    )


def _print_plan(asking: Asking, how: Running) -> None:
    from dataclasses import replace

    from measurement.health.round_duration import expected_seconds
    from measurement.health.round_schedule import least, plan

    whole = plan(asking.pairs, asking.verified, how.limits, exhaustive=asking.exhaustive)
    seconds = expected_seconds(whole, how)
    loading = replace(how.limits, duplex=False) if asking.exhaustive else how.limits
    found = {
        "profile": asking.profile,
        "pairs": len(asking.pairs),
        "train_rounds": len(whole.trains),
        "transfer_rounds": len(whole.transfers),
        "least_rounds": least(asking.pairs, loading),
        "expected_seconds": seconds,
    }
    show_object(found)


def _silent(_: Progress) -> None:
    """Standard error stays empty."""


def _progress(progress: Progress) -> None:
    """On a terminal a line that grows; elsewhere one when all of a kind are done."""
    whole = progress.done == progress.of
    failed = f", {progress.failures} failed" if progress.failures else ""
    line = f"{progress.kind}: {progress.done} of {progress.of}{failed}"
    if sys.stderr.isatty():
        typer.echo(f"\r{line}" + ("\n" if whole else ""), nl=False, err=True)
    elif whole:
        typer.echo(line, err=True)
