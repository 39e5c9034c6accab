"""``adon testbed``: test networks on this machine; needs no server."""

from __future__ import annotations

import typer

from apps.cli.testbed_commands import WithProgram, exec_, run
from apps.cli.testbed_topologies import show

app = typer.Typer(help="Test networks on this machine (docs/testbed.md).", no_args_is_help=True)
app.command(cls=WithProgram)(run)
app.command("exec", cls=WithProgram)(exec_)
app.command()(show)
