"""Documents on standard output: tables and lines for people; JSON, YAML and CSV for programs.

:class:`CommandGroup` gives each command the options ``--format`` and ``--json``.
"""

from __future__ import annotations

import csv
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from enum import StrEnum
from functools import wraps
from typing import Annotated, Any, TypeVar

import typer

from adon.errors import InvalidInput
from apps.cli.common import JsonFlag, plain_json, print_json, print_table
from apps.cli.value_format import format_cell, format_title, format_titles

Item = Mapping[str, Any]
F = TypeVar("F", bound=Callable[..., Any])


class Format(StrEnum):
    """Form of the output; ``wide`` is a table with all fields."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    CSV = "csv"


FORMAT: ContextVar[Format] = ContextVar("adon_format", default=Format.TABLE)
"""Form that the command line asks for."""
FormatOption = Annotated[Format, typer.Option("--format", help="Form of the output.")]


class CommandGroup(typer.Typer):
    """Group of commands that print documents."""

    def __init__(self, purpose: str, **options: Any) -> None:
        super().__init__(help=purpose, no_args_is_help=True, **options)

    def command(self, name: str | None = None, *, formats: bool = True, **options: Any) -> Callable[[F], F]:
        """Register a command.

        :param formats: whether the command has the options ``--format`` and ``--json``.
        """
        register = super().command(name, **options)

        def add(function: F) -> F:
            register(with_formats(function) if formats else function)
            return function

        return add


def with_formats(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command with the options ``--format`` and ``--json``."""
    signature = inspect.signature(function, eval_str=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    added = (
        inspect.Parameter("format_", keyword, default=Format.TABLE, annotation=FormatOption),
        inspect.Parameter("json_", keyword, default=False, annotation=JsonFlag),
    )

    @wraps(function)
    def run(*arguments: Any, format_: Format, json_: bool, **options: Any) -> Any:
        FORMAT.set(Format.JSON if json_ else format_)
        return function(*arguments, **options)

    parameters = [one.replace(kind=keyword) for one in signature.parameters.values()]
    run.__signature__ = signature.replace(parameters=[*parameters, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in (*parameters, *added)}
    return run


def print_document(value: object) -> bool:
    """Print a value for programs, if the command line asks for it; return whether it was printed.

    :raises InvalidInput: for CSV of a value that is no list.
    """
    form = FORMAT.get()
    if form in (Format.TABLE, Format.WIDE):
        return False
    if form is Format.JSON:
        print_json(value)
    elif form is Format.YAML:
        from adon.yamlfile import dump_data

        typer.echo(dump_data(plain_json(value)), nl=False)
    else:
        _print_csv(plain_json(value))
    return True


def show_object(document: Item) -> None:
    """Print an object for programs, if the command line asks for it, else for people."""
    if not print_document(document):
        print_object(document)


def _print_csv(value: Any) -> None:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise InvalidInput.of("--format", "csv is for lists only; expected for example --format yaml")
    fields = list(dict.fromkeys(name for one in value for name in one))
    writer = csv.DictWriter(sys.stdout, fields, lineterminator="\n")
    writer.writeheader()
    for one in value:
        writer.writerow({name: _csv_cell(cell) for name, cell in one.items()})


def _csv_cell(value: Any) -> Any:
    import json

    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


# -- for people ------------------------------------------------------------------------------------------


def print_items(items: Sequence[Item], columns: str, empty: str) -> None:
    """Print objects as a table.

    :param columns: names of the fields, separated by spaces (``id state series.path``); empty for all.
    """
    names = columns.split()
    if not names or FORMAT.get() is Format.WIDE:
        names = list(dict.fromkeys(name for one in items for name in one))
    rows = ([format_cell(name, find_field(one, name), one.get("unit")) for name in names] for one in items)
    print_table(format_titles(names), rows, empty)


def find_field(item: Any, name: str) -> Any:
    """Return a field of an object, or of an object in it (``series.path``); None if it is missing."""
    if not isinstance(item, Mapping):
        return None
    if name in item:
        return item[name]
    first, _, rest = name.partition(".")
    return find_field(item.get(first), rest) if rest else None


def select_items(document: Item, place: str) -> list[Item]:
    """Return the objects of a list within a document (``items``, ``items.paths``).

    An object of an inner list has the fields of the object around it, too.
    """
    first, *inner = place.split(".")
    found = _members(document.get(first))
    for name in inner:
        found = [{**_without_lists(one), **member} for one in found for member in _members(one.get(name))]
    unit = find_unit(document)
    return found if unit is None else [{"unit": unit, **one} for one in found]


def find_unit(document: Item) -> str | None:
    """Return the unit of the values of an object: its own, or that of its metric."""
    from adon.api.base import UNITS

    metric = document.get("metric") or find_field(document, "series.metric")
    return document.get("unit") or UNITS.get(str(metric))


def _members(value: Any) -> list[Item]:
    if isinstance(value, Mapping):
        return [{"name": name, **one} for name, one in value.items()]
    return list(value or ())


def _without_lists(item: Item) -> Item:
    return {name: value for name, value in item.items() if not isinstance(value, list)}


def print_object(document: Item, title: str = "") -> None:
    """Print an object: a line per value, then a table per list of objects."""
    if title:
        typer.echo(f"\n{title}")
    lines = list(_value_lines(document))
    width = max((len(name) for name, _ in lines), default=0)
    for name, text in lines:
        typer.echo(f"{name:<{width}}  {text}")
    for name, value in document.items():
        if _is_table(value):
            typer.echo(f"\n{format_title(name)}")
            print_items(value, "", "")


def _value_lines(document: Item) -> Iterator[tuple[str, str]]:
    unit = find_unit(document)
    titles = format_titles(list(document))
    for (name, value), title in zip(document.items(), titles, strict=True):
        if _is_table(value):
            continue
        if isinstance(value, Mapping) and value and not {"value", "unit"} <= set(value):
            yield from _flatten(value, title, unit)
        else:
            yield title, format_cell(name, value, unit)


def _flatten(value: Item, title: str, unit: str | None) -> Iterable[tuple[str, str]]:
    for name, one in value.items():
        yield f"{title}: {format_title(name)}", format_cell(name, one, unit)


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)
