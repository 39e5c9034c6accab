"""``adon config``: a configuration file checked, shown with its defaults, described; ADON need not run."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput, Problem
from apps.cli.common import EXIT_INPUT, print_json, print_table, write
from apps.cli.document_printer import CommandGroup, print_document

if TYPE_CHECKING:
    from adon.config import Configuration
    from adon.measurement_plan import MeasurementPlan

app = CommandGroup("Configuration files.")

File = Annotated[Path, typer.Argument(help="The configuration file (YAML).")]


NEXT = """\
adon config check {file}          # after you have changed the example
adon serve --config {file} --data DIR
adon rules show                   # what dry-run mode would send to the switches
"""


class Example(StrEnum):
    """The examples, by name."""

    MINIMAL = "minimal"
    TWO_CAMPUS = "two-campus"
    COMPUTED_PATHS = "computed-paths"
    HA = "ha"


@app.command(formats=False)
def init(
    example: Annotated[Example, typer.Option(help="Name of the example.")] = Example.MINIMAL,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="New file to write.")
    ] = None,
) -> None:
    """Print an example of a configuration in dry-run mode.

    Standard error shows the next commands.
    """
    from adon.yamlfile import BuiltinFiles

    text = BuiltinFiles("example", "adon.config").text(example)
    if output is None:
        typer.echo(text, nl=False)
    elif output.exists():
        raise InvalidInput.of("--output", f"{output} exists; write the name of a new file")
    else:
        write(output, text, "--output")
    typer.echo(NEXT.format(file=output or "FILE"), nl=False, err=True)


@app.command()
def check(
    file: File,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings, too.")] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Contact no measurement point.")] = False,
) -> None:
    """Check a configuration file and plan its tests.

    Each problem has file, line and field.  If the tests have no schedule, the command names the test and the
    reason.  Warnings are about valid but unlikely values, such as a secret that other users can read.

    The output has the certificate fingerprints of reachable measurement points, except with --offline.
    """
    from apps.certificates import fetch_fingerprints
    from apps.config_warnings import warnings
    from apps.configuration_check import check_file

    try:
        found, plan = check_file(file)
    except InvalidInput as error:
        if not print_document({"file": str(file), "problems": [_problem(one) for one in error.problems]}):
            raise
        raise typer.Exit(EXIT_INPUT) from error
    shown = {} if offline else fetch_fingerprints(found.measurements.points)
    doubts = warnings(found, file, plan.notes, shown)
    _print_summary(file, found, plan, doubts, shown)
    if doubts and strict:
        raise typer.Exit(EXIT_INPUT)


@app.command()
def show(
    file: File,
    effective: Annotated[bool, typer.Option("--effective", help="Include defaults of omitted keys.")] = False,
) -> None:
    """Print a configuration, with --effective all defaults too.

    The output is a valid configuration with the same meaning, without comments.
    """
    from adon import yamlfile
    from adon.config import load

    shown = load(file).model_dump(mode="json", by_alias=True, exclude_unset=not effective)
    if not print_document(shown):
        typer.echo(yamlfile.dump_data(shown), nl=False)


@app.command(formats=False)
def schema() -> None:
    """Print the JSON schema (2020-12) of the configuration file."""
    from adon.config import Configuration
    from adon.json_schema import json_schema

    print_json(json_schema(Configuration, "ADON configuration"))


def _problem(one: Problem) -> dict[str, Any]:
    return {"file": one.file, "line": one.line, "field": one.field, "cause": one.cause, "code": one.code}


def _print_summary(
    file: Path,
    found: Configuration,
    plan: MeasurementPlan,
    doubts: list[Problem],
    shown: dict[str, str],
) -> None:
    from adon.units import format_duration
    from measurement.scheduling.ticks import seconds

    schedule = plan.schedule
    hosts = sum(len(site.hosts) for site in found.sites.values())
    length = seconds(schedule.hyperperiod) if schedule.tasks else None
    document = {
        "file": str(file),
        "network": found.network,
        "switches": len(found.switches),
        "sites": len(found.sites),
        "paths": len(found.paths),
        "hosts": hosts,
        "schedule": {"tests": len(schedule.tasks), "runs": len(schedule.jobs), "round_seconds": length},
        "certificates": shown,
        "warnings": [_problem(one) for one in doubts],
    }
    if print_document(document):
        return
    for one in doubts:
        typer.echo(f"{replace(one, cause=f'warning: {one.cause}')}", err=True)
    typer.echo(
        f"{file}: network {found.network}: {len(found.switches)} switches, {len(found.sites)} sites, "
        f"{hosts} hosts, {len(found.paths)} paths, {len(found.measurements.tests)} tests"
    )
    if length is not None:
        typer.echo(
            f"{file}: measurements: {len(schedule.jobs)} runs of {len(schedule.tasks)} tests in a round of "
            f"{format_duration(length)}, none in conflict with another"
        )
    for name, certificate in shown.items():
        typer.echo(f"{file}: measurements.points.{name}: the server shows {certificate}")


# -- plan of tests ---------------------------------------------------------------------------------------

plans = CommandGroup("Test plan of a configuration file.")

OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write it here instead of printing it.")
]
Templates = Annotated[
    list[Path] | None,
    typer.Option("--template", metavar="FILE", help="As if this application template were registered."),
]


@plans.command("show")
def show_plan(file: File, template: Templates = None) -> None:
    """Show every test with its period, and the length of a round.

    With --template the plan includes the needs of templates, whether or not the configuration follows them.
    """
    from measurement.scheduling.ticks import seconds

    _, found = _plan_file(file, template)
    tasks = found.schedule.tasks
    document = {name: {"period_s": task.period, "slot_s": task.duration} for name, task in tasks.items()}
    if not print_document(document):
        rows = ((name, f"{task.period:g} s", f"{task.duration:g} s") for name, task in sorted(tasks.items()))
        print_table(("Test", "Every", "Keeps its points for"), rows, "no test is configured")
        length = seconds(found.schedule.hyperperiod)
        typer.echo(f"a round of {length:g} s holds {len(found.schedule.jobs)} runs; no two conflict")
    for note in found.notes:
        typer.echo(f"not in the plan: {note}", err=True)


@plans.command()
def page(file: File, out: OutOption = None, template: Templates = None) -> None:
    """Write one round of the plan as an HTML page."""
    from measurement.scheduling import gantt

    configuration, found = _plan_file(file, template)
    text = gantt.page(found.schedule, title=configuration.network)
    _write_or_print(text, {"html": text}, out)


@plans.command()
def psconfig(file: File, out: OutOption = None, template: Templates = None) -> None:
    """Print the plan of tests as a pSConfig template."""
    from adon.measurement_plan import as_psconfig

    configuration, found = _plan_file(file, template)
    document = as_psconfig(configuration, found)
    _write_or_print(json.dumps(document, indent=2) + "\n", document, out)


def _plan_file(file: Path, templates: list[Path] | None) -> tuple[Configuration, MeasurementPlan]:
    from adon.config import load
    from adon.measurement_plan import plan_measurements
    from adon.templates_catalog.catalog import needs
    from adon.templates_catalog.model import Template
    from adon.yamlfile import load_model
    from apps.collector.psconfig_file import read_template
    from apps.configuration_check import check_file

    if not templates:
        return check_file(file)
    configuration = load(file)
    measurements = configuration.measurements.model_copy(update={"follow_templates": True})
    configuration = configuration.model_copy(update={"measurements": measurements})
    wanted = needs(load_model(template, Template) for template in templates)
    return configuration, plan_measurements(configuration, wanted, read_template(configuration, file.parent))


def _write_or_print(text: str, document: object, out: Path | None) -> None:
    """Write a text to a file, or print it as text or as a document."""
    if out is not None:
        write(out, text, "--out")
        if not print_document({"file": str(out)}):
            typer.echo(f"{out}: written")
    elif not print_document(document):
        typer.echo(text, nl=False)
