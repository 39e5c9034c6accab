"""``adon evaluate run``: a document carried out, or gone on with."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import Conflict, InvalidInput
from apps.cli.common import EXIT_DIFFERS, JsonFlag, print_json, write
from apps.cli.study import EVALUATION, SubmitFlag, hand_in

if TYPE_CHECKING:
    from adon.evaluations.reading import DocumentFile
    from apps.evaluation.agents import AgentBench
    from apps.evaluation.logfile import LogFile
    from apps.evaluation.programs import Bench
    from measurement.evaluation.blueprint import Blueprint
    from measurement.evaluation.run import Run, Sample

EXIT_STOPPED = 130
LAST_PORT = 65_535


def run(
    ctx: typer.Context,
    document: Annotated[
        str,
        typer.Argument(metavar="DOCUMENT", help="A document file, or the name of one of adon evaluate list."),
    ],
    instances: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The machines (an instances file, docs/health-and-probes.md)."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="The run's folder.")] = None,
    place: Annotated[
        list[str] | None,
        typer.Option("--place", metavar="PLACE=INSTANCE", help="Machine of a place; default: its name."),
    ] = None,
    reach: Annotated[
        str, typer.Option(metavar="COMMAND", help="Runs a command on a machine: 'ssh ubuntu@{address}'.")
    ] = "",
    here: Annotated[
        list[str] | None, typer.Option("--here", metavar="PLACE", help="A place that is this machine.")
    ] = None,
    port: Annotated[int, typer.Option(min=1024, max=65_000, help="The first port that tests use.")] = 5201,
    pilot: Annotated[bool, typer.Option("--pilot", help="The design's few short runs only.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and its duration.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the interrupted run in --out.")] = False,
    submit: SubmitFlag = False,
    json_: JsonFlag = False,
) -> None:
    """Run an evaluation and store each result on disk at once.

    Ctrl-C waits for running tests and stops; --resume continues.
    Exit status 3 if tests failed, 130 after Ctrl-C.
    """
    from apps.cli.evaluation_files import document_of
    from apps.cli.evaluation_told import plan_json, plan_lines
    from measurement.evaluation.blueprint import blueprint

    text, found = document_of(document)
    design = found.value().design
    plan = blueprint(design, pilot=pilot)
    if dry_run:
        print_json(plan_json(design, plan)) if json_ else typer.echo("\n".join(plan_lines(design, plan)))
        return
    if instances is None or out is None:
        raise InvalidInput.of("--instances" if instances is None else "--out", "is required")
    bench = _bench(found, plan, instances, _pairs(place or []), reach, here or [], port)
    if resume:
        _resume(out, found, plan, bench, quiet=json_)
    else:
        _start(out, text, found, plan, bench, quiet=json_)
    done = _finished(out, text, found)
    if submit:
        from measurement.model import to_json

        hand_in(ctx, EVALUATION, to_json(done))
    _tell(out, found, done, json_=json_)


def _pairs(given: list[str]) -> dict[str, str]:
    found = {}
    for pair in given:
        place, _, instance = pair.partition("=")
        if not (place and instance):
            raise InvalidInput.of("--place", f"{pair!r} is not PLACE=INSTANCE")
        if place in found:
            raise InvalidInput.of("--place", f"{place!r} is there twice")
        found[place] = instance
    return found


def _bench(
    found: DocumentFile,
    plan: Blueprint,
    instances: Path,
    named: dict[str, str],
    reach: str,
    here: list[str],
    port: int,
) -> Bench | AgentBench:
    from adon.config.instances import load_instances
    from apps.evaluation.agents import AgentBench
    from apps.evaluation.places import places
    from apps.evaluation.programs import Bench
    from measurement.probes.secure_channel import read_key

    value = found.value()
    listed = load_instances(instances)
    where = places(value.design, listed.members, named, reach, here)
    probe, measure = value.implementation.probe, value.implementation.measure
    if measure is not None:
        last = port + plan.widest - 1
        if last > LAST_PORT:
            raise InvalidInput.of("--port", f"{plan.widest} tests at once would need ports up to {last}")
        return Bench(measure, where, plan.duration, port)
    if probe is None or listed.key_file is None:
        raise InvalidInput.of("--instances", f"{instances} names no key_file, which probe agents ask for")
    try:
        return AgentBench(probe, where, read_key(listed.key_file), plan.duration)
    except (OSError, ValueError) as error:
        raise InvalidInput.of("key_file", error) from error


def _start(
    out: Path, text: str, found: DocumentFile, plan: Blueprint, bench: Bench | AgentBench, *, quiet: bool
) -> None:
    from apps.evaluation import logfile, surroundings
    from measurement.evaluation.planned import planned

    value = found.value()
    logfile.refuse_taken(out)
    asked = {} if value.implementation.measure is None else bench.places
    surrounding = surroundings.environment(asked)
    versions = surroundings.versions(asked, value.implementation.versions)
    run = planned(value, found.digest(), plan, out.resolve().name, time.time(), surrounding, versions)
    with logfile.started(out, text, run) as log:
        _carry_out(log, run, plan, bench, (), quiet=quiet)


def _resume(
    out: Path, found: DocumentFile, plan: Blueprint, bench: Bench | AgentBench, *, quiet: bool
) -> None:
    from adon.units import format_count
    from apps.evaluation import logfile

    with logfile.resumed(out) as log:
        run = logfile.read(out)
        if run.document.digest != found.digest() or run.pilot != plan.pilot:
            raise Conflict(
                "--resume", f"the run in {out} is of another document, or a pilot and this is none"
            )
        done = {sample.number for sample in run.samples}
        log.note(time.time(), f"resumed after {format_count(len(done), 'test')}")
        _carry_out(log, run, plan, bench, done, quiet=quiet)


def _carry_out(
    log: LogFile, run: Run, plan: Blueprint, bench: Bench | AgentBench, done: Collection[int], *, quiet: bool
) -> None:
    from apps.evaluation.running import carry_out, stopping

    stop = threading.Event()
    told = _Progress(plan, run.unit, len(done), quiet=quiet)

    def record(sample: Sample) -> None:
        log.sample(sample)
        told.sample(sample)

    with stopping(stop, told.stopping):
        finished = carry_out(plan, bench.make, record, done, stop)
    if finished:
        log.end(time.time())
    else:
        log.note(time.time(), "stopped")


class _Progress:
    """A line for each test, on standard error: what is done is the log's to say."""

    def __init__(self, plan: Blueprint, unit: str, done: int, *, quiet: bool) -> None:
        self._plan = plan
        self._unit = unit
        self._done = done
        self._quiet = quiet

    def sample(self, sample: Sample) -> None:
        """Tell what came of a test."""
        from adon.units import format_duration
        from measurement.evaluation.wording import name, quantity

        self._done += 1
        if self._quiet:
            return
        left = self._plan.lasts * (1 - self._done / self._plan.tests)
        came = f"failed: {sample.failure}" if sample.value is None else quantity(sample.value, self._unit)
        place = f"{self._done} of {self._plan.tests}, {format_duration(round(left))} left"
        typer.echo(f"{place}: {name(sample.path)}: {came}", err=True)

    def stopping(self) -> None:
        """Tell that it was understood."""
        from adon.units import format_duration

        span = format_duration(self._plan.duration)
        typer.echo(f"stopping after the running tests (at most about {span})", err=True)


def _finished(out: Path, text: str, found: DocumentFile) -> Run:
    """Write what is made of the log."""
    from apps.evaluation import logfile
    from apps.evaluation.report import page
    from apps.evaluation.source import Source
    from measurement.model import to_json

    run = logfile.read(out)
    write(out / logfile.RUN, json.dumps(to_json(run), indent=1, ensure_ascii=False) + "\n", "--out")
    write(out / logfile.REPORT, page(Source(found.value(), text, found.digest()), run), "--out")
    return run


def _tell(out: Path, found: DocumentFile, run: Run, *, json_: bool) -> None:
    from apps.cli.evaluation_told import findings
    from apps.evaluation import logfile

    failed = sum(run.failures().values())
    if json_:
        print_json(
            {"folder": str(out), "complete": run.complete, "tests": len(run.samples), "failed": failed}
        )
    else:
        typer.echo("\n".join(findings(found.value(), run)))
        typer.echo(f"{out / logfile.REPORT}: written")
    if not run.complete:
        raise typer.Exit(EXIT_STOPPED)
    if failed:
        raise typer.Exit(EXIT_DIFFERS)
