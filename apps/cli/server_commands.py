"""Processes of ADON on this machine, and backups of their data."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apps.cli.document_printer import print_document

if TYPE_CHECKING:
    from apps.backup.manifest import Manifest

Data = Annotated[Path, typer.Option(metavar="DIR", help="The folder given to adon serve.")]


def serve(
    config: Annotated[Path, typer.Option(help="The configuration file.")],
    data: Annotated[Path, typer.Option(help="The folder of databases and sockets.")],
    admin_token_file: Annotated[
        Path | None, typer.Option(help="Write the first admin token here instead of printing it.")
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The state's database (default: SQLite in the data folder)."),
    ] = None,
) -> None:
    """Run the controller, the collector and the web process.

    With controller.ha in the configuration and the same --store on every host, one controller is active and
    the others are standbys.
    """
    from apps.serve import run

    raise typer.Exit(run(config, data, admin_token_file, store))


def reload(
    data: Annotated[Path, typer.Option(help="The data folder of the adon serve that is to reload.")],
) -> None:
    """Reload the configuration of adon serve.

    Only processes that read a changed section restart.  A file with a problem changes nothing.
    """
    from apps.link import SUPERVISOR, LinkClient

    link = LinkClient(data / SUPERVISOR, "cli", "adon serve")
    try:
        done = link.call("reload", {}, timeout=60.0)
    finally:
        link.close()
    if print_document(done):
        return
    if not done["changes"]:
        typer.echo("the configuration has the same values; no change")
    else:
        restarted = ", ".join(done["restarted"])
        typer.echo(f"changed: {', '.join(done['changes'])}; restarted: {restarted}")


def collect(
    config: Annotated[Path, typer.Option(help="The configuration file.")],
    data: Annotated[Path, typer.Option(help="Data folder of this collector.")],
    controller: Annotated[
        Path | None,
        typer.Option(metavar="SOCKET", help="The controller's socket (default: in the data folder)."),
    ] = None,
) -> None:
    """Run a standby collector.

    It takes over when the active collector ends.  Both need the same archive: measurements.archive_url.
    """
    from apps.collector.__main__ import main as run

    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    where = [] if controller is None else ["--controller", str(controller)]
    raise typer.Exit(run(["--config", str(config), "--data", str(data), *where]))


def demo(
    report: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the reports.")] = Path(
        "reports/demo"
    ),
    stay: Annotated[bool, typer.Option("--stay", help="Keep all and open Mininet's prompt.")] = False,
    seed: Annotated[int | None, typer.Option(help="Choose the transfers' ports.")] = None,
    platform: Annotated[str | None, typer.Option(help="host, which needs root; a guest is too slow.")] = None,
) -> None:
    """Run figure 18 of the thesis and an alarm that moves a flow.

    Takes about 5 minutes on a network of real switches and hosts on this machine.

    Exit status: 0 if all checks hold, 1 if one does not, 130 after Ctrl-C, which removes all that was built.
    """
    from mininet_topos.demo import run_demo

    raise typer.Exit(run_demo(report, stay=stay, seed=seed, platform=platform))


def backup(
    target: Annotated[Path, typer.Argument(help="The new file, or a folder to put it in.")],
    data: Data,
    config: Annotated[Path | None, typer.Option(help="Add this configuration file.")] = None,
    measurements: Annotated[bool, typer.Option(help="Include the measurement archive.")] = True,
) -> None:
    """Copy a data folder into one file, also while adon serve runs.

    The file contains state, users, token hashes, audit log and accepted configuration, but no secret files
    that the configuration names.  Only its owner can read it.
    """
    from apps.backup.making import make, sources

    made = make(sources(data, measurements=measurements, config=config), target, time.time())
    if not print_document(
        {"file": str(made.file), "size": made.size, "manifest": made.manifest.model_dump(mode="json")}
    ):
        typer.echo(f"{made.file}: {made.size} bytes: {_list_files(made.manifest)}")


def restore(
    file: Annotated[Path, typer.Argument(help="File of adon backup.")],
    data: Annotated[Path, typer.Option(metavar="DIR", help="A new or an empty folder.")],
) -> None:
    """Restore a backup into a new folder, completely or not at all.

    The command checks checksums, databases and versions first.  It refuses another schema.
    """
    from apps.backup.restoring import restore as put_back

    found = put_back(file, data)
    if not print_document({"data": str(data), "manifest": found.model_dump(mode="json")}):
        typer.echo(f"{data}: as of {found.made}: {_list_files(found)}")


def _list_files(manifest: Manifest) -> str:
    return ", ".join(
        name if one.schema_revision is None else f"{name} (schema {one.schema_revision})"
        for name, one in manifest.files.items()
    )
