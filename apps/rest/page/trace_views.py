"""Where a packet would go now, and what a failure would do: two questions, each with a form of its own."""

from __future__ import annotations

from http import HTTPStatus
from itertools import pairwise

from flask import Response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from adon.access.policy import Action
from adon.broker.scenario import Failure
from adon.errors import AdonError, InvalidInput, Problem
from adon.yamlfile import check_model
from apps.rest.api.operations import rehearsed
from apps.rest.api.rules import TraceQuery, traced
from apps.rest.guard import action
from apps.rest.operations_models import RehearsalView
from apps.rest.page import frame
from apps.rest.rule_models import LegView, TraceView
from apps.rest.services import services

PROTOCOLS = ("tcp", "udp", "sctp", "icmp")
NUMBERS = ("port", "source_port")

page = frame.blueprint("asked")


@page.get("/trace")
@action(Action.NETWORK_READ)
def show_trace() -> AnyResponse:
    """The form, and where the packet would go that it describes."""
    typed = request.args.to_dict()
    found: TraceView | None = None
    problems: tuple[Problem, ...] = ()
    status = HTTPStatus.OK.value
    if typed:
        try:
            found = traced(_question(typed))
        except AdonError as error:
            problems, status = _told(error), error.status
    text = render_template(
        "trace.html",
        typed=typed,
        found=found,
        legs=[] if found is None else list(zip(found.legs, _changes(found.legs), strict=True)),
        problems=problems,
        hosts=services().hosts,
        protocols=PROTOCOLS,
    )
    return Response(text, status)


def _question(typed: dict[str, str]) -> TraceQuery:
    """The packet that a filled-in form describes.

    :raises InvalidInput: for what is no number, or out of bounds.
    """
    known = {name: text.strip() for name, text in typed.items() if text.strip()}
    numbers = {name: int(known[name]) for name in NUMBERS if known.get(name, "").isdecimal()}
    return check_model({**known, **numbers}, TraceQuery)


def _told(error: AdonError) -> tuple[Problem, ...]:
    return error.problems if isinstance(error, InvalidInput) else (Problem("", str(error)),)


HEADERS = {"eth_src": "sender’s MAC", "eth_dst": "receiver’s MAC", "vlan": "VLAN", "dscp": "DSCP"}


def _changes(legs: list[LegView]) -> list[str]:
    """Per switch what the packet was changed in since the switch before."""
    found = [""][: len(legs)]
    for before, after in pairwise(legs):
        old, new = before.packet.model_dump(), after.packet.model_dump()
        found.append(
            ", ".join(
                f"{words} {'none' if new[name] is None else new[name]}"
                for name, words in HEADERS.items()
                if old[name] != new[name]
            )
        )
    return found


@page.get("/what-if")
@action(Action.WHAT_IF)
def show_what_if() -> AnyResponse:
    """The form, and what the failure would do that it names; or every single failure, the worst first."""
    typed = request.args.to_dict()
    reports: list[RehearsalView] | None = None
    problems: tuple[Problem, ...] = ()
    status = HTTPStatus.OK.value
    if typed:
        try:
            reports = _rehearsed(typed)
        except AdonError as error:
            problems, status = _told(error), error.status
    text = render_template(
        "what_if.html",
        typed=typed,
        reports=reports,
        single="all" not in typed,
        problems=problems,
        failures=list(Failure),
    )
    return Response(text, status)


def _rehearsed(typed: dict[str, str]) -> list[RehearsalView]:
    if "all" in typed:
        return rehearsed(None, None).items
    name, failure = typed.get("name", "").strip(), typed.get("failure", "")
    if failure not in list(Failure):
        raise InvalidInput.of("failure", f"{failure[:40]!r} is not one of {', '.join(Failure)}")
    if not name:
        raise InvalidInput.of("name", "say which: a link, path or switch, SWITCH:PORT, or m-3")
    return rehearsed(Failure(failure), name[:200]).items
