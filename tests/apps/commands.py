"""All commands of ``adon``, as the parser knows them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import typer
from click.testing import Result

from apps.cli.main import app


@cache
def commands() -> dict[str, Any]:
    """``flow submit`` -> the command."""
    return dict(_below(typer.main.get_command(app), ""))


def _below(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    if hasattr(command, "commands"):
        for each, below in command.commands.items():
            yield from _below(below, f"{name} {each}".strip())
    else:
        yield name, command


def options(command: Any) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts}


def command_of(words: str) -> str:
    """The command that these words begin with."""
    return next(
        name for name in sorted(commands(), key=len, reverse=True) if f"{words} ".startswith(f"{name} ")
    )


def assert_json(found: Result, *, lines: bool = False) -> None:
    """With ``--json``: one document and nothing else; or if it failed, a problem document beside it.

    :param lines: of a stream: a document per line.
    """
    if found.exit_code in (0, 3):
        for text in found.stdout.splitlines() if lines else [found.stdout]:
            json.loads(text)
        return
    assert found.stdout == "", found.stdout
    document = json.loads(found.stderr.splitlines()[-1])
    assert {"type", "title", "status", "detail"} <= set(document)
    assert found.exit_code == (2 if document["title"] == "Invalid input" else 1)
