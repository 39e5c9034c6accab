"""``adon flow``: submission with preview, one flow with its history, and a flow until it ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput
from adon.units import format_size, parse_duration
from apps.cli.api_completion import complete
from apps.cli.common import (
    EXIT_OTHER,
    QuietFlag,
    client,
    drop_missing,
    naming,
    parse_option,
    plain_json,
    print_json_line,
)
from apps.cli.decision_commands import print_candidates, print_decision
from apps.cli.document_printer import (
    FORMAT,
    CommandGroup,
    Format,
    print_document,
    print_items,
    print_object,
)

if TYPE_CHECKING:
    from adon.api.flows import FlowView, PreviewView
    from adon.client import Client

app = CommandGroup("Flows: submit, follow and cancel transfers.")

OPTIONS = {
    "source": "--from",
    "destination": "--to",
    "weights": "--weight",
    "qspec": "--at-least",
    "ports": "--port",
    "queue_patience": "--patience",
    "not_before": "--not-before",
    **{
        name: f"--{name}"
        for name in (
            *("size", "template", "application", "priority", "streams", "deadline", "pausable"),
            *("slice", "job", "label"),
        )
    },
}
"""Option by field of a request."""
TIMES = {"not_before", "deadline"}
"""Fields that a repeated request does not copy."""
POLL_S = 1.0

FlowId = Annotated[
    str, typer.Argument(metavar="FLOW", help="Id, such as f-17.", autocompletion=complete("flow"))
]
WaitFlag = Annotated[bool, typer.Option("--wait", help="Follow it until it ends; status 1 if it fails.")]
Begins = Annotated[
    str | None,
    typer.Option("--not-before", help="Reserve bandwidth from then on: 2026-11-21T22:00:00Z, or '8 h'."),
]
Deadline = Annotated[
    str | None, typer.Option("--deadline", help="To be done by then: 2026-11-22T06:00:00Z, or '8 h'.")
]


@app.command()
def submit(
    ctx: typer.Context,
    source: Annotated[str, typer.Option("--from", help="Source host.", autocompletion=complete("host"))],
    destination: Annotated[
        str, typer.Option("--to", help="Destination host.", autocompletion=complete("host"))
    ],
    size: Annotated[str, typer.Option(help="Size, such as '25 GB'.")],
    template: Annotated[
        str | None, typer.Option(help="soykb, or soykb@3.", autocompletion=complete("template"))
    ] = None,
    application: Annotated[str | None, typer.Option(help="Type of the application.")] = None,
    weight: Annotated[list[str] | None, typer.Option(help="METRIC=NUMBER; may be repeated.")] = None,
    at_least: Annotated[
        str | None, typer.Option(help="Required single-stream throughput, such as '700 Mbps'.")
    ] = None,
    port: Annotated[list[int] | None, typer.Option(help="A destination port; may be repeated.")] = None,
    priority: Annotated[int | None, typer.Option(help="0 to 999.")] = None,
    streams: Annotated[int | None, typer.Option(help="Number of parallel streams.")] = None,
    patience: Annotated[str | None, typer.Option(help="Longest wait, such as '10 min'.")] = None,
    not_before: Begins = None,
    deadline: Deadline = None,
    pausable: Annotated[
        bool | None, typer.Option(help="The tool can stop while the flow waits, and resume.")
    ] = None,
    slice_: Annotated[
        str | None, typer.Option("--slice", help="Slice, for members of several slices.")
    ] = None,
    job: Annotated[
        str | None, typer.Option(help="Configured program, with arguments, to run on the data.")
    ] = None,
    label: Annotated[str, typer.Option(help="For your own use.")] = "",
    preview: Annotated[
        bool, typer.Option("--preview", help="Print the decision without submitting.")
    ] = False,
    wait: WaitFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Submit a flow and print its id."""
    request = {
        "source": source,
        "destination": destination,
        "size": size,
        "label": label,
        "template": template,
        "application": application,
        "priority": priority,
        "streams": streams,
        "slice": slice_,
        "not_before": not_before,
        "deadline": deadline,
        "pausable": pausable,
        "queue_patience": patience,
        "ports": port or None,
        "weights": _parse_weights(weight or []),
        "qspec": None if at_least is None else {"throughput": {"min": at_least}},
        "job": None if job is None else _parse_job(job),
    }
    if preview:
        _preview(ctx, drop_missing(request))
    else:
        _submit(ctx, drop_missing(request), wait=wait, quiet=quiet)


