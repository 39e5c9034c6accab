"""``adon evaluate run``: run a template, or resume an interrupted run."""

from __future__ import annotations

import itertools
import json
import threading
import time
from dataclasses import dataclass, field
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
    from measurement.model import to_json

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
    session = _Session(out, text, template, blueprint, bench, quiet=json_)
    with log_errors(out):
        if resume:
            session.resume()
        else:
            session.start({} if template.implementation.measure is None else places)
    run = session.write_results()
    if submit:
        hand_in(ctx, EVALUATION, to_json(run))
    _print_results(out, template, run, json_=json_)


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


def _print_results(out: Path, template: EvaluationFile, run: EvaluationRun, *, json_: bool) -> None:
    """Print the results, and exit with the status of the run."""
    from apps.cli.evaluation_text import result_lines
    from measurement.ceem.run_log import REPORT_FILE

    failed = sum(run.failures_by_path().values())
    if json_:
        counts = {"complete": run.is_complete, "tests": len(run.samples), "failed": failed}
        print_json({"folder": str(out), **counts})
    else:
        typer.echo("\n".join([*result_lines(template, run), f"{out / REPORT_FILE}: written"]))
    if not run.is_complete:
        raise typer.Exit(EXIT_STOPPED)
    if failed:
        raise typer.Exit(EXIT_DIFFERS)


@dataclass
class _Session:
    """Run of a blueprint in a folder."""

    out: Path
    text: str
    template: EvaluationFile
    blueprint: Blueprint
    bench: Bench
    quiet: bool
    stop: threading.Event = field(default_factory=threading.Event)

    def start(self, reachable: Mapping[str, Place]) -> None:
        """Run all tests.

        :param reachable: places whose environment and versions are recorded.
        """
        from adon.code_version import code_version
        from measurement.ceem.blueprint import plan_run
        from measurement.ceem.program_bench import ask_places, describe_environment
        from measurement.ceem.run_log import check_unused, create_log

        check_unused(self.out)
        versions = {"adon": code_version()}
        for command in self.template.implementation.versions:
            versions |= ask_places(reachable, command, " ".join(command))
        environment, name = describe_environment(reachable), self.out.resolve().name
        run = plan_run(self.template, self.blueprint, name, time.time(), environment, versions)
        with create_log(self.out, self.text, run) as log:
            self._run_tests(log, run)

    def resume(self) -> None:
        """Run the tests that have no result."""
        from adon.units import format_count
        from apps.cli.evaluation_files import read_run_folder
        from measurement.ceem.run import Note
        from measurement.ceem.run_log import resume_log

        with resume_log(self.out) as log:
            run = read_run_folder(self.out)
            if (run.document.digest, run.pilot) != (self.template.digest(), self.blueprint.pilot):
                cause = f"the run in {self.out} has another document, or only one is a pilot"
                raise Conflict("--resume", cause)
            log.write("note", Note(time.time(), f"resumed after {format_count(len(run.samples), 'test')}"))
            self._run_tests(log, run)

    def _run_tests(self, log: RunLog, run: EvaluationRun) -> None:
        from measurement.ceem.run import Note
        from measurement.ceem.runner import run_blueprint, stop_on_signals

        done = {sample.number for sample in run.samples}
        count = itertools.count(len(done) + 1)

        def record(sample: Sample) -> None:
            log.write("sample", sample)
            self._report(sample, next(count), run.unit)

        with stop_on_signals(self.stop, self._report_stop):
            is_complete = run_blueprint(self.blueprint, self.bench, record, done, self.stop)
        entry, text = ("ended", "") if is_complete else ("note", "stopped")
        log.write(entry, Note(time.time(), text))

    def _report(self, sample: Sample, done: int, unit: str) -> None:
        from adon.units import format_duration
        from measurement.ceem.answers import format_value

        if self.quiet:
            return
        size = self.blueprint.size
        left = format_duration(round(self.blueprint.total_seconds * (1 - done / size)))
        result = f"failed: {sample.failure}" if sample.value is None else format_value(sample.value, unit)
        typer.echo(f"{done} of {size}, {left} left: {sample.path}: {result}", err=True)

    def _report_stop(self) -> None:
        from adon.units import format_duration

        longest = format_duration(self.blueprint.duration)
        typer.echo(f"stopping after the running tests (at most about {longest})", err=True)

    def write_results(self) -> EvaluationRun:
        """Write the run and its report, and return the run."""
        from apps.cli.evaluation_files import read_run_folder
        from apps.figures.evaluation_report import render_report
        from measurement.ceem.run_log import REPORT_FILE, RUN_FILE
        from measurement.model import to_json

        run = read_run_folder(self.out)
        document = json.dumps(to_json(run), indent=1, ensure_ascii=False) + "\n"
        write(self.out / RUN_FILE, document, "--out")
        write(self.out / REPORT_FILE, render_report(self.template, self.text, run), "--out")
        return run
