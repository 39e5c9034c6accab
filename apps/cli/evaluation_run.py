"""``adon evaluate run``: run a template, or resume an interrupted run."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import Conflict, InvalidInput, problems_of
from apps.cli.common import EXIT_DIFFERS, JsonFlag, print_json, write
from apps.cli.study import EVALUATION, SubmitFlag, hand_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adon.evaluation_file import EvaluationFile
    from measurement.ceem.blueprint import Blueprint
    from measurement.ceem.run import EvaluationRun, Sample
    from measurement.ceem.run_log import RunLog
    from measurement.ceem.runner import Bench, Place

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
    from apps.cli.evaluation_files import find_template, log_errors
    from apps.cli.evaluation_text import blueprint_lines, blueprint_to_json
    from measurement.ceem.blueprint import draw_blueprint

    text, template = find_template(document)
    blueprint = draw_blueprint(template.design, pilot=pilot)
    if dry_run and json_:
        print_json(blueprint_to_json(template.design, blueprint))
    elif dry_run:
        typer.echo("\n".join(blueprint_lines(template.design, blueprint)))
    if dry_run:
        return
    if instances is None or out is None:
        raise InvalidInput.of("--instances" if instances is None else "--out", "is required")
    places, key_file = _find_places(template, instances, _parse_pairs(place or []), reach, here or [])
    bench = _make_bench(template, blueprint, places, key_file, port)
    with log_errors(out):
        if resume:
            _resume(out, template, blueprint, bench, quiet=json_)
        else:
            _start(out, text, template, blueprint, bench, places, quiet=json_)
    _finish(ctx, out, text, template, submit=submit, json_=json_)


def _parse_pairs(words: list[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for word in words:
        place, _, instance = word.partition("=")
        if not (place and instance):
            raise InvalidInput.of("--place", f"{word!r} is not PLACE=INSTANCE")
        if place in pairs:
            raise InvalidInput.of("--place", f"{place!r} is named twice; name it once")
        pairs[place] = instance
    return pairs


def _find_places(
    template: EvaluationFile, instances: Path, named: dict[str, str], reach: str, here: list[str]
) -> tuple[Mapping[str, Place], Path | None]:
    """Return the places of the design, and the key file of their probe agents."""
    from adon.config.instances import load_instances
    from measurement.ceem.runner import find_places

    listed = load_instances(instances)
    if template.implementation.probe is not None and listed.key_file is None:
        cause = f"{instances} has no key_file, which probe agents need"
        raise InvalidInput.of("--instances", cause)
    try:
        return find_places(template.design, listed.members, named, reach, here), listed.key_file
    except ValueError as error:
        raise InvalidInput(problems_of(error)) from error


def _make_bench(
    template: EvaluationFile,
    blueprint: Blueprint,
    places: Mapping[str, Place],
    key_file: Path | None,
    port: int,
) -> Bench:
    from measurement.ceem.agent_bench import AgentBench
    from measurement.ceem.program_bench import ProgramBench
    from measurement.probes.secure_channel import read_key

    programs, agents = template.implementation.measure, template.implementation.probe
    if agents is not None and key_file is not None:
        try:
            return AgentBench(agents, places, read_key(key_file), blueprint.duration)
        except (OSError, ValueError) as error:
            raise InvalidInput.of("key_file", error) from error
    assert programs is not None  # noqa: S101 - a template has one of both
    last = port + blueprint.concurrency - 1
    if last > LAST_PORT:
        cause = f"{blueprint.concurrency} concurrent tests need ports up to {last}; choose a lower port"
        raise InvalidInput.of("--port", cause)
    return ProgramBench(programs, places, blueprint.duration, port)


def _start(
    out: Path,
    text: str,
    template: EvaluationFile,
    blueprint: Blueprint,
    bench: Bench,
    places: Mapping[str, Place],
    *,
    quiet: bool,
) -> None:
    from adon.code_version import code_version
    from measurement.ceem.blueprint import plan_run
    from measurement.ceem.program_bench import ask_places, describe_environment
    from measurement.ceem.run_log import check_unused, create_log

    check_unused(out)
    reachable = places if template.implementation.measure is not None else {}
    versions = {"adon": code_version()}
    for command in template.implementation.versions:
        versions |= ask_places(reachable, command, " ".join(command))
    environment = describe_environment(reachable)
    planned = plan_run(template, blueprint, out.resolve().name, time.time(), environment, versions)
    with create_log(out, text, planned) as log:
        _run_tests(log, planned, blueprint, bench, quiet=quiet)


def _resume(out: Path, template: EvaluationFile, blueprint: Blueprint, bench: Bench, *, quiet: bool) -> None:
    from adon.units import format_count
    from apps.cli.evaluation_files import read_run_folder
    from measurement.ceem.run import Note
    from measurement.ceem.run_log import resume_log

    with resume_log(out) as log:
        known = read_run_folder(out)
        if (known.document.digest, known.pilot) != (template.digest(), blueprint.pilot):
            raise Conflict("--resume", f"the run in {out} has another document, or only one is a pilot")
        log.write("note", Note(time.time(), f"resumed after {format_count(len(known.samples), 'test')}"))
        _run_tests(log, known, blueprint, bench, quiet=quiet)


def _run_tests(log: RunLog, known: EvaluationRun, blueprint: Blueprint, bench: Bench, *, quiet: bool) -> None:
    from measurement.ceem.run import Note
    from measurement.ceem.runner import run_blueprint, stop_on_signals

    done = {sample.number for sample in known.samples}
    stop = threading.Event()
    progress = _Progress(blueprint, known.unit, len(done), quiet=quiet)

    def record(sample: Sample) -> None:
        log.write("sample", sample)
        progress.report_sample(sample)

    with stop_on_signals(stop, progress.report_stop):
        is_complete = run_blueprint(blueprint, bench, record, done, stop)
    if is_complete:
        log.write("ended", Note(time.time(), ""))
    else:
        log.write("note", Note(time.time(), "stopped"))


class _Progress:
    """A line per test on standard error."""

    def __init__(self, blueprint: Blueprint, unit: str, done: int, *, quiet: bool) -> None:
        self._blueprint = blueprint
        self._unit = unit
        self._done = done
        self._quiet = quiet

    def report_sample(self, sample: Sample) -> None:
        """Print the result of a test."""
        from adon.units import format_duration
        from measurement.ceem.answers import format_value

        self._done += 1
        if self._quiet:
            return
        size = self._blueprint.size
        left = format_duration(round(self._blueprint.total_seconds * (1 - self._done / size)))
        result = f"failed: {sample.failure}"
        if sample.value is not None:
            result = format_value(sample.value, self._unit)
        typer.echo(f"{self._done} of {size}, {left} left: {sample.path}: {result}", err=True)

    def report_stop(self) -> None:
        """Print that the run stops."""
        from adon.units import format_duration

        longest = format_duration(self._blueprint.duration)
        typer.echo(f"stopping after the running tests (at most about {longest})", err=True)


def _finish(
    ctx: typer.Context, out: Path, text: str, template: EvaluationFile, *, submit: bool, json_: bool
) -> None:
    """Write the run and its report, and print the results."""
    from apps.cli.evaluation_files import read_run_folder
    from apps.cli.evaluation_text import result_lines
    from apps.figures.evaluation_report import render_report
    from measurement.ceem.run_log import REPORT_FILE, RUN_FILE
    from measurement.model import to_json

    done = read_run_folder(out)
    write(out / RUN_FILE, json.dumps(to_json(done), indent=1, ensure_ascii=False) + "\n", "--out")
    write(out / REPORT_FILE, render_report(template, text, done), "--out")
    if submit:
        hand_in(ctx, EVALUATION, to_json(done))
    failed = sum(done.failures_by_path().values())
    if json_:
        counts = {"complete": done.is_complete, "tests": len(done.samples), "failed": failed}
        print_json({"folder": str(out), **counts})
    else:
        typer.echo("\n".join([*result_lines(template, done), f"{out / REPORT_FILE}: written"]))
    if not done.is_complete:
        raise typer.Exit(EXIT_STOPPED)
    if failed:
        raise typer.Exit(EXIT_DIFFERS)
