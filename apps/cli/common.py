"""What the commands share: the connection's settings, errors as lines, output."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from adon.errors import AdonError, InvalidInput, NotAuthenticated

if TYPE_CHECKING:
    from apps.cli.client import Client

URL = "http://127.0.0.1:8080"
EXIT_INPUT = 2
EXIT_OTHER = 1

JsonFlag = Annotated[bool, typer.Option("--json", help="Print the API's JSON.")]


class Commands(TyperGroup):
    """A group of commands whose errors of ours become lines on standard error and an exit status."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except AdonError as error:
            for line in lines(error):
                typer.echo(line, err=True)
            raise typer.Exit(EXIT_INPUT if isinstance(error, InvalidInput) else EXIT_OTHER) from error


def lines(error: AdonError) -> list[str]:
    """An error as one line per problem; nothing in it can break a line."""
    texts = [str(one) for one in error.problems] if isinstance(error, InvalidInput) else [str(error)]
    return [" ".join(text.split()) for text in texts]


def client(ctx: typer.Context) -> Client:
    """The API's client, from ``--url`` and the token of the environment.

    :raises NotAuthenticated: if there is no token.
    """
    from apps.cli.client import Client

    return Client(ctx.find_root().obj or URL, token())


def token() -> str:
    """The access token, from ADON_TOKEN or the file that ADON_TOKEN_FILE names.

    :raises NotAuthenticated: if neither is set.
    :raises InvalidInput: if the file cannot be read.
    """
    if text := os.environ.get("ADON_TOKEN", "").strip():
        return text
    name = os.environ.get("ADON_TOKEN_FILE")
    if not name:
        raise NotAuthenticated("no access token: set ADON_TOKEN, or ADON_TOKEN_FILE to a file that holds it")
    try:
        return Path(name).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or "is not text"
        raise InvalidInput.of("ADON_TOKEN_FILE", f"{name}: {cause}") from error


def print_json(value: object) -> None:
    """A value as JSON on standard output."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def write(file: Path, text: str, field: str) -> None:
    """Write a file that an option names.

    :raises InvalidInput: if that cannot be done.
    """
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise InvalidInput.of(field, f"{file}: {error.strerror}") from error


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], empty: str) -> None:
    """Rows as a table, or what to do when there are none.

    On a terminal it fits the window; elsewhere it is as wide as it needs, for ``grep`` and ``awk``.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    found = [list(row) for row in rows]
    if not found:
        typer.echo(empty)
        return
    table = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False)
    for row in found:
        table.add_row(*(Text(cell) for cell in row))  # Text: what a person wrote is no markup
    console = Console()
    (console if console.is_terminal else Console(width=10_000)).print(table)


def option(value: str | None, read: Callable[[object], Any], field: str) -> None:
    """Check a quantity that was typed, before it is sent as it is.

    :raises InvalidInput: naming the option.
    """
    if value is None:
        return
    try:
        read(value)
    except ValueError as error:
        raise InvalidInput.of(field, str(error)) from error
