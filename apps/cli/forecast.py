"""``adon forecast``: how well forecasts of completion held."""

from __future__ import annotations

from typing import Annotated

import typer

from adon.units import format_share
from apps.cli.arguments import OfTemplate
from apps.cli.common import JsonFlag, client, print_json, print_table

app = typer.Typer(help="Forecasts of completion times.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Forecasts of completion times."""


@app.command()
def calibration(
    ctx: typer.Context,
    template: OfTemplate = None,
    limit: Annotated[int, typer.Option(min=1, max=5000, help="Number of finished flows.")] = 500,
    json_: JsonFlag = False,
) -> None:
    """Compare forecasts of completion with the observed times."""
    found = client(ctx).forecast_calibration(template, limit)
    if json_:
        print_json(found)
        return
    rows = (
        (
            one.flows,
            str(one.count),
            format_share(one.nominal),
            f"{format_share(one.covered)} ({100 * one.least:.0f} to {format_share(one.most)})",
            f"{100 * one.bias:+.0f} %",
            format_share(one.error),
        )
        for one in found
    )
    columns = ("Flows", "Count", "Claimed", "Within", "Bias", "Median error")
    print_table(columns, rows, "no finished flow had a forecast yet")
