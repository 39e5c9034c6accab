"""``adon flow submit`` and ``adon flow again``: ask for a transfer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, cast

import typer

from adon.errors import InvalidInput
from apps.cli import completing as offered
from apps.cli.arguments import FlowId
from apps.cli.common import JsonFlag, QuietFlag, client, given, naming, option, print_json

OPTIONS = {
    "source": "--from",
    "destination": "--to",
    "size": "--size",
    "template": "--template",
    "application": "--application",
    "weights": "--weight",
    "qspec.throughput": "--at-least",
    "ports": "--port",
    "priority": "--priority",
    "streams": "--streams",
    "queue_patience": "--patience",
    "not_before": "--not-before",
    "deadline": "--deadline",
    "pausable": "--pausable",
    "slice": "--slice",
    "job": "--job",
    "label": "--label",
}
"""The API's field -> the option that it comes from."""
ONCE = frozenset({"not_before", "deadline"})
"""What belongs to the day of a request, and is not asked for again."""
LOOK_S = 1.0

WaitFlag = Annotated[bool, typer.Option("--wait", help="Follow it until it ends; status 1 if it fails.")]
Begins = Annotated[
    str | None,
    typer.Option("--not-before", help="Reserve bandwidth from then on: 2026-11-21T22:00:00Z, or '8 h'."),
]
Deadline = Annotated[
    str | None, typer.Option("--deadline", help="To be done by then: 2026-11-22T06:00:00Z, or '8 h'.")
]


def submit(
    ctx: typer.Context,
    source: Annotated[
        str, typer.Option("--from", help="The host the data is on.", autocompletion=offered.hosts)
    ],
    destination: Annotated[
        str, typer.Option("--to", help="The host it goes to.", autocompletion=offered.hosts)
    ],
    size: Annotated[str, typer.Option(help="How much, as in '25 GB'.")],
    template: Annotated[
        str | None, typer.Option(help="soykb, or soykb@3.", autocompletion=offered.templates)
    ] = None,
    application: Annotated[str | None, typer.Option(help="The application's type.")] = None,
    weight: Annotated[list[str] | None, typer.Option(help="METRIC=NUMBER; may be repeated.")] = None,
    at_least: Annotated[
        str | None, typer.Option(help="Single-stream throughput it needs, as in '700 Mbps'.")
    ] = None,
    port: Annotated[list[int] | None, typer.Option(help="A destination port; may be repeated.")] = None,
    priority: Annotated[int | None, typer.Option(help="0 to 999.")] = None,
    streams: Annotated[int | None, typer.Option(help="Parallel streams it uses.")] = None,
    patience: Annotated[str | None, typer.Option(help="How long it may wait, as in '10 min'.")] = None,
    not_before: Begins = None,
    deadline: Deadline = None,
    pausable: Annotated[
        bool | None,
        typer.Option(help="The tool can stop while the flow waits, and resume."),
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
    json_: JsonFlag = False,
) -> None:
    """Submit a flow and print its id."""
    from adon.units import parse_duration, parse_rate

    option(at_least, parse_rate, "--at-least")
    option(patience, parse_duration, "--patience")
    wishes: dict[str, Any] = {
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
        "weights": _weights(weight or []),
        "qspec": None if at_least is None else {"throughput": {"min": at_least}},
        "job": None if job is None else _job(job),
    }
    if preview:
        _preview(ctx, wishes, json_=json_)
    else:
        _ask(ctx, wishes, wait=wait, quiet=quiet, json_=json_)


def again(
    ctx: typer.Context,
    flow: FlowId,
    size: Annotated[str | None, typer.Option(help="New size, such as '25 GB'.")] = None,
    label: Annotated[str | None, typer.Option(help="New label.")] = None,
    not_before: Begins = None,
    deadline: Deadline = None,
    wait: WaitFlag = False,
    quiet: QuietFlag = False,
    json_: JsonFlag = False,
) -> None:
    """Submit an earlier request again, without its times."""
    before = client(ctx).flow(flow).request
    kept = {name: value for name, value in before.items() if name not in ONCE}
    changed = {"size": size, "label": label, "not_before": not_before, "deadline": deadline}
    wishes = {**kept, **{name: value for name, value in changed.items() if value is not None}}
    _ask(ctx, wishes, wait=wait, quiet=quiet, json_=json_)


def _preview(ctx: typer.Context, wishes: Mapping[str, Any], *, json_: bool) -> None:
    from apps.cli.previewing import print_preview

    _check(wishes)
    with naming(OPTIONS):
        found = client(ctx).preview_flow(given(wishes))
    if json_:
        print_json(found)
    else:
        print_preview(found)


def _check(wishes: Mapping[str, Any]) -> None:
    """Refuse quantities that cannot be parsed, before a request is sent.

    :raises InvalidInput: naming the option.
    """
    from adon.timestamps import parse_moment
    from adon.units import parse_size

    option(cast("str | None", wishes.get("size")), parse_size, "--size")
    for name in ("not_before", "deadline"):
        option(cast("str | None", wishes.get(name)), parse_moment, OPTIONS[name])


def _ask(ctx: typer.Context, wishes: Mapping[str, Any], *, wait: bool, quiet: bool, json_: bool) -> None:
    from apps.cli.watching import follow, leave_unless_finished
    from apps.cli.words import status

    _check(wishes)
    api = client(ctx, patient=wait)
    with naming(OPTIONS):
        flow = api.submit(given(wishes))
    if wait:
        last = follow(api, flow.id, LOOK_S, quiet=quiet or json_)
        if json_:
            print_json(last)
        elif quiet:
            typer.echo(status(last))
        leave_unless_finished(last)
    elif json_:
        print_json(flow)
    elif quiet:
        typer.echo(flow.id)
    else:
        typer.echo(f"{flow.id} {flow.state}; follow it with: adon flow watch {flow.id}")


def _job(text: str) -> dict[str, Any]:
    words = text.split()
    if not words:
        raise InvalidInput.of("--job", "names no program")
    return {"job": words[0], "arguments": words[1:]}


def _weights(texts: list[str]) -> dict[str, float] | None:
    weights: dict[str, float] = {}
    for text in texts:
        metric, sign, number = text.partition("=")
        try:
            weights[metric.strip()] = float(number) if sign else float("nan")
        except ValueError:
            weights[metric.strip()] = float("nan")
        if not 0 <= weights[metric.strip()] < float("inf"):
            raise InvalidInput.of("--weight", f"{text[:60]!r} is not METRIC=NUMBER, zero or more")
    return weights or None
