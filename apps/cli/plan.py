"""``adon plan``: what a configuration's plan of tests is, before anything runs; needs no server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apps.cli.common import JsonFlag, print_json, print_table, write

if TYPE_CHECKING:
    from adon.config import Configuration
    from adon.measurement_plan import MeasurementPlan

app = typer.Typer(help="Test plan of a configuration file.", no_args_is_help=True)

ConfigurationArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The configuration file.")]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write it here instead of printing it.")
]
Templates = Annotated[
    list[Path] | None,
    typer.Option("--template", metavar="FILE", help="As if this application template were registered."),
]


@app.command()
def show(file: ConfigurationArgument, template: Templates = None, json_: JsonFlag = False) -> None:
    """Show every test with its period, and the length of a round.

    With --template the plan includes the needs of templates, whether or not the configuration follows them.
    """
    from measurement.scheduling.ticks import seconds

    _, found = _planned(file, template)
    tasks = found.schedule.tasks
    if json_:
        print_json({name: {"period_s": task.period, "slot_s": task.duration} for name, task in tasks.items()})
    else:
        rows = ((name, f"{task.period:g} s", f"{task.duration:g} s") for name, task in sorted(tasks.items()))
        print_table(("Test", "Every", "Keeps its points for"), rows, "no test is configured")
        length = seconds(found.schedule.hyperperiod)
        typer.echo(f"a round of {length:g} s holds {len(found.schedule.jobs)} runs; no two conflict")
    for note in found.notes:
        typer.echo(f"not in the plan: {note}", err=True)


@app.command()
def page(
    file: ConfigurationArgument, out: OutOption = None, template: Templates = None, json_: JsonFlag = False
) -> None:
    """Write one round of the plan as an HTML page."""
    from measurement.scheduling import gantt

    configuration, found = _planned(file, template)
    text = gantt.page(found.schedule, title=configuration.network)
    _give(text, {"html": text}, out, json_=json_)


@app.command()
def psconfig(
    file: ConfigurationArgument, out: OutOption = None, template: Templates = None, json_: JsonFlag = False
) -> None:
    """Print the plan of tests as a pSConfig template."""
    from adon.measurement_plan import as_psconfig

    configuration, found = _planned(file, template)
    document = as_psconfig(configuration, found)
    _give(json.dumps(document, indent=2) + "\n", document, out, json_=json_)


def _planned(file: Path, templates: list[Path] | None) -> tuple[Configuration, MeasurementPlan]:
    from adon.config import load
    from adon.measurement_plan import plan_measurements
    from adon.templates_catalog.catalog import needs
    from adon.templates_catalog.model import Template
    from adon.yamlfile import load_model
    from apps.checking import checked
    from apps.collector.psconfig_file import read_template

    if not templates:
        return checked(file)
    configuration = load(file)
    measurements = configuration.measurements.model_copy(update={"follow_templates": True})
    configuration = configuration.model_copy(update={"measurements": measurements})
    wanted = needs(load_model(template, Template) for template in templates)
    return configuration, plan_measurements(configuration, wanted, read_template(configuration, file.parent))


def _give(text: str, document: object, out: Path | None, *, json_: bool) -> None:
    """Into a file, or onto standard output: as text, or as a document."""
    if out is not None:
        write(out, text, "--out")
        print_json({"file": str(out)}) if json_ else typer.echo(f"{out}: written")
    elif json_:
        print_json(document)
    else:
        typer.echo(text, nl=False)
