"""``adon archive``: export and import of the measurement archive.

These commands open the archive itself, no server is asked; they may run beside the collector.  The
archive is the file in ``--data``, or a database by URL; a URL with a password in it belongs into the
environment (ADON_ARCHIVE_URL), where ``ps`` does not show it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput, Problem, Unavailable
from apps.cli.common import print_table
from apps.cli.document_printer import CommandGroup, print_document

if TYPE_CHECKING:
    from measurement.archive import Appended, Archive
    from measurement.archive.exchange import Progress

app = CommandGroup("Import, export and summary of the measurement archive.")

ARCHIVE = "measurements.db"
SHOWN = 20
"""Largest number of printed lines."""

Data = Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the archive.")]
Url = Annotated[
    str | None,
    typer.Option(envvar="ADON_ARCHIVE_URL", help="Database URL of the archive, if it is not a file."),
]
File = Annotated[Path, typer.Argument(help="Ends in .csv.")]


@app.command("import")
def import_(
    file: File,
    data: Data = None,
    url: Url = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Import the good rows of a bad file.")] = False,
) -> None:
    """Add the measurements of a file to the archive.

    If a row is bad, the command imports nothing.  It ignores rows that the archive has, so a file can be
    imported again.  It creates a missing archive file.
    """
    from measurement.archive.exchange import BadRows, import_file

    with _open_archive(data, url) as archive, _progress() as progress:
        try:
            appended = import_file(archive, file, progress, skip_bad=skip_bad)
        except BadRows as error:
            lines = [Problem("", str(row), str(file)) for row in error.rows[:SHOWN]]
            if error.count > SHOWN:
                lines.append(Problem("", f"and {error.count - len(lines)} more bad rows", str(file)))
            raise InvalidInput([*lines, Problem("", "nothing was imported", str(file))]) from error
    _print_appended(appended)


@app.command()
def export(
    file: File,
    data: Data = None,
    url: Url = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write all measurements to a file."""
    from measurement.archive.exchange import export_file

    if file.exists() and not force:
        raise InvalidInput(Problem("", "exists; replace it with --force", str(file)))
    with _open_archive(data, url, readonly=True) as archive, _progress() as progress:
        rows = export_file(archive, file, progress)
    if not print_document({"file": str(file), "values": rows}):
        typer.echo(f"{file}: {rows} values")


@app.command()
def info(
    file: Annotated[Path | None, typer.Argument(help="File instead of the archive.")] = None,
    data: Data = None,
    url: Url = None,
) -> None:
    """Count the measurements of the archive, or the rows of a file."""
    if file is not None:
        _file_info(file)
        return
    with _open_archive(data, url, readonly=True) as archive:
        held, total = archive.inventory(), archive.size()
        series = [
            {"series": str(one.series), "values": one.count, "first": one.first, "last": one.last}
            for one in held
        ]
        if print_document({"archive": str(archive.name), "values": total, "series": series}):
            return
        rows = ((str(one.series), str(one.count), _time(one.first), _time(one.last)) for one in held)
        print_table(("Series", "Values", "First (UTC)", "Last (UTC)"), rows, "the archive holds no values")
        typer.echo(f"{archive.name}: {total} values, {len(held)} series")


def _file_info(file: Path) -> None:
    from measurement.archive.exchange import check_file

    with _archive_errors(), _progress() as progress:
        found = check_file(file, progress)
    bad = [str(row) for row in found.bad]
    if print_document({"file": str(file), "values": found.good, "bad_rows": found.bad_count, "bad": bad}):
        return
    for row in found.bad[:SHOWN]:
        typer.echo(f"{file}: {row}")
    typer.echo(f"{file}: {found.good} values, {found.bad_count} bad rows")


def _time(at: float) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return f"{at:g}"


def _print_appended(appended: Appended) -> None:
    counts = {"disagree": len(appended.disagreements), "refused": len(appended.refused)}
    if print_document({"new": appended.new, "known": appended.duplicates, **counts}):
        return
    for line in [*appended.disagreements, *appended.refused][:SHOWN]:
        typer.echo(str(line), err=True)
    typer.echo(
        f"{appended.new} new, {appended.duplicates} known already, "
        f"{len(appended.disagreements)} disagree, {len(appended.refused)} refused"
    )


@contextmanager
def _open_archive(data: Path | None, url: str | None, *, readonly: bool = False) -> Iterator[Archive]:
    from measurement.archive import Archive

    if (data is None) == (url is None):
        raise InvalidInput.of("archive", "is required; --data DIR or --url URL")
    where = url if data is None else data / ARCHIVE
    assert where is not None  # noqa: S101  # for the type checker: one of the two is given
    with _archive_errors(), Archive(where, readonly=readonly) as archive:
        yield archive


@contextmanager
def _archive_errors() -> Iterator[None]:
    from measurement.errors import ArchiveError, ExchangeError

    try:
        yield
    except ArchiveError as error:
        raise Unavailable(str(error)) from error
    except ExchangeError as error:
        raise InvalidInput.of("file", error) from error


@contextmanager
def _progress() -> Iterator[Progress]:
    """Progress bar on standard error; nothing without a terminal."""
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    console = Console(stderr=True)
    with Bars(console=console, disable=not console.is_terminal, transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=of)
            bars.update(tasks[what], completed=done, total=of)

        yield show
