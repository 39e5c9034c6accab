"""``adon backup`` and ``adon restore``: a data folder kept, and put back; no server is asked."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apps.cli.common import JsonFlag, print_json

if TYPE_CHECKING:
    from apps.backup.manifest import Manifest

Data = Annotated[Path, typer.Option(metavar="DIR", help="The folder given to adon serve.")]


def backup(
    target: Annotated[Path, typer.Argument(help="The new file, or a folder to put it in.")],
    data: Data,
    config: Annotated[Path | None, typer.Option(help="Add this configuration file.")] = None,
    measurements: Annotated[bool, typer.Option(help="Include the measurement archive.")] = True,
    json_: JsonFlag = False,
) -> None:
    """Copy a data folder into one file, also while adon serve runs.

    The file contains state, users, token hashes, audit log and accepted configuration, but no secret files
    that the configuration names.  Only its owner can read it.
    """
    from apps.backup.making import make, sources

    made = make(sources(data, measurements=measurements, config=config), target, time.time())
    if json_:
        print_json(
            {"file": str(made.file), "size": made.size, "manifest": made.manifest.model_dump(mode="json")}
        )
    else:
        typer.echo(f"{made.file}: {made.size} bytes: {_named(made.manifest)}")


def restore(
    file: Annotated[Path, typer.Argument(help="File of adon backup.")],
    data: Annotated[Path, typer.Option(metavar="DIR", help="A new or an empty folder.")],
    json_: JsonFlag = False,
) -> None:
    """Restore a backup into a new folder, completely or not at all.

    The command checks checksums, databases and versions first.  It refuses another schema.
    """
    from apps.backup.restoring import restore as put_back

    found = put_back(file, data)
    if json_:
        print_json({"data": str(data), "manifest": found.model_dump(mode="json")})
    else:
        typer.echo(f"{data}: as of {found.made}: {_named(found)}")


def _named(manifest: Manifest) -> str:
    return ", ".join(
        name if one.schema_revision is None else f"{name} (schema {one.schema_revision})"
        for name, one in manifest.files.items()
    )
