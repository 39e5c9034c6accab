"""Write docs/reference/rest.md and cli.md from the API's description and the parser of ``adon``.

Run ``python -m docs._generate`` after a change of a route, a command or its help; a test compares the pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from adon.api.base import PREFIX
from adon.api.routes import ROUTES
from apps.cli.command_table import command_of_route
from apps.cli.main import GROUPS, app
from apps.rest.web_app import create_app

FOLDER = Path(__file__).parent / "reference"
NOTE = "<!-- Written by docs/_generate.py; do not edit. -->\n"
REST = f"""# REST operations

{NOTE}
Addresses are relative to `{PREFIX}`. A token needs the *permission*; `adon role list` shows the roles that
have it. `GET /openapi.json` describes parameters, bodies, answers and failures. The
[REST API](../rest-api.md) page explains the conventions.
"""
CLI = f"""# Commands

{NOTE}
`adon COMMAND --help` prints the options. The [command line](../cli.md) page explains the conventions.
"""
HIDDEN = {"If-Match", "If-None-Match", "Idempotency-Key", "limit", "before", "after"}
"""Parameters that the conventions describe."""


def rest_page() -> str:
    """Return a table of operations per group of routes."""
    document = create_app(None).api_doc  # type: ignore[arg-type]  # the description needs no services
    text = REST
    commands = command_of_route()
    groups: dict[str, list[str]] = {}
    for route in ROUTES.values():
        operation = document["paths"][PREFIX + route.path][route.method.lower()]
        groups.setdefault(route.tag.description, []).append(
            _operation_row(route, operation, commands[route.name])
        )
    for title, rows in groups.items():
        text += f"\n## {title}\n\n" + table(("operation", "purpose", "query", "permission", "command"), rows)
    return text


def _operation_row(route: Any, operation: Mapping[str, Any], command: str) -> str:
    query = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
    shown = ", ".join(f"`{name}`" for name in query if name not in HIDDEN)
    permission = "none" if route.anonymous else f"`{route.action}`"
    summary = operation["summary"].rstrip(".").replace("``", "`")
    cells = (f"`{route.method} {route.path}`", summary, shown, permission, f"`adon {command}`")
    return row(cells)


def cli_page() -> str:
    """Return a table of commands per group of users."""
    commands: Mapping[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    panels: dict[str, list[str]] = {panel: [] for panel in GROUPS}
    for name in sorted(commands):
        panels[commands[name].rich_help_panel] += [
            row((f"`adon {_usage(command, words)}`", command.help.partition("\n\n")[0].rstrip(".")))
            for words, command in leaves(commands[name], name)
        ]
    text = CLI
    for panel, rows in panels.items():
        text += f"\n## {panel}\n\n" + table(("command", "purpose"), rows)
    return text


def leaves(command: Any, words: str) -> Iterator[tuple[str, Any]]:
    """Yield each command below a group with its words, in alphabetical order."""
    if not hasattr(command, "commands"):
        yield words, command
        return
    for name in sorted(command.commands):
        yield from leaves(command.commands[name], f"{words} {name}")


def _usage(command: Any, words: str) -> str:
    """Return the words of a command with its arguments and required options."""
    parts = [words]
    for one in command.params:
        value = one.metavar or one.name.strip("_").upper()
        if one.param_type_name == "argument":
            value += "..." if one.nargs == -1 and "..." not in value else ""
            parts.append(value if one.required or value.startswith("[") else f"[{value}]")
        elif one.required:
            parts.append(f"{one.opts[0]} {value}")
    return " ".join(parts)


def table(heads: tuple[str, ...], rows: list[str]) -> str:
    """Return a table in Markdown."""
    return "\n".join((row(heads), row(("---",) * len(heads)), *rows)) + "\n"


def row(cells: tuple[str, ...]) -> str:
    """Return a line of a table."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def pages() -> dict[str, str]:
    """Return the text of each page by its file's name."""
    return {"rest.md": rest_page(), "cli.md": cli_page()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")
