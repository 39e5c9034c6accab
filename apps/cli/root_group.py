"""Root of the command line: options at any place, and errors as lines or as a problem document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

import typer
from typer.core import TyperGroup

from adon.errors import AdonError, InvalidInput, NotAuthenticated, UnknownSchema
from apps.cli.common import EXIT_INPUT, EXIT_OTHER, PANELS, error_lines

USAGE: type[Exception] = cast(type[Exception], typer.BadParameter.__mro__[1])
"""Typer's exception for a command line that it cannot parse; it has no public name."""
ANYWHERE = ("--utc",)
"""Options of ``adon`` that may also follow any command."""
JSON_OPTIONS = {"--json", "--format=json"}


class RootGroup(TyperGroup):
    """Group of all commands; an error of ADON becomes lines, or a document, and an exit status."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the commands in the order of their panels."""
        return sorted(super().list_commands(ctx), key=lambda name: _rank(self.commands[name]))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line; move the options that may stand anywhere to its front."""
        end = args.index("--") if "--" in args else len(args)
        own, rest = args[:end], args[end:]
        moved = [one for one in own if one in ANYWHERE]
        joined = " ".join(own).replace("--format json", "--format=json")
        ctx.meta["adon.json"] = not JSON_OPTIONS.isdisjoint(joined.split(" "))
        return super().parse_args(ctx, [*moved, *(one for one in own if one not in ANYWHERE), *rest])

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        as_json = bool(ctx.meta.get("adon.json"))
        try:
            return super().invoke(ctx)
        except AdonError as error:
            origin = ctx.meta.get("adon.token")
            if isinstance(error, NotAuthenticated) and origin is not None:
                error = NotAuthenticated(f"{error} (the one of {origin}; with a good one: adon login)")
            print_error(error, as_json=as_json)
            refused = isinstance(error, InvalidInput | UnknownSchema)
            raise typer.Exit(EXIT_INPUT if refused else EXIT_OTHER) from error
        except USAGE as error:
            if not as_json:
                raise
            text = getattr(error, "format_message", error.__str__)()
            print_error(InvalidInput.of(_parameter_of(error), str(text)), as_json=True)
            raise typer.Exit(EXIT_INPUT) from error


def _parameter_of(error: Exception) -> str:
    """Return the option or argument that a usage error is about; empty if there is none."""
    parameter = getattr(error, "param", None)
    names: list[str] = [*getattr(parameter, "opts", ()), str(getattr(error, "option_name", None) or "")]
    return max(names, key=len)


def _rank(command: Any) -> int:
    panel = getattr(command, "rich_help_panel", None)
    return PANELS.index(panel) if panel in PANELS else len(PANELS)


def print_error(error: AdonError, *, as_json: bool) -> None:
    """Print an error on standard error: a line per problem, or one problem document (RFC 9457)."""
    if as_json:
        from adon.problems import to_document

        document: Mapping[str, Any] = to_document(error)
        typer.echo(json.dumps(document, ensure_ascii=False), err=True)
        return
    for line in error_lines(error):
        typer.echo(line, err=True)
