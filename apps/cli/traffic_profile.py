"""``adon place profile``: what an application's tasks send each other; needs no server ([CHOREO] 2.1)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput
from apps.cli.common import (
    EXIT_DIFFERS,
    EXIT_INTERRUPTED,
    check_writable,
    option_errors,
    parse_limit,
    print_table,
    write,
)
from apps.cli.document_printer import print_document
from apps.cli.probe_agents import catch_interrupts

if TYPE_CHECKING:
    from collections.abc import Callable

    from measurement.profiling.model import Profile
    from measurement.profiling.tasks import Tasks


def profile(
    tasks: Annotated[Path, typer.Argument(metavar="TASKS", help="The tasks file.")],
    captures: Annotated[
        list[Path] | None, typer.Argument(metavar="[CAPTURE]...", help="pcap or pcapng files of one time.")
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS[:PORT]", help="Instead: take sFlow here, from switches (port 6343)."),
    ] = None,
    last: Annotated[str, typer.Option("--for", metavar="TIME", help="Duration of listening.")] = "60 s",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the profile here, as JSON.")
    ] = None,
) -> None:
    """Measure the bytes between tasks, from captures or sFlow.

    Ctrl-C stops listening and keeps the samples.  Exit status: 3 if no bytes were seen between two tasks, 130
    after Ctrl-C.
    """
    from adon.config.input_files import load_tasks
    from measurement.document import dumps
    from measurement.model import to_json

    if bool(captures) == (listen is not None):
        raise InvalidInput.of("CAPTURE", "is required; captures, or --listen ADDRESS[:PORT]")
    mapping = load_tasks(tasks)
    check_writable(output, "--output")
    ended = False
    if listen is None:
        found, notes = _profile_captures(captures or [], mapping)
    else:
        with catch_interrupts() as interrupted:
            found, notes = _profile_samples(listen, last, mapping, interrupted)
            ended = interrupted()
    if output is not None:
        write(output, dumps(found), "--output")
    if not print_document(to_json(found)):
        _print(found, notes)
    if ended:
        raise typer.Exit(EXIT_INTERRUPTED)
    if not found.sent:
        raise typer.Exit(EXIT_DIFFERS)


def _profile_captures(captures: list[Path], tasks: Tasks) -> tuple[Profile, list[str]]:
    from adon.units import format_size
    from measurement.profiling.capture import captured

    with option_errors("CAPTURE"):
        found = captured(captures, tasks)
    notes = [f"{found.frames} frames"]
    if found.others:
        notes.append(f"{found.others} of them are neither TCP nor UDP")
    if found.outside:
        notes.append(f"{format_size(found.outside)} are to or from hosts that are not in the tasks file")
    return found.profile, notes


def _profile_samples(
    where: str, last: str, tasks: Tasks, interrupted: Callable[[], bool]
) -> tuple[Profile, list[str]]:
    from adon.units import format_size
    from measurement.profiling.sflow import PORT
    from measurement.profiling.sflow_collector import listen, open_socket
    from measurement.profiling.tasks import parse_end

    with option_errors("--for"):
        ends = time.monotonic() + parse_limit(last)
    with option_errors("--listen"):
        address, port = parse_end(where)
        with open_socket(address, port or PORT) as at:
            found, refused = listen(at, tasks, lambda: interrupted() or time.monotonic() >= ends)
    notes = [f"{found.samples} samples in {found.datagrams} datagrams of {len(found.agents)} agents"]
    for count, what in (
        (found.lost_datagrams, "datagrams were lost; what was in them was made up for"),
        (found.dropped, "samples were dropped by agents themselves; nothing was made up for them"),
        (refused, "datagrams were no sFlow version 5"),
    ):
        if count:
            notes.append(f"{count} {what}")
    if found.outside:
        notes.append(f"{format_size(found.outside)} are to or from hosts that are not in the tasks file")
    return found.profile, notes


def _print(found: Profile, notes: list[str]) -> None:
    from adon.units import format_duration, format_size

    rows = (
        (
            one,
            other,
            format_size(count),
            f"± {found.errors[one, other]:.1%}" if (one, other) in found.errors else "-",
        )
        for (one, other), count in sorted(found.sent.items(), key=lambda item: -item[1])
    )
    print_table(("From", "To", "Sent", "95 % of the time within"), rows, "nothing was seen between two tasks")
    for line in (f"{format_duration(found.ended - found.began)} were observed", *notes):
        typer.echo(line)
