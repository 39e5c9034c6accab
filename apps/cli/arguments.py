"""Arguments and options that several commands take, with what the shell offers for them."""

from __future__ import annotations

from typing import Annotated

import typer

from apps.cli import completing as offered

FlowId = Annotated[str, typer.Argument(metavar="FLOW", help="As in f-17.", autocompletion=offered.flows)]
OfFlow = Annotated[
    str | None, typer.Option("--flow", help="Only of this flow, as in f-17.", autocompletion=offered.flows)
]
TemplateName = Annotated[
    str, typer.Argument(metavar="TEMPLATE", help="A template's name.", autocompletion=offered.templates)
]
TemplateReference = Annotated[
    str,
    typer.Argument(
        metavar="NAME[@VERSION]", help="As in soykb, or soykb@3.", autocompletion=offered.templates
    ),
]
OfTemplate = Annotated[
    str | None,
    typer.Option(
        "--template", help="soykb for all its versions, or soykb@3.", autocompletion=offered.templates
    ),
]
PathName = Annotated[str, typer.Argument(metavar="PATH", help="A path's name.", autocompletion=offered.paths)]
FromCampus = Annotated[
    str, typer.Argument(metavar="FROM", help="The site it leads from.", autocompletion=offered.campuses)
]
ToCampus = Annotated[
    str, typer.Argument(metavar="TO", help="The site it leads to.", autocompletion=offered.campuses)
]
SiteName = Annotated[str, typer.Argument(help="A compute site.", autocompletion=offered.sites)]
JobId = Annotated[str, typer.Argument(help="Its id, as in j-3.", autocompletion=offered.jobs)]
AlarmId = Annotated[
    str, typer.Argument(help="The alarm's id, or the beginning of it.", autocompletion=offered.alarms)
]
ReservationId = Annotated[str, typer.Argument(help="Its id, as in r-3.", autocompletion=offered.reservations)]
WindowId = Annotated[str, typer.Argument(help="Its id, as in m-3.", autocompletion=offered.windows)]
BacktestId = Annotated[
    str,
    typer.Argument(
        metavar="BACKTEST", help="Its id, as in b-5f3a9c0d12ab.", autocompletion=offered.backtests
    ),
]
OfSwitch = Annotated[
    str | None,
    typer.Option("--dpid", help="Only this switch (16 hex digits).", autocompletion=offered.switches),
]
