"""What would become of a request, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from apps.cli.decision import print_findings
from apps.cli.times import span
from apps.cli.words import forecast, value

if TYPE_CHECKING:
    from adon.api.flows import PreviewView


def print_preview(found: PreviewView) -> None:
    """What would be decided about a request that was only tried."""
    decision = found.decision
    if found.outcome == "admit":
        site = f", compute at {found.compute_site}" if found.compute_site else ""
        typer.echo(f"it would be admitted to {found.path}{site} at once")
    else:
        typer.echo("it would be queued")
    typer.echo(decision.reason)
    if found.outcome != "admit":
        for obstacle in found.waits_for:
            typer.echo(f"waits for  {obstacle}")
    if found.forecast is not None:
        typer.echo(f"would take {forecast(found.forecast)}")
    rate = found.throughput
    if rate is not None:
        expected, low, high = (
            value(number, "bps") for number in (rate.expected_bps, rate.low_bps, rate.high_bps)
        )
        typer.echo(f"at about   {expected} ({low} to {high})")
    if found.booking is not None:
        kept = found.booking
        when = span(kept.begins, kept.ends)
        typer.echo(f"reserves   {value(kept.rate_bps, 'bps')} of {kept.path}, {when}")
    for one in found.pushed:
        fate = "would wait again" if one.to is None else f"would move to {one.to}"
        typer.echo(f"{one.flow} on {one.path} {fate}: {one.why}")
    for name in found.replaced:
        typer.echo(f"{name}, an unregistered flow, would end")
    if found.advised:
        typer.echo("dry run: no rule is sent to these switches")
    print_findings(decision)