@app.command()
def again(
    ctx: typer.Context,
    flow: FlowId,
    size: Annotated[str | None, typer.Option(help="New size, such as '25 GB'.")] = None,
    label: Annotated[str | None, typer.Option(help="New label.")] = None,
    not_before: Begins = None,
    deadline: Deadline = None,
    wait: WaitFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Submit an earlier request again, without its times."""
    before = client(ctx).flow(flow).request
    kept = {name: value for name, value in before.items() if name not in TIMES}
    changed = {"size": size, "label": label, "not_before": not_before, "deadline": deadline}
    _submit(ctx, {**kept, **drop_missing(changed)}, wait=wait, quiet=quiet)


def _parse_job(text: str) -> dict[str, Any]:
    words = text.split()
    if not words:
        raise InvalidInput.of("--job", "is empty; expected for example 'align chr1'")
    return {"job": words[0], "arguments": words[1:]}


def _parse_weights(texts: list[str]) -> dict[str, float] | None:
    weights: dict[str, float] = {}
    for text in texts:
        metric, _, number = text.partition("=")
        try:
            weights[metric.strip()] = float(number)
        except ValueError:
            cause = f"{text[:60]!r} has no number; expected for example throughput=2"
            raise InvalidInput.of("--weight", cause) from None
    return weights or None


def _check_request(request: Mapping[str, Any]) -> None:
    """Check a request before it is sent.

    :raises InvalidInput: with the fields of the API.
    """
    from adon import yamlfile
    from adon.api.flows import FlowBody

    yamlfile.check_model(dict(request), FlowBody)


def _preview(ctx: typer.Context, request: Mapping[str, Any]) -> None:
    with naming(OPTIONS):
        _check_request(request)
        found = client(ctx).preview_flow(request)
    if not print_document(found):
        print_preview(found)


def _submit(ctx: typer.Context, request: Mapping[str, Any], *, wait: bool, quiet: bool) -> None:
    api = client(ctx, patient=wait)
    with naming(OPTIONS):
        _check_request(request)
        flow = api.submit(request)
    if wait:
        last = follow_flow(api, flow.id, POLL_S, quiet=quiet or FORMAT.get() is not Format.TABLE)
        if not print_document(last) and quiet:
            typer.echo(format_state(last))
        exit_unless_finished(last)
    elif quiet:
        typer.echo(flow.id)
    elif not print_document(flow):
        typer.echo(f"{flow.id} {flow.state}; follow it with: adon flow watch {flow.id}")


@app.command()
def show(ctx: typer.Context, flow: FlowId) -> None:
    """Show a flow, its history and its latest decision."""
    api = client(ctx)
    found, history, decisions = api.flow(flow), api.history(flow), api.decisions(flow)
    if print_document({"flow": found, "history": history, "decisions": decisions}):
        return
    typer.echo(format_state(found))
    print_items(plain_json(history), "at state path reason", "No history.")
    print_items(plain_json(found.triggers), "at name count on text", "")
    if decisions:
        print_decision(decisions[-1])


@app.command()
def watch(
    ctx: typer.Context,
    flow: FlowId,
    every: Annotated[str, typer.Option(help="Time between two requests.")] = "1 s",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing; use the exit status.")] = False,
) -> None:
    """Follow a flow until it ends.

    Exit status 1 if it did not finish.  With --json each change is one document on a line.
    """
    pause = max(0.1, parse_option(every, parse_duration, "--every"))
    exit_unless_finished(follow_flow(client(ctx, patient=True), flow, pause, quiet=quiet))


def print_preview(found: PreviewView) -> None:
    """Print the decision that a request would get."""
    shown = plain_json(found)
    decision = shown.pop("decision")
    print_object({**shown, "reason": decision["reason"]})
    print_candidates(found.decision)


# -- progress --------------------------------------------------------------------------------------------


def shown_state(flow: FlowView) -> object:
    """Return the parts of a flow whose change makes a line: not the bytes, which change every second."""
    return flow.state, flow.path, flow.quality, flow.reason


def format_state(flow: FlowView) -> str:
    """Return the state of a flow in one line."""
    where = f" on {flow.path}" if flow.path else ""
    quality = f" ({flow.quality})" if flow.quality in ("degraded", "violated") else ""
    dry_run = " (dry run)" if flow.advised else ""
    moved = f"{format_size(flow.bytes_moved)} of {format_size(flow.transfer_size_bytes)}"
    reason = f": {flow.reason}" if flow.reason else ""
    return f"{flow.id} {flow.state}{where}{dry_run}{quality}, {moved}{reason}"


def follow_flow(api: Client, flow: str, pause: float, *, quiet: bool = False) -> FlowView:
    """Print each change of a flow until it ends; return its last state.

    :param pause: seconds between two requests.
    :param quiet: print nothing.
    """
    if quiet:
        return _print_changes(api, flow, pause, lambda _flow: None)
    if FORMAT.get() is not Format.TABLE:
        return _print_changes(api, flow, pause, print_json_line)
    if sys.stdout.isatty():
        return _show_bar(api, flow, pause)
    return _print_changes(api, flow, pause, lambda found: typer.echo(format_state(found)))


def exit_unless_finished(flow: FlowView) -> None:
    """Exit with status 1 if a flow did not finish."""
    if flow.state != "finished":
        raise typer.Exit(EXIT_OTHER)


def _print_changes(api: Client, flow: str, pause: float, show: Callable[[FlowView], object]) -> FlowView:
    from adon.client.flows import changes

    for last in changes(lambda: api.flow(flow), lambda: time.sleep(pause), shown_state):
        show(last)
    return last


def _show_bar(api: Client, flow: str, pause: float) -> FlowView:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from adon.client.flows import changes

    shown: object = None
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console()) as progress:
        task = progress.add_task(flow)
        for last in changes(lambda: api.flow(flow), lambda: time.sleep(pause), str):
            if (now := shown_state(last)) != shown:
                shown = now
                progress.console.print(format_state(last), markup=False, highlight=False)
            progress.update(task, total=last.transfer_size_bytes, completed=last.bytes_moved)
    return last
