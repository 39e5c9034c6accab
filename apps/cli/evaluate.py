"""``adon evaluate``: list, check, run and report evaluation templates; needs no server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from apps.cli import evaluation_run
from apps.cli.common import JsonFlag, print_json, print_table, write
from apps.cli.evaluation_files import (
    find_reference,
    find_run,
    find_template,
    find_template_of_run,
    log_errors,
)
from apps.cli.text_files import check_all

app = typer.Typer(help="Evaluations of networks as documents of ten steps.", no_args_is_help=True)
app.command()(evaluation_run.run)

DocumentArgument = Annotated[
    str, typer.Argument(metavar="DOCUMENT", help="A document file, or the name of one of adon evaluate list.")
]
RunArgument = Annotated[
    str,
    typer.Argument(metavar="RUN", help="A run's folder, its run.json, or a built-in name for its reference."),
]
OutOption = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write it here.")]


@app.command("list")
def list_(json_: JsonFlag = False) -> None:
    """List the built-in evaluation documents."""
    from adon.evaluation_file import BUILTIN

    found = [(name, BUILTIN.load(name), BUILTIN.has_reference(name)) for name in BUILTIN.names()]
    if json_:
        print_json(
            [
                {"name": name, "version": one.version, "title": one.title, "reference": reference}
                for name, one, reference in found
            ]
        )
        return
    rows = (
        (f"{name}@{one.version}", "yes" if reference else "-", one.title) for name, one, reference in found
    )
    print_table(("Evaluation", "Reference", "Title"), rows, "No built-in evaluations.")


@app.command()
def show(
    document: DocumentArgument,
    yaml: Annotated[bool, typer.Option("--yaml", help="Print YAML, as a start for your own.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Show an evaluation document in its ten steps."""
    from apps.cli.evaluation_text import step_lines

    text, template = find_template(document)
    if json_:
        print_json(template.model_dump(mode="json"))
    elif yaml:
        typer.echo(text, nl=False)
    else:
        typer.echo("\n".join(step_lines(template)))


@app.command()
def check(
    files: Annotated[list[Path] | None, typer.Argument(metavar="FILE...", help="Document files.")] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of a document, for editors.")
    ] = False,
    json_: JsonFlag = False,
) -> None:
    """Check evaluation documents."""
    from adon.evaluation_file import evaluation_schema, load_evaluation

    def check_file(file: Path) -> tuple[dict[str, object], str]:
        template = load_evaluation(file)
        known: dict[str, object] = {"name": template.name, "digest": template.digest()}
        return known, f"{template.name}, version {template.version}, is valid"

    if schema:
        print_json(evaluation_schema())
    else:
        check_all("FILE", files, check_file, as_json=json_)


@app.command()
def report(
    run: RunArgument,
    reference: Annotated[
        bool, typer.Option("--reference", help="Report the authors' results of a built-in evaluation.")
    ] = False,
    document: Annotated[
        str | None,
        typer.Option("--document", metavar="DOCUMENT", help="Document of a run.json without a folder."),
    ] = None,
    out: OutOption = None,
    json_: JsonFlag = False,
) -> None:
    """Report a run as text, or with --out as an HTML page."""
    from apps.cli.evaluation_text import result_lines, results_to_json

    found = find_reference(run) if reference else find_run(run)
    text, template = find_template_of_run(run, found, document)
    if out is not None:
        from apps.figures.evaluation_report import render_report

        write(out, render_report(template, text, found), "--out")
        print_json({"file": str(out)}) if json_ else typer.echo(f"{out}: written")
    elif json_:
        print_json(results_to_json(template, found))
    else:
        typer.echo("\n".join(result_lines(template, found)))


@app.command()
def note(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run's folder.")],
    text: Annotated[str, typer.Argument(help="Text of the note.")],
    json_: JsonFlag = False,
) -> None:
    """Add a note to the log of a run that has ended."""
    import time

    from adon.errors import InvalidInput
    from measurement.ceem.run import Note
    from measurement.ceem.run_log import resume_log

    if not text.strip():
        raise InvalidInput.of("TEXT", "is empty; write the note, for example 'backup running'")
    at = time.time()
    with log_errors(folder), resume_log(folder) as log:
        log.write("note", Note(at, text))
    print_json({"at": at, "text": text}) if json_ else typer.echo(f"{folder}: noted")
