"""Progress of a flow until it ends: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from apps.cli.common import EXIT_OTHER, print_json_line

if TYPE_CHECKING:
    from adon.api.flows import FlowView
    from adon.client import Client


def told(flow: FlowView) -> object:
    """What of a flow makes a line when it changes: not the bytes, which would be a line per second."""
    return flow.state, flow.path, flow.quality, flow.reason


def follow(api: Client, flow: str, pause: float, *, as_json: bool = False, quiet: bool = False) -> FlowView:
    """Follow a flow; how it ended.

    :param pause: seconds between two looks.
    :param as_json: each change as JSON on a line of its own.
    :param quiet: nothing is shown.
    """
    if quiet:
        return _each(api, flow, pause, lambda _flow: None)
    if as_json:
        return _each(api, flow, pause, print_json_line)
    if sys.stdout.isatty():
        return _live(api, flow, pause)
    from apps.cli.words import status

    return _each(api, flow, pause, lambda found: typer.echo(status(found)))


def leave_unless_finished(flow: FlowView) -> None:
    """End with status 1 if a flow did not finish."""
    if flow.state != "finished":
        raise typer.Exit(EXIT_OTHER)


def _each(api: Client, flow: str, pause: float, show: Callable[[FlowView], object]) -> FlowView:
    from adon.client.flows import changes

    for last in changes(lambda: api.flow(flow), lambda: time.sleep(pause), told):
        show(last)
    return last


def _live(api: Client, flow: str, pause: float) -> FlowView:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from adon.client.flows import changes
    from apps.cli.words import status

    shown: object = None
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console()) as progress:
        task = progress.add_task(flow)
        for last in changes(lambda: api.flow(flow), lambda: time.sleep(pause), str):
            if (now := told(last)) != shown:
                shown = now
                progress.console.print(status(last), markup=False, highlight=False)
            progress.update(task, total=last.transfer_size_bytes, completed=last.bytes_moved)
    return last
