"""``adon deploy``: the files that make a service of ADON; printed, never put in place."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from apps.cli.common import JsonFlag, print_json

app = typer.Typer(help="Files that make a service of ADON (docs/install.md).", no_args_is_help=True)


@app.command("list")
def list_(json_: JsonFlag = False) -> None:
    """The files there are."""
    from apps.deploy.kept import names

    if json_:
        print_json(names())
    else:
        typer.echo("\n".join(names()))


@app.command()
def show(name: Annotated[str, typer.Argument(help="One of adon deploy list.")]) -> None:
    """Print a file, with the folder filled in where this ADON is installed."""
    from apps.deploy.kept import text

    typer.echo(text(name, Path(sys.prefix)), nl=False)
