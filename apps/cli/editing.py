"""``adon template edit`` and ``diff``: a template changed in an editor; two of them beside each other."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput, Problem, Unavailable
from apps.cli import completing as offered
from apps.cli.arguments import TemplateReference
from apps.cli.common import JsonFlag, QuietFlag, client, lines, print_json

if TYPE_CHECKING:
    from adon.api.templates import TemplateDiff
    from adon.client import Client

Side = Annotated[
    str,
    typer.Argument(help="A template (soykb, soykb@3), or a file (YAML).", autocompletion=offered.templates),
]
EDITOR = "vi"


def edit(
    ctx: typer.Context,
    reference: TemplateReference,
    quiet: QuietFlag = False,
    json_: JsonFlag = False,
) -> None:
    """Change a template in your editor and save the next version.

    After an error the command prints each problem and offers to open the editor again.  It keeps your text.
    """
    from apps.cli.template import print_saved

    api = client(ctx)
    before = unversioned(_text(api, reference))
    handle, name = tempfile.mkstemp(prefix="adon-", suffix=".yaml")
    file = Path(name)
    with os.fdopen(handle, "w", encoding="utf-8") as opened:
        opened.write(before)
    kept = True  # until it is in the catalog, or was not touched
    try:
        while (saved := _saved(api, file, before)) is None:
            pass
        kept = False
    except _Untouched:
        kept = False
        typer.echo("nothing was changed", err=True)
        return
    finally:
        if kept:
            typer.echo(f"your text is in {file}", err=True)
        else:
            file.unlink(missing_ok=True)
    print_saved(saved, quiet=quiet, json_=json_)


class _Untouched(Exception):
    """The editor was left without a change."""


def _saved(api: Client, file: Path, before: str) -> dict[str, Any] | None:
    """Edit and save once; None if it is to be edited again."""
    from apps.cli.template import document_of

    _edit(file)
    if file.read_text("utf-8") == before:
        raise _Untouched
    try:
        return api.add_template(document_of(file))
    except InvalidInput as error:
        if _again(error):
            return None
        raise


def _again(error: InvalidInput) -> bool:
    """Print the problems and ask whether to edit again; without a terminal, return False."""
    if not sys.stdin.isatty():
        return False
    for line in lines(error):
        typer.echo(line, err=True)
    return typer.confirm("edit again?", default=True, err=True)


def _edit(file: Path) -> None:
    """Have somebody change a file.

    :raises Unavailable: if there is no editor, or it fails.
    """
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or EDITOR
    try:
        done = subprocess.run([*shlex.split(command), str(file)], check=False)
    except (OSError, ValueError) as error:
        raise Unavailable(f"the editor {command!r} cannot be started; set EDITOR to another one") from error
    if done.returncode != 0:
        raise Unavailable(f"the editor {command!r} ended with status {done.returncode}")


def unversioned(text: str) -> str:
    """A template as text without its version: the catalog gives the next one."""
    return re.sub(r"(?m)^version: *[0-9]+ *\n", "", text)


def diff(
    ctx: typer.Context,
    old: Side,
    new: Annotated[
        str | None, typer.Argument(help="As the first one.", autocompletion=offered.templates)
    ] = None,
    json_: JsonFlag = False,
) -> None:
    """Compare two templates, as diff -u does.

    With one name: the difference between that version and the one before it.
    """
    import difflib

    api = client(ctx)
    if new is None:
        _print_changes(api.template_diff(*_to_version(old)), json_=json_)
        return
    before, after = (_side(api, one).splitlines() for one in (old, new))
    found = list(difflib.unified_diff(before, after, old, new, lineterm=""))
    if json_:
        print_json({"old": old, "new": new, "equal": not found, "lines": found})
        return
    for line in found:
        typer.echo(line)
    if not found:
        typer.echo("no differences")


def _to_version(reference: str) -> tuple[str, None, int | None]:
    """What is asked for to see how a version came about: its name, from the one before it, to itself.

    :raises InvalidInput: if it names none, or no version such as 3.
    """
    name, mark, version = reference.partition("@")
    if not name or (mark and not version.isdecimal()):
        raise InvalidInput(Problem("template", f"{reference[:80]!r} is none such as soykb or soykb@3"))
    return name, None, int(version) if mark else None


def _print_changes(found: TemplateDiff, *, json_: bool) -> None:
    if json_:
        print_json(found)
    elif not found.changes:
        typer.echo("no differences" if found.before != found.after else "there is no version before")
    else:
        typer.echo(found.text.rstrip("\n"))


def _side(api: Client, name: str) -> str:
    from adon import yamlfile
    from adon.templates_catalog.model import Template

    if name.endswith((".yaml", ".yml")) or "/" in name:
        return yamlfile.dump(yamlfile.load_model(Path(name), Template))
    return _text(api, name)


def _text(api: Client, reference: str) -> str:
    name, _, version = reference.partition("@")
    if not name:
        raise InvalidInput(Problem("template", f"{reference[:80]!r} names none"))
    return api.template_text(name, version or None)
