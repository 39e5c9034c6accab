"""``adon testbed``: test networks on this machine; needs no server."""

from __future__ import annotations

import typer

from apps.cli.testbed_commands import WithProgram, exec_, run
from apps.cli.testbed_inside import ping, shell
from apps.cli.testbed_listing import list_, show
from apps.cli.testbed_running import down, status, up

app = typer.Typer(
    help="Test networks on this machine (docs/testbed.md, docs/topologies.md).", no_args_is_help=True
)
app.command()(up)
app.command()(status)
app.command()(ping)
app.command(cls=WithProgram)(shell)
app.command()(down)
app.command("list")(list_)
app.command()(show)
app.command(cls=WithProgram)(run)
app.command("exec", cls=WithProgram)(exec_)
