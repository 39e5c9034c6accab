"""Rules on the page: which rule is there for whom, what differs from what should be, what was sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from flask import g, redirect, render_template, request, url_for
from pydantic import Field
from werkzeug.wrappers import Response as AnyResponse

from adon.access.policy import Action, Object, may
from adon.broker.effects import RuleState
from adon.errors import InvalidInput, Unavailable
from adon.yamlfile import check_model
from apps.rest.api.common import Query, flow_number
from apps.rest.api.network import network_view
from apps.rest.api.rules import SentQuery, differences, explained, sent, synchronised
from apps.rest.guard import action, check, only_own
from apps.rest.network_models import SwitchDetail
from apps.rest.page import frame
from apps.rest.rule_models import DifferenceList, SentView
from apps.rest.services import services

MOST_RULES = 300
MOST_SENT = 40
PRESENT = frozenset(RuleState) - {RuleState.REMOVED}

page = frame.blueprint("ruled")


class Wanted(Query):
    """Which rules, and what was sent because of which event."""

    dpid: str | None = Field(default=None, pattern="^[0-9a-f]{16}$")
    owner: str | None = Field(default=None, pattern=r"^(f|path|switch)-\d{1,18}$")
    cause: str | None = Field(default=None, max_length=64)


@dataclass(frozen=True, slots=True)
class Sent:
    """A change that was sent.

    :param decision: the decision about its flow that the same event led to; None if there is none.
    """

    view: SentView
    decision: str | None


@page.get("/rules")
@action(Action.RULE_READ)
def show_rules() -> str:
    """The rules of a switch or of an owner; without either, those of the first switch."""
    wanted = check_model({name: text for name, text in request.args.items() if text}, Wanted)
    _refuse(wanted)
    staff = may(g.actor, Action.NETWORK_READ, Object("rule")).allowed
    switches, found = _compared() if staff else (None, None)
    chosen = _chosen(wanted, switches)
    dpid = None if chosen is None else int(chosen, 16)
    saved = services().store.rules(dpid=dpid, owner=wanted.owner, states=PRESENT)
    return render_template(
        "rules.html",
        wanted=wanted,
        chosen=chosen,
        switches=switches,
        names=_named(switches or []),
        rules=[explained(one) for one in saved[:MOST_RULES]],
        states=Counter(one.state.value for one in saved),
        count=len(saved),
        staff=staff,
        differences=None if found is None else found.items,
        repairing=may(g.actor, Action.NETWORK_SYNC, Object("rule")).allowed,
        sent=_sent(wanted, chosen) if staff else [],
    )


def _refuse(wanted: Wanted) -> None:
    """Refuse whom these rules are none of their business; somebody else's flow is not told apart."""
    if wanted.owner is not None and wanted.owner.startswith("f-"):
        check(Action.RULE_READ, "rule", services().store.flow(flow_number(wanted.owner)).requester)
    elif only_own(Action.RULE_READ, "rule") is not None:
        raise InvalidInput.of("owner", "choose a flow of yours: its page leads to its rules")


def _compared() -> tuple[list[SwitchDetail] | None, DifferenceList | None]:
    """The switches, and how they differ from what should be; nothing without the controller."""
    try:
        return network_view().switches, differences()
    except Unavailable:
        return None, None


def _chosen(wanted: Wanted, switches: list[SwitchDetail] | None) -> str | None:
    if wanted.dpid is not None or wanted.owner is not None or not switches:
        return wanted.dpid
    return switches[0].dpid


def _named(switches: Iterable[SwitchDetail]) -> dict[str, str]:
    return {switch.dpid: switch.name for switch in switches}


def _sent(wanted: Wanted, dpid: str | None) -> list[Sent]:
    # What one event led to is shown of all switches.
    where = None if wanted.cause is not None and wanted.dpid is None else dpid
    query = SentQuery(flow=wanted.owner, dpid=where, cause=wanted.cause, limit=MOST_SENT)
    found = sent(query)
    known = _decisions({one.owner for one in found if one.owner.startswith("f-")})
    return [Sent(one, known.get((one.owner, one.cause))) for one in found]


def _decisions(flows: Iterable[str]) -> dict[tuple[str, str], str]:
    """Per flow and event the decision that it led to."""
    store = services().store
    made = (one for flow in sorted(flows) for one in store.decisions(flow_number(flow)))
    return {(one.flow, one.cause): one.id for one in made}


@page.post("/rules/repair")
@action(Action.NETWORK_SYNC)
def repair() -> AnyResponse:
    """Have every connected switch compared and repaired now."""
    synchronised()
    return redirect(url_for("ruled.show_rules", _anchor="differences"), 303)
