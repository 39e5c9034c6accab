"""Parts of all commands: exit statuses, the connection to the API, tables, JSON and files."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from adon.errors import AdonError, InvalidInput, NotAuthenticated, Unavailable

if TYPE_CHECKING:
    from adon.client import Client

T = TypeVar("T")

EXIT_OTHER = 1
EXIT_INPUT = 2
EXIT_DIFFERS = 3
"""Done, with a negative result: not applied, a QSpec would be violated."""
EXIT_INTERRUPTED = 130

DAY_S = 86_400.0
_FIELD = re.compile(r"\A[a-z_]+: ")
"""The measurement's own name of what an option names."""

RESEARCHER = "For researchers"
ENGINEER = "For performance engineers"
OPERATOR = "For operators"
ADMINISTRATION = "Administration"
PANELS = (RESEARCHER, ENGINEER, OPERATOR, ADMINISTRATION)

JsonFlag = Annotated[bool, typer.Option("--json", help="Print the API's JSON, and nothing else.")]
QuietFlag = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the id of the created object.")]


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of ``adon`` itself.

    :ivar url: address of the API; None if it is not given.
    """

    url: str | None = None


# -- connection ------------------------------------------------------------------------------------------


def client(ctx: typer.Context, *, patient: bool = False) -> Client:
    """Return a client of the API, from ``--url``, the environment, and what ``adon login`` stored.

    :param patient: repeat requests while a part of ADON is down, for commands that take long.

    :raises NotAuthenticated: if there is no token.
    :raises InvalidInput: if a file cannot be read.
    """
    from adon.client import Client, credentials
    from adon.client.repeating import BOUNDS, IMPATIENT

    url = api_address(ctx)
    token = credentials.token(os.environ, url)
    if token is None:
        raise NotAuthenticated(credentials.NOTHING_STORED)
    ctx.meta["adon.token"] = credentials.origin(os.environ)
    ca_file = os.environ.get("ADON_CA_FILE") or None
    return Client.at(url, token, ca_file=ca_file, bounds=BOUNDS if patient else IMPATIENT)


def api_address(ctx: typer.Context) -> str:
    """Return the address of the API.

    :raises InvalidInput: if what was stored cannot be read.
    """
    from adon.client import credentials

    found = ctx.find_root().obj
    return credentials.url(os.environ, found.url if isinstance(found, Settings) else None)


def find_id(ids: Iterable[str], beginning: str, kind: str) -> str:
    """Return the id that begins so.

    :raises InvalidInput: if none does, or several.
    """
    found = [name for name in ids if name.startswith(beginning)]
    if beginning in found:
        return beginning
    if len(found) != 1:
        count = "no" if not found else "more than one"
        raise InvalidInput.of(kind, f"{count} {kind} begins with {beginning[:40]!r}")
    return found[0]


# -- output ----------------------------------------------------------------------------------------------


def print_json(value: object) -> None:
    """Print a value as JSON; documents with the API's field names."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, default=_document_body))


def print_json_line(value: object) -> None:
    """Print one of many values as JSON on a line, at once."""
    typer.echo(json.dumps(value, ensure_ascii=False, default=_document_body))
    sys.stdout.flush()


def plain_json(value: object) -> Any:
    """Return a value with documents as plain JSON values."""
    return json.loads(json.dumps(value, default=_document_body))


def _document_body(value: Any) -> Any:
    """Return the plain JSON values of a document.

    :raises TypeError: for another object.
    """
    from adon.api.base import View

    if isinstance(value, View):
        return value.body()
    raise TypeError(f"{type(value).__name__} is not JSON; expected a document of adon.api")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], empty: str) -> None:
    """Print rows as a table, or a text if there are none.

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


def error_lines(error: AdonError) -> list[str]:
    """Return one line per problem of an error; nothing in it breaks a line."""
    texts = [str(one) for one in error.problems] if isinstance(error, InvalidInput) else [str(error)]
    return [" ".join(text.split()) for text in texts]


# -- input -----------------------------------------------------------------------------------------------


@contextmanager
def naming(options: Mapping[str, str]) -> Iterator[None]:
    """Name the options in the problems of a request.

    :param options: option by field of the API; it stands for the fields within its field, too
        (``weights.rtt``).
    """
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(
            replace(one, field=_option_of(one.field, options)) if one.file is None else one
            for one in error.problems
        ) from error


def _option_of(field: str, options: Mapping[str, str]) -> str:
    name = field
    while name not in options and "." in name:
        name = name.rpartition(".")[0]
    return options.get(name, field)


@contextmanager
def option_errors(field: str, *, whole: bool = False) -> Iterator[None]:
    """Turn the errors of values and files into problems of an option or argument.

    :param whole: keep the field that the error names, for an option that is a file with many fields.
    """
    try:
        yield
    except ValueError as error:
        text = str(error) if whole else _FIELD.sub("", str(error), count=1)
        raise InvalidInput.of(field, text) from error
    except OSError as error:
        if error.filename is not None:
            raise InvalidInput.of(field, f"{error.filename}: {error.strerror}") from error
        raise Unavailable(f"{field}: {error}") from error


def parse_option(value: str, read: Callable[[object], T], name: str) -> T:
    """Return the value of an option.

    :raises InvalidInput: naming the option.
    """
    try:
        return read(value)
    except ValueError as error:
        raise InvalidInput.of(name, error) from error


def parse_limit(text: str) -> float:
    """Return the seconds of a time limit.

    :raises ValueError: for no time, 0, or more than a day.
    """
    from adon.units import parse_duration

    found = parse_duration(text)
    if not 0 < found <= DAY_S:
        raise ValueError(f"{text[:40]} is not above 0 and at most a day")
    return found


def drop_missing(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def check_writable(file: Path | None, field: str) -> None:
    """Check before long work that its result can be written.

    :raises InvalidInput: if a file that an option names cannot be written.
    """
    if file is not None and (file.is_dir() or not os.access(file if file.exists() else file.parent, os.W_OK)):
        raise InvalidInput.of(field, f"{file}: no file can be written there")


def write(file: Path, text: str, field: str) -> None:
    """Write a file that an option names.

    :raises InvalidInput: if it cannot be written.
    """
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise InvalidInput.of(field, f"{file}: {error.strerror}") from error
