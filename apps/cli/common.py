"""What the commands share: the connection, errors as lines or as a document, output."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperGroup

from adon.errors import AdonError, InvalidInput, NotAuthenticated, UnknownSchema

if TYPE_CHECKING:
    from adon.client import Client

EXIT_OTHER = 1
EXIT_INPUT = 2
EXIT_DIFFERS = 3
"""Done, and the answer is no: not delivered, not applied, a QSpec would break."""

RESEARCHER = "For researchers"
ENGINEER = "For performance engineers"
OPERATOR = "For operators"
ADMINISTRATION = "Administration"
PANELS = (RESEARCHER, ENGINEER, OPERATOR, ADMINISTRATION)

JsonFlag = Annotated[bool, typer.Option("--json", help="Print the API's JSON, and nothing else.")]
QuietFlag = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the id of the created object.")]

USAGE: type[Exception] = cast(type[Exception], typer.BadParameter.__mro__[1])
"""What Typer raises for a command line that it cannot read; it has no public name of its own."""
ANYWHERE = ("--utc",)
"""Options of ``adon`` itself that may stand behind any command, too."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What stands before the command: where the API is, if it was said."""

    url: str | None = None


class Commands(TyperGroup):
    """A group of commands whose errors of ours become lines, or a document, and an exit status."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands in the order of their panels, so that ``--help`` begins with who is most numerous."""
        return sorted(super().list_commands(ctx), key=lambda name: _rank(self.commands[name]))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; what may stand anywhere is brought to its front."""
        end = args.index("--") if "--" in args else len(args)
        mine, rest = args[:end], args[end:]
        moved = [one for one in mine if one in ANYWHERE]
        ctx.meta["adon.json"] = "--json" in mine
        return super().parse_args(ctx, [*moved, *(one for one in mine if one not in ANYWHERE), *rest])

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        as_json = bool(ctx.meta.get("adon.json"))
        try:
            return super().invoke(ctx)
        except AdonError as error:
            origin = ctx.meta.get("adon.token")
            if isinstance(error, NotAuthenticated) and origin is not None:
                error = NotAuthenticated(f"{error} (the one of {origin}; with a good one: adon login)")
            tell_error(error, as_json=as_json)
            refused = isinstance(error, InvalidInput | UnknownSchema)
            raise typer.Exit(EXIT_INPUT if refused else EXIT_OTHER) from error
        except USAGE as error:
            if not as_json:
                raise
            told = getattr(error, "format_message", error.__str__)()
            tell_error(InvalidInput.of(_refused(error), str(told)), as_json=True)
            raise typer.Exit(EXIT_INPUT) from error


def _refused(error: Exception) -> str:
    """The option or argument that a command line was refused for; empty if it was for none."""
    parameter = getattr(error, "param", None)
    names: list[str] = [*getattr(parameter, "opts", ()), str(getattr(error, "option_name", None) or "")]
    return max(names, key=len)


def _rank(command: Any) -> int:
    panel = getattr(command, "rich_help_panel", None)
    return PANELS.index(panel) if panel in PANELS else len(PANELS)


def tell_error(error: AdonError, *, as_json: bool) -> None:
    """An error on standard error: a line per problem, or one problem document (RFC 9457)."""
    if as_json:
        from adon.problems import to_document

        typer.echo(json.dumps(to_document(error), ensure_ascii=False), err=True)
        return
    for line in lines(error):
        typer.echo(line, err=True)


def lines(error: AdonError) -> list[str]:
    """An error as one line per problem; nothing in it can break a line."""
    texts = [str(one) for one in error.problems] if isinstance(error, InvalidInput) else [str(error)]
    return [" ".join(text.split()) for text in texts]


@contextmanager
def naming(options: Mapping[str, str]) -> Iterator[None]:
    """Within, a refused input is told by the option that it was given with.

    :param options: the API's field -> the option; a field within it (``weights.rtt``) is told so, too.
    """
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(
            replace(one, field=_option(one.field, options)) if one.file is None else one
            for one in error.problems
        ) from error


def _option(field: str, options: Mapping[str, str]) -> str:
    name = field
    while name not in options and "." in name:
        name = name.rpartition(".")[0]
    return options.get(name, field)


def client(ctx: typer.Context, *, patient: bool = False) -> Client:
    """The API's client, from ``--url``, the environment, and what ``adon login`` stored.

    :param patient: ask again while a part is down, for what goes on for long; else it is told at once.

    :raises NotAuthenticated: if there is no token.
    :raises InvalidInput: if a file cannot be read.
    """
    from adon.client import Client, credentials
    from adon.client.repeating import BOUNDS, IMPATIENT

    url = address(ctx)
    token = credentials.token(os.environ, url)
    if token is None:
        raise NotAuthenticated(credentials.NOTHING_STORED)
    ctx.meta["adon.token"] = credentials.origin(os.environ)
    ca_file = os.environ.get("ADON_CA_FILE") or None
    return Client.at(url, token, ca_file=ca_file, bounds=BOUNDS if patient else IMPATIENT)


def address(ctx: typer.Context) -> str:
    """Where the API is.

    :raises InvalidInput: if what was stored cannot be read.
    """
    from adon.client import credentials

    found = ctx.find_root().obj
    return credentials.url(os.environ, found.url if isinstance(found, Settings) else None)


def print_json(value: object) -> None:
    """A value as JSON on standard output, all that stands there; documents with the API's field names."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, default=_document_body))


def _document_body(value: Any) -> Any:
    """Plain JSON values of a document.

    :raises TypeError: for what is none.
    """
    from adon.api.base import View

    if isinstance(value, View):
        return value.body()
    raise TypeError(f"{type(value).__name__} is not JSON; expected a document of adon.api")


def print_json_line(value: object) -> None:
    """One of many values, each as JSON on a line of its own, at once."""
    typer.echo(json.dumps(value, ensure_ascii=False, default=_document_body))
    sys.stdout.flush()


def writable(file: Path | None, field: str) -> None:
    """Tell before long work that what comes of it has no place.

    :raises InvalidInput: if a file that an option names can plainly not be written.
    """
    if file is not None and (file.is_dir() or not os.access(file if file.exists() else file.parent, os.W_OK)):
        raise InvalidInput.of(field, f"{file}: no file can be written there")


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
    import shutil

    from apps.cli.tables import laid_out

    found = [list(row) for row in rows]
    if not found:
        if empty:
            typer.echo(empty)
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in laid_out(columns, found, width):
        typer.echo(line)


def option(value: str | None, read: Callable[[object], Any], name: str) -> None:
    """Check a quantity that was typed, before it is sent as it is.

    :raises InvalidInput: naming the option.
    """
    if value is None:
        return
    try:
        read(value)
    except ValueError as error:
        raise InvalidInput.of(name, error) from error


def given(fields: Mapping[str, object]) -> dict[str, object]:
    """What is sent: the fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def one_of(ids: Iterable[str], beginning: str, what: str) -> str:
    """The id that begins so.

    :raises InvalidInput: if none does, or several.
    """
    found = [name for name in ids if name.startswith(beginning)]
    if beginning in found:
        return beginning
    if len(found) != 1:
        count = "no" if not found else "more than one"
        raise InvalidInput.of(what, f"{count} {what} begins with {beginning[:40]!r}")
    return found[0]
