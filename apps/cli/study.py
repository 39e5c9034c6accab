"""``adon study``: health rounds, snapshots, placements and evaluations that the server stores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput
from apps.cli.api_completion import complete
from apps.cli.common import QuietFlag, client, plain_json
from apps.cli.document_printer import CommandGroup, print_document, print_object

if TYPE_CHECKING:
    from measurement.health.record import RoundRecord

app = CommandGroup("Studies of instances: health, snapshots, placements, evaluations.")

KINDS = ROUND, SNAPSHOT, PLACEMENT, EVALUATION = ("health-round", "snapshot", "placement", "evaluation")
SubmitFlag = Annotated[bool, typer.Option("--submit", help="Also store it on the server (adon study).")]
"""Option of the commands that produce a study."""

StudyId = Annotated[
    str,
    typer.Argument(metavar="STUDY", help="Its id, as in 5f3a9c0d12ab4e01.", autocompletion=complete("study")),
]


def hand_in(ctx: typer.Context, kind: str, document: dict[str, Any]) -> None:
    """Store a document as a study; print its id on standard error."""
    typer.echo(f"submitted: study {client(ctx).add_study(kind, document).id}", err=True)


def hand_in_round(ctx: typer.Context, record: RoundRecord) -> None:
    """Store a health round as a study, without its samples."""
    from adon.studies.rounds import in_short
    from measurement.model import to_json

    hand_in(ctx, ROUND, to_json(in_short(record)))


@app.command("show")
def show(
    ctx: typer.Context,
    study: StudyId,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write its document there.")
    ] = None,
) -> None:
    """Show one study, or write its document to a file."""
    found = client(ctx).study(study)
    if output is not None:
        try:
            output.write_text(json.dumps(found.document, indent=1) + "\n")
        except OSError as error:
            raise InvalidInput.of("--output", f"{output}: {error.strerror}") from None
    if print_document(found):
        return
    print_object({name: value for name, value in plain_json(found).items() if name != "document"})
    if output is None:
        typer.echo("Print its document with --json, or write it with --output FILE.")


@app.command("submit")
def submit(
    ctx: typer.Context,
    kind: Annotated[str, typer.Argument(help=f"{', '.join(KINDS)}.", autocompletion=lambda: KINDS)],
    file: Annotated[Path, typer.Argument(help="Document of adon health, place or evaluate.")],
    title: Annotated[str, typer.Option(help="Title.")] = "",
    quiet: QuietFlag = False,
) -> None:
    """Store a study on the server.

    Of a health round the means are stored, and not the samples.
    """
    made = client(ctx).add_study(kind, _document(kind, file), title)
    if quiet:
        typer.echo(made.id)
    elif not print_document(made):
        typer.echo(f"{made.id} {made.kind.value}: {made.title}, {made.summary}")


def _document(kind: str, file: Path) -> dict[str, Any]:
    """Return the document of a file, in the form in which it is sent.

    :raises InvalidInput: if that is no document of this kind.
    """
    from adon.studies import packing
    from adon.studies.rounds import in_short
    from measurement.health.history import read
    from measurement.model import to_json

    try:
        found: dict[str, Any] = (
            to_json(in_short(read(file))) if kind == ROUND else packing.read(file.read_bytes())
        )
    except OSError as error:
        raise InvalidInput.of("file", f"{file}: {error.strerror}") from None
    except ValueError as error:
        text = str(error).removeprefix(f"{file}: ")
        raise InvalidInput.of("file", f"{file}: {text}") from None
    return found
