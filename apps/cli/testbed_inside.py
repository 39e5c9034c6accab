"""``adon testbed ping|shell``: into a test network that stands."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from adon.errors import InvalidInput, Unavailable
from apps.cli.common import EXIT_DIFFERS, JsonFlag, print_json

if TYPE_CHECKING:
    from mininet_topos.standing.asked import Standing

AFTER_DASHES = "adon.after_dashes"
SHELL_SETTINGS = """PS1='\\[\\e[1;32m\\]'"$ADON_HOST"'\\[\\e[0m\\]:\\w\\$ '
alias ls='ls --color=auto' ip='ip -color=auto' grep='grep --color=auto'
"""
IN_FOLDER = 'cd -- "$1" 2>/dev/null || cd /; shift; exec "$@"'


class WithProgram(TyperCommand):
    """A command whose words after ``--`` are a program of their own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line up to the dashes."""
        end = args.index("--") if "--" in args else len(args)
        ctx.meta[AFTER_DASHES] = args[end + 1 :]
        return super().parse_args(ctx, args[:end])


def ping(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME] [PATH]...", help="Which paths (default: all that are measured)."),
    ] = None,
    count: Annotated[int, typer.Option("--count", "-c", min=1, max=1000, help="Pings on each.")] = 5,
    json_: JsonFlag = False,
) -> None:
    """Ping over each path, by the rules that ADON has installed for it."""
    from mininet_topos import old_platforms as platforms
    from mininet_topos.standing import found, pings

    name, paths = found.split(words or [])
    bed = platforms.running(found.one(name).folder)
    answers = [pings.ping(bed, way, count) for way in pings.ways(bed.network, paths)]
    if json_:
        print_json([answer.document() for answer in answers])
    for answer in () if json_ else answers:
        typer.echo(str(answer))
        if answer.rule is not None:
            typer.echo(f"    {answer.rule}")
    if not all(answer.times and answer.rule for answer in answers):
        raise typer.Exit(EXIT_DIFFERS)


def shell(
    ctx: typer.Context,
    words: Annotated[list[str], typer.Argument(metavar="[NAME] HOST [-- PROGRAM...]", help="Where.")],
) -> None:
    """A shell in a host of a test network, or one program there with its exit status.

    It begins in the folder that you are in, or in / where the test network has none of that path.
    """
    from mininet_topos import old_platforms as platforms
    from mininet_topos.standing import found

    name, rest = found.split(words)
    if len(rest) != 1:
        found.one(rest[0] if len(rest) > 1 else name)  # a name that does not stand is said first
        raise InvalidInput.of("host", "say one host; a program stands after --")
    standing = found.one(name)
    bed = platforms.running(standing.folder)
    program = list(ctx.meta[AFTER_DASHES])
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    argv = _in_folder(program or _shell(standing, rest[0]), _here())
    command = bed.terminal(argv, rest[0]) if interactive else bed.inside(argv, rest[0])
    _become(command)


def _shell(standing: Standing, host: str) -> list[str]:
    settings = standing.folder / "shell"
    settings.write_text(SHELL_SETTINGS)
    return ["env", f"ADON_HOST={host}", "bash", "--rcfile", str(settings)]


def _here() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:  # somebody has removed it
        return "/"


def _in_folder(argv: Sequence[str], folder: str) -> list[str]:
    """The command that runs another in this folder where it is there, else in ``/``."""
    return ["sh", "-c", IN_FOLDER, "sh", folder, *argv]


def _become(command: Sequence[str]) -> None:
    """The command in our place: its signals, its terminal, its exit status."""
    sys.stdout.flush()
    try:
        os.execvp(command[0], list(command))  # noqa: S606 - that is what is asked for
    except OSError as error:
        raise Unavailable(f"{command[0]}: {error.strerror}") from error
