"""``adon place``: where tasks run, by the network between machines; needs no server ([CHOREO])."""

from __future__ import annotations

import typer

from apps.cli.placing import tasks
from apps.cli.profiling import profile
from apps.cli.sequence import sequence
from apps.cli.snapshots import snapshot, staleness
from apps.cli.throughputs import bursts, predict

app = typer.Typer(help="Placement of an application's tasks on machines.", no_args_is_help=True)
for _command in (tasks, sequence, snapshot, profile, predict, staleness, bursts):
    app.command()(_command)
