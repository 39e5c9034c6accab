"""``adon evaluate``: evaluations as documents, run and reported; needs no server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apps.cli import evaluation_files, evaluation_run
from apps.cli.common import JsonFlag, print_json, print_table, write
from apps.cli.text_files import check_all

if TYPE_CHECKING:
    from apps.evaluation.source import Source
    from measurement.evaluation.run import Run

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
    from adon.evaluations import builtins

    found = [(name, builtins.document(name), builtins.has_reference(name)) for name in builtins.names()]
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
    print_table(("Evaluation", "Reference", "Title"), rows, "there are none")


@app.command()
def show(
    document: DocumentArgument,
    yaml: Annotated[bool, typer.Option("--yaml", help="Print YAML, as a start for your own.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Show an evaluation document in its ten steps."""
    from apps.cli.evaluation_told import steps

    text, found = evaluation_files.document_of(document)
    if json_:
        print_json(found.model_dump(mode="json"))
    elif yaml:
        typer.echo(text, nl=False)
    else:
        typer.echo("\n".join(steps(found.value())))


@app.command()
def check(
    files: Annotated[list[Path] | None, typer.Argument(metavar="FILE...", help="Document files.")] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of a document, for editors.")
    ] = False,
    json_: JsonFlag = False,
) -> None:
    """Check evaluation documents."""
    from adon.evaluations import reading

    def checked(file: Path) -> tuple[dict[str, object], str]:
        found = reading.read(file)
        known: dict[str, object] = {"name": found.name, "digest": found.digest()}
        return known, f"{found.name}, version {found.version}, is valid"

    if schema:
        print_json(reading.schema())
    else:
        check_all("FILE", files, checked, as_json=json_)


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
    from apps.cli.evaluation_told import findings, findings_json

    source, found = _reported(run, document, reference=reference)
    if out is not None:
        from apps.evaluation.report import page

        write(out, page(source, found), "--out")
        print_json({"file": str(out)}) if json_ else typer.echo(f"{out}: written")
    elif json_:
        print_json(findings_json(source.document, found))
    else:
        typer.echo("\n".join(findings(source.document, found)))


@app.command()
def note(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run's folder.")],
    text: Annotated[str, typer.Argument(help="Text of the note.")],
    json_: JsonFlag = False,
) -> None:
    """Add a note to the log of a run that has ended."""
    import time

    from adon.errors import InvalidInput
    from apps.evaluation.logfile import resumed

    if not text.strip():
        raise InvalidInput.of("TEXT", "is empty")
    at = time.time()
    with resumed(folder) as log:
        log.note(at, text)
    print_json({"at": at, "text": text}) if json_ else typer.echo(f"{folder}: noted")


def _reported(run: str, document: str | None, *, reference: bool) -> tuple[Source, Run]:
    """A run, and the document it is of."""
    from apps.evaluation.source import Source

    found = evaluation_files.reference_of(run) if reference else evaluation_files.run_of(run)
    text, file = evaluation_files.document_for(run, found, document)
    return Source(file.value(), text, file.digest()), found
