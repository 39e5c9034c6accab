"""``adon template versions`` and ``check``: a template's past in the catalog; a file checked there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adon.errors import InvalidInput, Problem
from apps.cli.arguments import TemplateName
from apps.cli.common import JsonFlag, client, naming, print_json, print_table

FORMS = {".json": "json", ".xml": "rspec", ".rspec": "rspec"}
"""How a template's text is written, by the end of its file's name; YAML for all others."""


def versions(ctx: typer.Context, name: TemplateName, json_: JsonFlag = False) -> None:
    """List the versions of a template with author and time."""
    from apps.cli.times import at

    found = client(ctx).versions(name)
    if json_:
        print_json(found)
        return
    rows = ((f"{one.name}@{one.version}", at(one.saved_at), one.author, one.title) for one in found)
    print_table(("Template", "Saved", "By", "Title"), rows, "")


def check(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="YAML, JSON (.json), or a GENI RSpec (.xml, .rspec).")],
    json_: JsonFlag = False,
) -> None:
    """Check a template file on the server without saving it.

    The output has the number of the version that the file would get.  Exit status 2 if it is not valid.
    """
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise InvalidInput(Problem("", f"cannot be read: {error}", str(file))) from error
    with naming({"text": "FILE", "form": "FILE"}):
        found = client(ctx).check_template(text, FORMS.get(file.suffix.lower(), "yaml"))
    problems = [
        Problem(one.field, one.cause, str(file), one.line, one.column, one.code) for one in found.problems
    ]
    if not found.ok:
        raise InvalidInput(problems)
    if json_:
        print_json(found)
        return
    for problem in problems:  # of an RSpec, the links that are no template
        typer.echo(str(problem), err=True)
    name = None if found.template is None else found.template.get("name")
    typer.echo(f"{file}: is valid" if name is None else f"{file}: would be {name}@{found.next_version}")
