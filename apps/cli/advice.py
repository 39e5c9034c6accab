"""``adon advice``: what both hosts of a transfer should be set to, whether they are, what it gains."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput, Problem
from apps.cli import completing as offered
from apps.cli.common import (
    EXIT_DIFFERS,
    JsonFlag,
    client,
    naming,
    option,
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from adon.api.advice import AdviceView, HostAdviceView, PredictionView, RangeView, SettingView

app = typer.Typer(help="TCP and transfer advice: buffers, streams, MTU, queues.", no_args_is_help=True)

MOST_BYTES = 4_000_000

FlowOption = Annotated[
    str | None,
    typer.Option("--flow", help="Flow, such as f-17.", autocompletion=offered.flows),
]
RateOption = Annotated[str | None, typer.Option("--rate", help="Rate of the path, such as '10 Gbps'.")]
RttOption = Annotated[str | None, typer.Option("--rtt", help="As in '33 ms'.")]
LossOption = Annotated[str | None, typer.Option("--loss", help="As in '0.001 %'.")]
MtuOption = Annotated[int | None, typer.Option("--mtu", help="MTU of the path in bytes.")]

OPTIONS = {
    "path.rate": "--rate",
    "path.rtt": "--rtt",
    "path.loss": "--loss",
    "path.mtu": "--mtu",
    "flow": "--flow",
}
"""The API's field -> the option that it comes from."""


@app.command()
def show(
    ctx: typer.Context,
    flow: Annotated[
        str | None,
        typer.Argument(
            metavar="[FLOW]", help="Such as f-17; without it, give numbers.", autocompletion=offered.flows
        ),
    ] = None,
    rate: RateOption = None,
    rtt: RttOption = None,
    loss: LossOption = None,
    mtu: MtuOption = None,
    json_: JsonFlag = False,
) -> None:
    """Print the advice for a flow, or for given numbers."""
    body = _question(flow, rate, rtt, loss, mtu)
    api = client(ctx)
    with naming(OPTIONS):
        found = api.advise(body) if flow is None or body["path"] else api.advice(flow)
    if json_:
        print_json(found)
    else:
        _print_advice(found)


def _question(
    flow: str | None, rate: str | None, rtt: str | None, loss: str | None, mtu: int | None
) -> dict[str, Any]:
    from adon.units import parse_duration, parse_rate, parse_ratio

    option(rate, parse_rate, "--rate")
    option(rtt, parse_duration, "--rtt")
    option(loss, parse_ratio, "--loss")
    path = {"rate": rate, "rtt": rtt, "loss": loss, "mtu": mtu}
    question: dict[str, Any] = {"path": {name: value for name, value in path.items() if value is not None}}
    if flow is not None:
        return question | {"flow": flow}
    if not question["path"]:
        raise InvalidInput.of("FLOW", "name a flow, or give --rate and --rtt")
    return question


@app.command()
def check(
    ctx: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            help="Output of sysctl -a, ip -d link, tc qdisc, ethtool, ss -tin; - for standard input."
        ),
    ],
    host: Annotated[
        str | None, typer.Option("--host", help="Host of the output; default: the sender.")
    ] = None,
    flow: FlowOption = None,
    rate: RateOption = None,
    rtt: RttOption = None,
    loss: LossOption = None,
    mtu: MtuOption = None,
    interface: Annotated[
        str | None, typer.Option("--interface", help="Network interface of the transfers.")
    ] = None,
    json_: JsonFlag = False,
) -> None:
    """Check whether a host has the advised settings.

    Exit status 3 if a setting differs or the files do not show it.
    """
    question = _question(flow, rate, rtt, loss, mtu)
    api = client(ctx)
    role = "sender" if flow is None or host is None else _role(api.advice(flow), host)
    pasted = {"name": host, "text": _told(file), "interface": interface}
    question[role] = {name: value for name, value in pasted.items() if value is not None}
    with naming(OPTIONS):
        advised = api.advise(question)
    found = next(end for end in advised.hosts if end.role == role)
    if json_:
        print_json(found)
    else:
        _print_host(found, everything=True)
    if found.verdict != "applied":
        raise typer.Exit(EXIT_DIFFERS)


KEPT = ("net.core.", "net.ipv4.tcp_", "kernel.osrelease")


def _told(file: str) -> str:
    """What a file, or standard input, holds; of ``sysctl -a`` what has to do with TCP."""
    try:
        text = sys.stdin.read(MOST_BYTES) if file == "-" else Path(file).read_text("utf-8", errors="replace")
    except OSError as error:
        raise InvalidInput(Problem("", f"cannot be read: {error.strerror}", file)) from error
    lines = text[:MOST_BYTES].splitlines()
    other = ("abi.", "debug.", "dev.", "fs.", "kernel.", "net.", "sunrpc.", "user.", "vm.", "crypto.")
    kept = (line for line in lines if not line.startswith(other) or line.startswith(KEPT))
    return "\n".join(kept)


def _role(advice: AdviceView, host: str) -> str:
    for end in advice.hosts:
        if end.host == host:
            return str(end.role)
    names = " and ".join(end.host for end in advice.hosts)
    raise InvalidInput.of("--host", f"{host[:60]!r} is not an end of this flow; expected one of {names}")


def _print_advice(advice: AdviceView) -> None:
    rows = (
        (item.name, item.value, item.confidence, item.reason, item.formula or "-") for item in advice.items
    )
    print_table(("What", "Advised", "Sure", "Why", "Formula"), rows, "nothing can be advised yet")
    if advice.prediction is not None:
        typer.echo(_predicted(advice.prediction))
    for host in advice.hosts:
        _print_host(host, everything=False)
    for gap in advice.unknown:
        typer.echo(f"not known: {gap.what}; left open: {gap.without}; to find out: {gap.measure}")


def _predicted(found: PredictionView) -> str:
    before, after, gain = found.before_bps, found.after_bps, found.gain
    told = f"predicted {_span(after)}"
    if before is not None:
        told += f", now {_span(before)}"
    if gain is not None and gain.expected is not None:
        told += f": {gain.expected:.3g} times as fast"
    return f"{told}\n  {found.formula}\n  {found.basis}"


def _span(found: RangeView | None) -> str:
    from adon.units import format_rate

    if found is None:
        return "nothing: too little is known"
    rates = (found.expected, found.low, found.high)
    expected, low, high = ("?" if rate is None else format_rate(rate) for rate in rates)
    return f"{expected} ({low} to {high})"


def _print_host(host: HostAdviceView, *, everything: bool) -> None:
    typer.echo(f"\n{host.host} ({host.role}): {host.verdict}")
    shown = [one for one in host.settings if everything or one.verdict != "applied"]
    rows = ((one.key, one.verdict, one.present or "-", _wanted(one), one.reason) for one in shown)
    print_table(("Setting", "Verdict", "Present", "Wanted", "Why"), rows, "nothing is to be changed")
    for remark in host.remarks:
        typer.echo(remark)


def _wanted(setting: SettingView) -> str:
    return f"at least {setting.value}" if setting.compare == "at least" else str(setting.value)
