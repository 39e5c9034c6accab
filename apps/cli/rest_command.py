"""Command that calls one route of the REST API and prints its answer.

The arguments and options are the fields of the route's path and request.  The model of the request checks
them before they are sent.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic import BaseModel, BeforeValidator, WithJsonSchema
from pydantic.fields import FieldInfo

from adon.api.base import MOST
from adon.api.route import Route
from apps.cli.api_completion import complete
from apps.cli.common import QuietFlag

CURSORS = {"before", "after"}
"""Fields of a query that the client sets itself."""
OPTIONS: Mapping[str, str] = {"source": "--from", "destination": "--to", "from_": "--from"}
"""Options that have another name than their field, in all commands."""
SIZES = {"bytes"}
"""Numbers that the command line takes with a unit."""
REQUIRED: Any = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class RestCommand:
    """See the module.

    :ivar name: words of the command.
    :ivar help: purpose.
    :ivar columns: fields of a list's items, separated by spaces; they are the columns of a table.
    :ivar tables: columns by the place of another list in the answer.
    :ivar items: field of the answer with the list of ``columns``.
    :ivar line: text of the answer, with its fields in braces, in place of all its fields.
    :ivar arguments: fields of the request that are positional, in order.
    :ivar fields: fields of the request that are options; all by default.
    :ivar options: options that have another name than their field.
    :ivar defaults: values of fields in place of those of the request.
    :ivar none: text for an empty list, with the action that fills it.
    """

    name: str
    route: Route[Any]
    help: str
    columns: str = ""
    tables: Mapping[str, str] = field(default_factory=dict)
    items: str = "items"
    line: str = ""
    arguments: tuple[str, ...] = ()
    fields: tuple[str, ...] | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    none: str = ""

    @property
    def empty(self) -> str:
        """Text for an empty list; by default it names the last word of the route's path."""
        return self.none or f"No {self.route.path.rpartition('/')[2].replace('-', ' ')}."

    @property
    def kind(self) -> str:
        """Kind of the object in the route's path."""
        return "" if self.route.subject is None else self.route.subject.kind

    @property
    def ids(self) -> Mapping[str, FieldInfo]:
        """Fields of the route's path."""
        return {} if self.route.subject is None else self.route.subject.ids.model_fields

    @property
    def request(self) -> type[BaseModel] | None:
        """Model of the body or of the query."""
        return self.route.body or self.route.query

    @property
    def request_fields(self) -> Mapping[str, FieldInfo]:
        """Fields of the request that the command line has."""
        known = {} if self.request is None else self.request.model_fields
        wanted = known.keys() - CURSORS if self.fields is None else {*self.fields, *self.arguments}
        return {name: one for name, one in known.items() if name in wanted}

    def label(self, name: str) -> str:
        """Return the argument or the option of a field, as usage and errors show it."""
        option = self.options.get(name, OPTIONS.get(name, f"--{name.replace('_', '-')}"))
        if name in self.ids:
            return self.kind.split()[-1].upper()
        return option.removeprefix("--").upper() if name in self.arguments else option


def build_command(row: RestCommand, carry_out: Callable[..., None]) -> Callable[..., None]:
    """Return the function of a command, with a parameter per field.

    :param carry_out: takes the row, Typer's context, and the values by field.
    """
    fields = row.request_fields
    parameters = [_parameter("ctx", typer.Context)]
    parameters += [_argument(row, name, one, row.kind) for name, one in row.ids.items()]
    parameters += [_argument(row, name, fields[name], name) for name in row.arguments]
    parameters += [_option(row, name, one) for name, one in fields.items() if name not in row.arguments]
    if row.route.created is not None:
        parameters.append(_parameter("quiet", QuietFlag, default=False))

    def run(ctx: typer.Context, **values: Any) -> None:
        carry_out(row, ctx, values)

    run.__doc__ = row.help
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _parameter(name: str, annotation: Any, default: Any = REQUIRED) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _argument(row: RestCommand, name: str, one: FieldInfo, kind: str) -> inspect.Parameter:
    """Return a positional parameter; only a list can be left out."""
    info = typer.Argument(metavar=row.label(name), help=_help(one), autocompletion=complete(kind))
    kind_of_value = _option_type(name, one)
    if kind_of_value == list[str]:
        return _parameter(name, Annotated[list[str] | None, info], default=None)
    return _parameter(name, Annotated[kind_of_value, info])


def _option(row: RestCommand, name: str, one: FieldInfo) -> inspect.Parameter:
    info = typer.Option(row.label(name), help=_help(one), autocompletion=complete(name))
    default, kind_of_value = _default(row, name, one), _option_type(name, one)
    return _parameter(
        name, Annotated[kind_of_value | None if default is None else kind_of_value, info], default
    )


def _default(row: RestCommand, name: str, one: FieldInfo) -> Any:
    if name in row.defaults:
        return row.defaults[name]
    if one.is_required():
        return REQUIRED
    shows_default = isinstance(one.default, bool) or (name == "limit" and one.default != MOST)
    return one.default if shows_default else None


def _help(one: FieldInfo) -> str:
    """Return the description of a field with its choices or an example."""
    text = (one.description or "").replace("`", "")
    choices = _choices(one)
    values = f"one of {', '.join(choices)}" if choices else _example(one)
    found = ": ".join(part for part in (text, values) if part)
    return f"{found[:1].upper()}{found[1:]}." if found else ""


def _example(one: FieldInfo) -> str:
    _, added = _core(one.annotation)
    for part in (*one.metadata, *added):
        schema = part.json_schema or {} if isinstance(part, WithJsonSchema) else {}
        if examples := schema.get("examples"):
            return f"such as '{examples[-1]}'"
        if schema.get("format") == "date-time":
            return "such as 2026-11-21T06:00:00Z"
    return ""


def _choices(one: FieldInfo) -> list[str]:
    core, _ = _core(one.annotation)
    if get_origin(core) is Literal:
        return [str(choice) for choice in get_args(core)]
    if isinstance(core, type) and issubclass(core, Enum):
        return [str(choice.value) for choice in core]
    return []


def _option_type(name: str, one: FieldInfo) -> Any:
    """Return the type of a value on the command line: quantities with a unit and times are text."""
    core, added = _core(one.annotation)
    if get_origin(core) in (list, tuple):
        return list[str]
    is_text = name in SIZES or any(isinstance(part, BeforeValidator) for part in (*one.metadata, *added))
    return core if core in (bool, int, float) and not is_text else str


def _core(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a type without ``Annotated`` and ``None``, and what ``Annotated`` adds to it."""
    if get_origin(annotation) is Annotated:
        inner, *added = get_args(annotation)
        core, more = _core(inner)
        return core, (*added, *more)
    if get_origin(annotation) in (Union, UnionType):
        others = [one for one in get_args(annotation) if one is not NoneType]
        return _core(others[0]) if len(others) == 1 else (str, ())
    return annotation, ()
