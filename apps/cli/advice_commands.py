"""``adon advice``: TCP settings for both hosts of a transfer, and a check of a host's settings."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput, Problem
from adon.units import format_rate
from apps.cli.api_completion import complete
from apps.cli.common import EXIT_DIFFERS, client, drop_missing, naming, plain_json
from apps.cli.document_printer import CommandGroup, print_document, print_items

if TYPE_CHECKING:
    from adon.api.advice import AdviceView, HostAdviceView, PredictionView, RangeView

app = CommandGroup("TCP and transfer advice: buffers, streams, MTU, queues.")

MOST_BYTES = 4_000_000
OPTIONS = {
    "path.rate": "--rate",
    "path.rtt": "--rtt",
    "path.loss": "--loss",
    "path.mtu": "--mtu",
    "flow": "--flow",
}
"""Option by field of the API."""
SYSCTL_GROUPS = ("abi.", "debug.", "dev.", "fs.", "kernel.", "net.", "sunrpc.", "user.", "vm.", "crypto.")
SENT_SETTINGS = ("net.core.", "net.ipv4.tcp_", "kernel.osrelease")
"""Settings of ``sysctl -a`` that are about TCP."""

RateOption = Annotated[str | None, typer.Option("--rate", help="Rate of the path, such as '10 Gbps'.")]
RttOption = Annotated[str | None, typer.Option("--rtt", help="As in '33 ms'.")]
LossOption = Annotated[str | None, typer.Option("--loss", help="As in '0.001 %'.")]
MtuOption = Annotated[int | None, typer.Option("--mtu", help="MTU of the path in bytes.")]


@app.command()
def show(
    ctx: typer.Context,
    flow: Annotated[
        str | None,
        typer.Argument(
            metavar="[FLOW]", help="Such as f-17; without it, give numbers.", autocompletion=complete("flow")
        ),
    ] = None,
    rate: RateOption = None,
    rtt: RttOption = None,
    loss: LossOption = None,
    mtu: MtuOption = None,
) -> None:
    """Print the advice for a flow, or for given numbers."""
    question = _question(flow, {"rate": rate, "rtt": rtt, "loss": loss, "mtu": mtu})
    api = client(ctx)
    with naming(OPTIONS):
        _check_question(question)
        found = api.advise(question) if flow is None or question["path"] else api.advice(flow)
    if not print_document(found):
        _print_advice(found)


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
    flow: Annotated[
        str | None, typer.Option("--flow", help="Flow, such as f-17.", autocompletion=complete("flow"))
    ] = None,
    rate: RateOption = None,
    rtt: RttOption = None,
    loss: LossOption = None,
    mtu: MtuOption = None,
    interface: Annotated[
        str | None, typer.Option("--interface", help="Network interface of the transfers.")
    ] = None,
) -> None:
    """Check whether a host has the advised settings.

    Exit status 3 if a setting differs or the files do not show it.
    """
    question = _question(flow, {"rate": rate, "rtt": rtt, "loss": loss, "mtu": mtu})
    api = client(ctx)
    role = "sender" if flow is None or host is None else _role_of(host, api.advice(flow))
    question[role] = drop_missing({"name": host, "text": _read_output(file), "interface": interface})
    with naming(OPTIONS):
        _check_question(question)
        advice = api.advise(question)
    found = next(end for end in advice.hosts if end.role == role)
    if not print_document(found):
        _print_host(found, all_settings=True)
    if found.verdict != "applied":
        raise typer.Exit(EXIT_DIFFERS)


def _question(flow: str | None, path: Mapping[str, Any]) -> dict[str, Any]:
    question: dict[str, Any] = {"path": drop_missing(path)}
    if flow is not None:
        return question | {"flow": flow}
    if not question["path"]:
        raise InvalidInput.of("FLOW", "name a flow, or give --rate and --rtt")
    return question


def _check_question(question: Mapping[str, Any]) -> None:
    """Check a question before it is sent.

    :raises InvalidInput: with the fields of the API.
    """
    from adon import yamlfile
    from adon.api.advice import AdviceBody

    yamlfile.check_model(dict(question), AdviceBody)


def _read_output(file: str) -> str:
    """Return the text of a file or of standard input; of ``sysctl -a`` the settings about TCP."""
    try:
        text = sys.stdin.read(MOST_BYTES) if file == "-" else Path(file).read_text("utf-8", errors="replace")
    except OSError as error:
        raise InvalidInput(Problem("", f"cannot be read: {error.strerror}", file)) from error
    lines = text[:MOST_BYTES].splitlines()
    return "\n".join(
        line for line in lines if not line.startswith(SYSCTL_GROUPS) or line.startswith(SENT_SETTINGS)
    )


def _role_of(host: str, advice: AdviceView) -> str:
    for end in advice.hosts:
        if end.host == host:
            return str(end.role)
    names = " and ".join(end.host for end in advice.hosts)
    raise InvalidInput.of("--host", f"{host[:60]!r} is not an end of this flow; expected one of {names}")


def _print_advice(advice: AdviceView) -> None:
    columns = "name value confidence reason formula"
    print_items(plain_json(advice.items), columns, "No advice: too little is known.")
    if advice.prediction is not None:
        typer.echo(_format_prediction(advice.prediction))
    for host in advice.hosts:
        _print_host(host, all_settings=False)
    for gap in advice.unknown:
        typer.echo(f"not known: {gap.what}; left open: {gap.without}; to find out: {gap.measure}")


def _format_prediction(found: PredictionView) -> str:
    text = f"predicted {_format_range(found.after_bps)}"
    if found.before_bps is not None:
        text += f", now {_format_range(found.before_bps)}"
    if found.gain is not None and found.gain.expected is not None:
        text += f": {found.gain.expected:.3g} times as fast"
    return f"{text}\n  {found.formula}\n  {found.basis}"


def _format_range(found: RangeView | None) -> str:
    if found is None:
        return "nothing: too little is known"
    rates = (found.expected, found.low, found.high)
    expected, low, high = ("?" if rate is None else format_rate(rate) for rate in rates)
    return f"{expected} ({low} to {high})"


def _print_host(host: HostAdviceView, *, all_settings: bool) -> None:
    typer.echo(f"\n{host.host} ({host.role}): {host.verdict}")
    shown = [one for one in host.settings if all_settings or one.verdict != "applied"]
    print_items(plain_json(shown), "key verdict present compare value reason", "No setting needs a change.")
    for remark in host.remarks:
        typer.echo(remark)
