"""``adon study``: rounds of health, snapshots, placements and evaluations that ADON keeps and shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput
from apps.cli import completing as offered
from apps.cli.common import JsonFlag, QuietFlag, client, print_json, print_table

if TYPE_CHECKING:
    from measurement.health.record import RoundRecord

app = typer.Typer(
    help="Studies of instances: health, snapshots, placements, evaluations.", no_args_is_help=True
)

KINDS = ROUND, SNAPSHOT, PLACEMENT, EVALUATION = ("health-round", "snapshot", "placement", "evaluation")
SubmitFlag = Annotated[bool, typer.Option("--submit", help="Also store it on the server (adon study).")]
"""Of the commands that make a study."""

StudyId = Annotated[
    str,
    typer.Argument(metavar="STUDY", help="Its id, as in 5f3a9c0d12ab4e01.", autocompletion=offered.studies),
]
KindOption = Annotated[
    str | None, typer.Option("--kind", help=f"Only these: {', '.join(KINDS)}.", autocompletion=lambda: KINDS)
]


def hand_in(ctx: typer.Context, kind: str, document: dict[str, Any]) -> None:
    """Have what a command has just made kept as a study; its id goes to standard error."""
    typer.echo(f"submitted: study {client(ctx).add_study(kind, document).id}", err=True)


def hand_in_round(ctx: typer.Context, record: RoundRecord) -> None:
    """Likewise, a round of health; its samples stay here."""
    from adon.studies.rounds import in_short
    from measurement.model import to_json

    hand_in(ctx, ROUND, to_json(in_short(record)))


@app.command("list")
def list_studies(
    ctx: typer.Context,
    kind: KindOption = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number.")] = 50,
    json_: JsonFlag = False,
) -> None:
    """List studies, the latest first."""
    found = client(ctx).studies(kind, limit)
    if json_:
        print_json(found)
        return
    from apps.cli.times import at

    rows = ((one.id, at(one.at), one.kind.value, one.title, one.summary) for one in found)
    print_table(
        ("Id", "Of", "Kind", "Title", "Found"), rows, "no study is kept; hand one in with: adon study submit"
    )


@app.command("show")
def show(
    ctx: typer.Context,
    study: StudyId,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write its document there.")
    ] = None,
    json_: JsonFlag = False,
) -> None:
    """Show one study, or write its document to a file."""
    from apps.cli.times import at

    found = client(ctx).study(study)
    if output is not None:
        try:
            output.write_text(json.dumps(found.document, indent=1) + "\n")
        except OSError as error:
            raise InvalidInput.of("--output", f"{output}: {error.strerror}") from None
    if json_:
        print_json(found)
        return
    typer.echo(f"{found.id} {found.kind.value} of {at(found.at)}: {found.title}")
    typer.echo(f"  {found.summary}")
    typer.echo(f"  submitted by {found.submitted_by} at {at(found.submitted_at)}")
    if output is None:
        typer.echo("  its document: --output FILE, or --json")


@app.command("submit")
def submit(
    ctx: typer.Context,
    kind: Annotated[str, typer.Argument(help=f"{', '.join(KINDS)}.", autocompletion=lambda: KINDS)],
    file: Annotated[Path, typer.Argument(help="Document of adon health, place or evaluate.")],
    title: Annotated[str, typer.Option(help="Title.")] = "",
    quiet: QuietFlag = False,
    json_: JsonFlag = False,
) -> None:
    """Store a study on the server.

    Of a health round the means are stored, and not the samples.
    """
    made = client(ctx).add_study(kind, _document(kind, file), title)
    if json_:
        print_json(made)
    else:
        typer.echo(made.id if quiet else f"{made.id} {made.kind.value}: {made.title}, {made.summary}")


def _document(kind: str, file: Path) -> dict[str, Any]:
    """What is in a file, in the form in which it is sent.

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


@app.command("delete")
def delete(ctx: typer.Context, study: StudyId, json_: JsonFlag = False) -> None:
    """Delete a study."""
    gone = client(ctx).delete_study(study)
    if json_:
        print_json(gone)
    else:
        typer.echo(f"{gone.id} is deleted")
