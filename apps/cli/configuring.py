"""``adon config``: a configuration file checked, shown with its defaults, described; ADON need not run."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput, Problem
from apps.cli.common import EXIT_INPUT, JsonFlag, print_json, write

if TYPE_CHECKING:
    from adon.config import Configuration
    from adon.measurement_plan import MeasurementPlan

app = typer.Typer(help="Configuration files.", no_args_is_help=True)

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


@app.command()
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
    json_: JsonFlag = False,
) -> None:
    """Check a configuration file and plan its tests.

    Each problem has file, line and field.  If the tests have no schedule, the command names the test and the
    reason.  Warnings are about valid but unlikely values, such as a secret that other users can read.

    The output has the certificate fingerprints of reachable measurement points, except with --offline.
    """
    from apps.certificates import fetch_fingerprints
    from apps.checking import checked
    from apps.config_warnings import warnings

    try:
        found, plan = checked(file)
    except InvalidInput as error:
        if not json_:
            raise
        print_json({"file": str(file), "problems": [_problem(one) for one in error.problems]})
        raise typer.Exit(EXIT_INPUT) from error
    shown = {} if offline else fetch_fingerprints(found.measurements.points)
    doubts = warnings(found, file, plan.notes, shown)
    _tell(file, found, plan, doubts, shown, json_)
    if doubts and strict:
        raise typer.Exit(EXIT_INPUT)


@app.command()
def show(
    file: File,
    effective: Annotated[bool, typer.Option("--effective", help="Include defaults of omitted keys.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Print a configuration, with --effective all defaults too.

    The output is a valid configuration with the same meaning, without comments.
    """
    from adon import yamlfile
    from adon.config import load

    shown = load(file).model_dump(mode="json", by_alias=True, exclude_unset=not effective)
    if json_:
        print_json(shown)
    else:
        typer.echo(yamlfile.dump_data(shown), nl=False)


@app.command()
def schema() -> None:
    """Print the JSON schema (2020-12) of the configuration file."""
    from adon.config import Configuration
    from adon.json_schema import json_schema

    print_json(json_schema(Configuration, "ADON configuration"))


def _problem(one: Problem) -> dict[str, Any]:
    return {"file": one.file, "line": one.line, "field": one.field, "cause": one.cause, "code": one.code}


def _tell(
    file: Path,
    found: Configuration,
    plan: MeasurementPlan,
    doubts: list[Problem],
    shown: dict[str, str],
    json_: bool,
) -> None:
    from adon.units import format_duration
    from measurement.scheduling.ticks import seconds

    schedule = plan.schedule
    hosts = sum(len(site.hosts) for site in found.sites.values())
    length = seconds(schedule.hyperperiod) if schedule.tasks else None
    if json_:
        counts = {"switches": found.switches, "sites": found.sites, "paths": found.paths}
        told = {name: len(things) for name, things in counts.items()}
        runs = {"tests": len(schedule.tasks), "runs": len(schedule.jobs), "round_seconds": length}
        warned = [_problem(one) for one in doubts]
        about = {"file": str(file), "network": found.network, **told, "hosts": hosts, "schedule": runs}
        print_json({**about, "certificates": shown, "warnings": warned})
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
