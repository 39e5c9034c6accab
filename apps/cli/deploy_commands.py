"""``adon deploy``: the files that make a service of ADON; printed, never put in place."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apps.cli.common import print_json
from apps.cli.document_printer import CommandGroup, print_document

if TYPE_CHECKING:
    from apps.deploy.web_servers import Kind

Config = Annotated[Path, typer.Option(help="ADON's configuration: its address for browsers, its port.")]
Certificate = Annotated[Path, typer.Option(help="PEM file with the certificate and its chain.")]
Key = Annotated[Path, typer.Option(help="PEM file with the key.")]
Listen = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Listen there only; default: everywhere.")
]

app = CommandGroup("Files for a service of ADON (docs/install.md).")


@app.command("list")
def list_() -> None:
    """List the files that adon deploy show prints."""
    from apps.deploy.kept import names

    if not print_document(names()):
        typer.echo("\n".join(names()))


@app.command(formats=False)
def show(name: Annotated[str, typer.Argument(help="One of adon deploy list.")]) -> None:
    """Print a file, with the installation folder filled in."""
    from apps.deploy.kept import text

    typer.echo(text(name, Path(sys.prefix)), nl=False)


@app.command()
def grafana() -> None:
    """Print a Grafana dashboard for import."""
    from apps.deploy.grafana import dashboard

    found = dashboard()
    if not print_document(found):
        print_json(found)


@app.command(formats=False)
def nginx(config: Config, certificate: Certificate, key: Key, listen: Listen = None) -> None:
    """Print a configuration of nginx as a reverse proxy."""
    _web_server("nginx", config, certificate, key, listen)


@app.command(formats=False)
def apache(config: Config, certificate: Certificate, key: Key, listen: Listen = None) -> None:
    """Print a configuration of Apache as a reverse proxy."""
    _web_server("apache", config, certificate, key, listen)


@app.command()
def perfsonar(
    site: Annotated[str, typer.Argument(metavar="SITE", help="The site's measurement point.")],
    config: Annotated[Path, typer.Option(help="ADON's configuration: its points and tests.")],
    collector: Annotated[str, typer.Option(metavar="ADDRESS", help="Address that the collector asks from.")],
) -> None:
    """Print archive, limits and subscription for a perfSONAR site."""
    from adon.config import load
    from apps.deploy.perfsonar import site_files

    found = site_files(load(config), site, collector)
    if not print_document(found):
        print_json(found)


def _web_server(kind: Kind, config: Path, certificate: Path, key: Path, listen: str | None) -> None:
    from adon.config import load
    from apps.deploy.web_servers import Place, advice, web_server_configuration

    configuration = load(config)
    typer.echo(web_server_configuration(kind, configuration, Place(certificate, key, listen)), nl=False)
    for line in advice(configuration):
        typer.echo(f"{config}: {line}", err=True)
