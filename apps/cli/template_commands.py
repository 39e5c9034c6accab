"""``adon template`` and ``adon backtest``: templates of the catalog and of files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from adon.errors import InvalidInput, Problem
from apps.cli.api_completion import complete
from apps.cli.common import QuietFlag, client, drop_missing, naming
from apps.cli.document_printer import FORMAT, CommandGroup, Format, print_document
from apps.cli.draft_commands import draft, from_rspec
from apps.cli.text_files import check_all
from apps.cli.value_format import parse_past

app = CommandGroup("Application templates.")
backtests = CommandGroup("Backtests of template versions on the server.")
app.command()(draft)
app.command("from-rspec")(from_rspec)

FORMS = {".json": "json", ".xml": "rspec", ".rspec": "rspec"}
"""Form of a template's text by the end of its file's name; YAML for all others."""

TemplateFile = Annotated[Path, typer.Argument(help="Template file (YAML).")]
Since = Annotated[str, typer.Option(metavar="TIME", help="2026-11-21T02:00:00Z, or how long ago: '7 d'.")]
Until = Annotated[str | None, typer.Option(metavar="TIME", help="As --since (default: now).")]


def read_template_file(file: Path) -> dict[str, Any]:
    """Return a template file as JSON values; a version that it does not name is left out.

    :raises InvalidInput: naming file, line and field.
    """
    from adon.templates_catalog.model import Template
    from adon.yamlfile import load_model

    template = load_model(file, Template)
    return template.model_dump(mode="json", by_alias=True, exclude_unset=True)


@app.command()
def validate(files: Annotated[list[Path], typer.Argument(help="Template files (YAML).")]) -> None:
    """Check template files without a server."""

    def check_file(file: Path) -> tuple[dict[str, object], str]:
        name = read_template_file(file)["name"]
        return {"name": name}, f"{name} is valid"

    check_all("FILE", files, check_file, as_json=FORMAT.get() is Format.JSON)


@app.command()
def check(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="YAML, JSON (.json), or a GENI RSpec (.xml, .rspec).")],
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
    if print_document(found):
        return
    for problem in problems:  # links of an RSpec that are no template
        typer.echo(str(problem), err=True)
    name = None if found.template is None else found.template.get("name")
    typer.echo(f"{file}: is valid" if name is None else f"{file}: would be {name}@{found.next_version}")


@app.command()
def add(ctx: typer.Context, file: TemplateFile, quiet: QuietFlag = False) -> None:
    """Save a template file as a new version."""
    saved = client(ctx).add_template(read_template_file(file))
    reference = f"{saved['name']}@{saved.get('version')}"
    if quiet:
        typer.echo(reference)
    elif not print_document(saved):
        typer.echo(f"{reference} is in the catalog")


@app.command()
def show(
    ctx: typer.Context,
    reference: Annotated[
        str,
        typer.Argument(
            metavar="NAME[@VERSION]", help="As in soykb, or soykb@3.", autocompletion=complete("template")
        ),
    ],
    rspec: Annotated[
        tuple[str, str] | None,
        typer.Option("--rspec", metavar="SITE SITE", help="As GENI RSpec v3, between these sites."),
    ] = None,
    next_version: Annotated[
        bool, typer.Option("--next-version", help="Leave out the version, to save a changed file.")
    ] = False,
) -> None:
    """Show a template as YAML or as GENI RSpec."""
    from adon import yamlfile
    from adon.templates_catalog.model import Template
    from adon.templates_catalog.rspec_xml import export_rspec
    from adon.templates_catalog.template_text import write_template

    name, _, version = reference.partition("@")
    body = client(ctx).template(name, version or None)
    if rspec is not None:
        text = export_rspec(yamlfile.check_model(body, Template), *rspec)
        if not print_document({"rspec": text}):
            typer.echo(text)
    elif not print_document(body):
        typer.echo(write_template(body, version=not next_version), nl=False)


@app.command()
def diff(
    ctx: typer.Context,
    template: Annotated[
        str, typer.Argument(help="Name of the template.", autocompletion=complete("template"))
    ],
    from_: Annotated[int | None, typer.Option("--from", help="Version; default: the one before.")] = None,
    to: Annotated[int | None, typer.Option("--to", help="Version; default: the latest.")] = None,
) -> None:
    """Compare two versions of a template, as diff -u does."""
    with naming({"from": "--from", "to": "--to"}):
        found = client(ctx).template_diff(template, from_, to)
    if not print_document(found):
        typer.echo(found.text.rstrip("\n") if found.changes else "No differences.")


@app.command()
def backtest(
    file: TemplateFile,
    config: Annotated[Path, typer.Option(help="The configuration file.")],
    since: Since,
    until: Until = None,
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="The folder of the databases.")] = None,
    store: Annotated[
        str | None, typer.Option(envvar="ADON_STORE_URL", help="The state's database, if elsewhere.")
    ] = None,
    archive: Annotated[
        str | None, typer.Option(envvar="ADON_ARCHIVE_URL", help="The archive's database, if elsewhere.")
    ] = None,
    most_results: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Refuse to replay more measurements than this.")
    ] = None,
) -> None:
    """Replay recorded flows with another version of a template.

    Nothing is changed; no server is needed.

    Requests and measurements since then pass through the same broker, once with each version.  The result
    has, per flow, its paths, the time of QSpec violation, its duration, and the time saved or lost.

    The command opens the databases read-only.
    """
    from adon.config import load
    from adon.templates_catalog.model import Template
    from adon.yamlfile import load_model
    from apps.cli.template_backtest import Sources, format_backtest, print_backtest, run_backtest

    now = datetime.now(UTC)
    begins = _timestamp(since, now, "since")
    ends = now.timestamp() if until is None else _timestamp(until, now, "until")
    if ends <= begins:
        raise InvalidInput.of("until", "is not after since")
    sources = Sources(load(config), data, store, archive, most_results)
    found = format_backtest(run_backtest(load_model(file, Template), sources, begins, ends))
    if not print_document(found):
        print_backtest(found)


def _timestamp(text: str, now: datetime, option: str) -> float:
    return datetime.fromisoformat(parse_past(text, now, option)).timestamp()


@backtests.command()
def start(
    ctx: typer.Context, file: TemplateFile, since: Since, until: Until = None, quiet: QuietFlag = False
) -> None:
    """Start a backtest of a template on the server.

    The command prints the id of the backtest and does not wait for its result.
    """
    now = datetime.now(UTC)
    question = {
        "template": read_template_file(file),
        "since": parse_past(since, now, "--since"),
        "until": None if until is None else parse_past(until, now, "--until"),
    }
    with naming({"since": "--since", "until": "--until"}):
        created = client(ctx).start_backtest(drop_missing(question))
    if quiet:
        typer.echo(created.id)
    elif not print_document(created):
        typer.echo(f"{created.id} {created.state}; show it with: adon backtest show {created.id}")
