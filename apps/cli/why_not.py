"""Why a recorded decision took nothing else: worked out from what it saw, or printed as it was answered."""

from __future__ import annotations

from pathlib import Path

import typer

from adon.api.decisions import WhyNotView
from adon.broker.flipping.nearest import why_not
from adon.broker.flipping.words import as_json
from adon.broker.recompute.codec import Decoder
from adon.broker.recompute.differences import differences
from adon.code_version import code_version
from adon.errors import Unavailable
from apps.cli.recomputing import Record, from_database, from_file

SHOWN = 3
"""Changes that are printed per alternative."""


def worked_out(decision: str | None, file: Path | None, data: Path | None, url: str | None) -> WhyNotView:
    """Why not, from a database or a file.

    :raises AdonError: if what the decision saw is not there, or cannot be read by this version.
    """
    record = from_database(str(decision), data, url) if file is None else from_file(file)
    return searched(record)


def searched(record: Record) -> WhyNotView:
    """Why not, of a record.

    :raises Unavailable: for a snapshot that this version cannot read.
    """
    try:
        snapshot = Decoder(lambda name: record.parts[name]).decode(record.snapshot)
    except (KeyError, ValueError) as error:
        raise Unavailable(f"this version cannot read the inputs of {record.decision.id}: {error}") from error
    found = why_not(snapshot)
    return WhyNotView.model_validate(
        {
            **as_json(found),
            "code": record.code,
            "this_code": code_version(),
            "as_recorded": not differences(record.decision, found.decision),
        }
    )


def print_why_not(found: WhyNotView) -> None:
    """For people."""
    where = " ".join(filter(None, (found.path, found.compute_site and f"with {found.compute_site}")))
    typer.echo(f"{found.decision}: {found.outcome}{' on ' if where else ''}{where}")
    if not found.as_recorded:
        typer.echo(f"made by code {found.code}; the present code {found.this_code} decides differently")
    if not found.alternatives:
        typer.echo("no other candidate")
    for one in found.alternatives:
        name = one.path if one.site is None else f"{one.site} by {one.path}"
        typer.echo(f"{name}: {one.why or one.verdict}")
        for flip in one.flips[:SHOWN]:
            typer.echo(f"  {flip.text}")
        if not one.flips:
            typer.echo(f"  {one.text}")
    typer.echo(f"{found.decisions_made} decisions computed; {len(found.searched)} quantities changed")
