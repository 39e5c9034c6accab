"""``adon template``: check templates here, add them to the catalog there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from adon.errors import InvalidInput
from apps.cli import checking, drafting, editing, rspec_drafts
from apps.cli.arguments import TemplateReference
from apps.cli.common import JsonFlag, QuietFlag, client, print_json, print_table
from apps.cli.text_files import check_all

app = typer.Typer(help="Application templates.", no_args_is_help=True)
app.command()(drafting.draft)
app.command()(editing.edit)
app.command()(editing.diff)
app.command()(checking.versions)
app.command()(checking.check)
app.command("from-rspec")(rspec_drafts.from_rspec)


@app.command()
def validate(
    files: Annotated[list[Path], typer.Argument(help="Template files (YAML).")], json_: JsonFlag = False
) -> None:
    """Check template files without a server."""
    from adon.templates_catalog.model import Template
    from adon.yamlfile import load_model

    def valid(file: Path) -> tuple[dict[str, object], str]:
        name = load_model(file, Template).name
        return {"name": name}, f"{name} is valid"

    check_all("FILE", files, valid, as_json=json_)


@app.command()
def add(
    ctx: typer.Context,
    file: Path,
    quiet: QuietFlag = False,
    json_: JsonFlag = False,
) -> None:
    """Save a template file as a new version."""
    print_saved(client(ctx).add_template(document_of(file)), quiet=quiet, json_=json_)


def print_saved(saved: Mapping[str, Any], *, quiet: bool, json_: bool) -> None:
    """What became of a template that was sent."""
    reference = f"{saved['name']}@{saved.get('version')}"
    if json_:
        print_json(saved)
    else:
        typer.echo(reference if quiet else f"{reference} is in the catalog")


def document_of(file: Path) -> dict[str, Any]:
    """What a template file says, and only that: a version that it does not name is the catalog's to give.

    :raises InvalidInput: naming file, line and field.
    """
    from adon.templates_catalog.model import Template
    from adon.yamlfile import load_model

    template = load_model(file, Template)
    return template.model_dump(mode="json", by_alias=True, exclude_unset=True)


@app.command("list")
def list_(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """List the latest version of every template."""
    found = client(ctx).templates()
    if json_:
        print_json(found)
        return
    rows = ((f"{one.name}@{one.version}", str(one.priority), one.title) for one in found)
    print_table(
        ("Template", "Priority", "Title"), rows, "the catalog is empty; fill it with: adon template add FILE"
    )


@app.command()
def show(
    ctx: typer.Context,
    reference: TemplateReference,
    rspec: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--rspec", metavar="SITE SITE", help="As GENI RSpec v3; names the nodes of a new document."
        ),
    ] = None,
    json_: JsonFlag = False,
) -> None:
    """Show a template with a picture of its lookup tables."""
    from adon import yamlfile
    from adon.templates_catalog.model import Template
    from adon.templates_catalog.rspec_xml import export_rspec
    from adon.templates_catalog.template_text import write_template
    from apps.cli.bars import picture

    name, _, version = reference.partition("@")
    body = client(ctx).template(name, version or None)
    if rspec is None and json_:
        print_json(body)
        return
    template = yamlfile.check_model(body, Template)
    if rspec is not None:
        text = export_rspec(template, *rspec)
        print_json({"rspec": text}) if json_ else typer.echo(text)
        return
    typer.echo(write_template(body), nl=False)
    for metric, table in template.tables.items():
        typer.echo(f"\n{metric}: value, score{' (stepped)' if table.step else ''}")
        for line in picture(metric, table):
            typer.echo(line)


@app.command()
def backtest(
    file: Annotated[Path, typer.Argument(help="A template file (YAML): the version to try.")],
    config: Annotated[Path, typer.Option(help="The configuration file.")],
    since: Annotated[str, typer.Option(metavar="TIME", help="2026-11-21T02:00:00Z, or how long ago: '7 d'.")],
    until: Annotated[str | None, typer.Option(metavar="TIME", help="As --since (default: now).")] = None,
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
    json_: JsonFlag = False,
) -> None:
    """Replay recorded flows with another version of a template.

    Nothing is changed; no server is needed.

    Requests and measurements since then pass through the same broker, once with each version.  The result
    has, per flow, its paths, the time of QSpec violation, its duration, and the time saved or lost.

    The command opens the databases read-only.
    """
    import time

    from adon.config import load
    from adon.explain.backtest.comparison import backtest as played
    from adon.templates_catalog.catalog import Catalog
    from adon.templates_catalog.model import Template
    from adon.yamlfile import load_model
    from apps.cli.backtesting import MOST_RESULTS, archive_of, moment, past_of, show, to_json
    from apps.cli.databases import state

    configuration, template, now = load(config), load_model(file, Template), time.time()
    begins, ends = moment(since, now, "since"), now if until is None else moment(until, now, "until")
    if ends <= begins:
        raise InvalidInput.of("until", "is not after since")
    with (
        state(data if store is None else None, store) as kept,
        archive_of(configuration, data, archive) as held,
    ):
        catalog = Catalog.of(saved.template for saved in kept.templates())
        window = configuration.measurements.window
        past = past_of(kept, held, window, begins, ends, most_results or MOST_RESULTS)
        circuits = kept.circuits()
    found = played(configuration, catalog, past, template, circuits)
    if json_:
        print_json(to_json(found))
    else:
        show(found)
