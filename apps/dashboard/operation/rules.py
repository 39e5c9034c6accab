"""``/rules``: switches, rules by owner with their effect, differences, and recent changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from dash import Dash, dcc, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.network import NetworkView, SwitchDetail
from adon.api.rules import RuleExplanation, RuleView, SwitchDifference
from adon.errors import Unavailable
from apps.dashboard import ui
from apps.dashboard.network import network_tables
from apps.dashboard.network.links import switch_address, tabs
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Column, Tone
from apps.dashboard.visit import Visit

GONE = "removed"
SHOWN, SENT, DIFFERENCES = 200, 40, 20
FEW = 6
"""Changes that are shown without being asked for."""
TONES: Mapping[str, Tone] = {"installed": "good", "pending": "wait", "draining": "wait", "failed": "bad"}
KINDS = (
    ("missing", "missing in the switch"),
    ("wrong", "differs from the desired rule"),
    ("extra", "not desired, but in the switch"),
    ("blocked", "blocked by a rule of another controller"),
)
AUDIT, ANSWER = "rules-audit", "rules-answer"


def show(here: Visit) -> Component:
    """Return the heading, and the audit for users who may start one."""
    audit = []
    if here.may(Action.NETWORK_SYNC):
        question = "Reads every connected switch and repairs every difference."
        audit.append(ui.button(AUDIT, "all", "Audit all switches now", danger=False, confirm=question))
    lead = "Rules of ADON. ADON does not change rules without its cookie."
    return html.Div([ui.head(_title(here), lead, *audit), html.Div(id=ANSWER, role="status")])


def _title(here: Visit) -> str:
    of = here.query.get("owner") or here.query.get("dpid")
    return f"Rules of {of}" if of else "Rules"


def live(here: Visit) -> Component:
    """Return the switches, the requested rules, the differences and the changes."""
    owner, network = here.query.get("owner"), _network(here)
    switches = [] if network is None else network.switches
    where = _switch_column(switches)
    overview = [] if network is None or here.query else [network_tables.switch_table(network)]
    return html.Div(
        [
            *_choices(here, switches),
            *overview,
            _explained(here, owner, where) if owner else _rules(here, where),
            *_differences(here),
            *_sent(here, where),
        ]
    )


def _choices(here: Visit, switches: Sequence[SwitchDetail]) -> list[Component]:
    if not switches:
        return []
    ways = [("All", "/rules"), *((one.name, switch_address(one.dpid)) for one in switches)]
    chosen = switch_address(here.query["dpid"]) if "dpid" in here.query else "/rules"
    return [tabs(ways, chosen, "Switches")]


def _rules(here: Visit, where: Column) -> Component:
    """Those of one state, if the address names it; else all but those that are gone."""
    known = here.client.rules(dpid=here.query.get("dpid"))
    state = here.query.get("state")
    rules = [one for one in known if (one.state != GONE if state is None else one.state == state)]
    columns = [
        where,
        Column("Kind", lambda one: one.kind.replace("_", " ")),
        Column("State", rule_state),
        Column("Rule", lambda one: html.Code(one.text)),
    ]
    badges = [
        dcc.Link(
            ui.badge(f"{count} {one}", TONES.get(one, "plain")),
            href=f"/rules?{urlencode({**here.query, 'state': one})}",
        )
        for one, count in sorted(Counter(one.state for one in known).items())
    ]
    more = f"The first {SHOWN} of {len(rules)}; choose a switch, or a flow." if len(rules) > SHOWN else ""
    nothing = [] if rules else [ui.empty("No rules.")]
    folded = by_owner(columns, rules[:SHOWN])
    return ui.card(None, html.P(badges, className="badges"), *nothing, *folded, html.Small(more))


def by_owner(columns: Sequence[Column], rules: Sequence[RuleView]) -> list[Component]:
    """The rules of each owner, to be opened, in the order in which the first of each stands.

    Those of one alone are open.
    """
    found: dict[str, list[RuleView]] = {}
    for one in rules:
        found.setdefault(one.owner, []).append(one)
    return [_group(columns, owner, its, len(found) == 1) for owner, its in found.items()]


def _group(columns: Sequence[Column], owner: str, rules: Sequence[RuleView], opened: bool) -> Component:
    """An owner's rules, to be opened: one by one they are twenty screens of a phone."""
    states = Counter(one.state for one in rules)
    badges = [
        ui.badge(state if len(states) == 1 else f"{count} {state}", TONES.get(state, "plain"))
        for state, count in sorted(states.items())
    ]
    summary = [html.Strong(owner or "no owner"), ui.count(len(rules), "rule"), *badges]
    way = [html.P(ui.link("Effect and reason", f"/rules?owner={owner}"))] if owner else []
    listed = ui.table(columns, rules, "", f"Rules of {owner}" if owner else "Rules without owner")
    return html.Div(
        ui.details(html.Span(summary, className="badges"), *way, listed, opened=opened), className="folded"
    )


def _explained(here: Visit, owner: str, where: Column) -> Component:
    told = here.client.rules_explained(owner)
    columns = [
        where,
        Column("State", rule_state),
        Column("Effect", lambda one: _deeds(one)),
    ]
    why = [] if told.because is None else [html.P(told.because)]
    if told.decision:
        why.append(html.P(ui.link(f"Decision {told.decision}", f"/decisions/{told.decision}")))
    return ui.card(None, *why, ui.table(columns, told.items, "No rules.", f"Rules of {owner}"))


def _deeds(rule: RuleExplanation) -> Component:
    purpose = rule.purpose[:1].upper() + rule.purpose[1:]
    return html.Div(
        [
            html.Strong(f"{purpose}."),
            html.Div(f"Takes {rule.packets}: {', then '.join(rule.deeds)}."),
            html.Code(rule.text),
        ]
    )


def rule_state(rule: RuleView) -> Component:
    """Whether a rule stands in its switch, and what the switch said if not."""
    said = [ui.badge(rule.state, TONES.get(rule.state, "plain"))]
    if rule.error:
        said.append(html.Small(f" {rule.error}"))
    return html.Span(said)


def switch_column(here: Visit) -> Column:
    """Name of a rule's switch, where the user may know it."""
    network = _network(here)
    return _switch_column([] if network is None else network.switches)


def _switch_column(switches: Sequence[SwitchDetail]) -> Column:
    names = {one.dpid: one.name for one in switches}
    return Column(
        "Switch",
        lambda one: ui.link(names.get(one.dpid, one.dpid), switch_address(one.dpid)),
        whole=True,
    )


def _network(here: Visit) -> NetworkView | None:
    """Return the network; a user without permission does not request it, because a refusal is audited."""
    if not here.may(Action.NETWORK_READ):
        return None
    try:
        return here.client.topology()
    except Unavailable:
        return None


def owner_link(owner: str) -> Any:
    """Whose a rule is, with the way there."""
    if owner.startswith("f-"):
        return ui.link(owner, f"/flows/{owner}")
    return ui.link(owner, f"/rules?owner={owner}") if owner else "–"


def _differences(here: Visit) -> list[Component]:
    if not here.may(Action.NETWORK_READ):
        return []
    try:
        found = here.client.rules_diff()
    except Unavailable as error:
        return [ui.failure(error)]
    parts = [part for switch in found for part in _of_switch(switch)]
    return [ui.card("Differences from the desired rules", *(parts or [ui.empty("No switch is configured.")]))]


def _of_switch(switch: SwitchDifference) -> list[Component]:
    total = sum(len(getattr(switch, kind)) for kind, _ in KINDS)
    verdict = ui.badge(f"{total} differences", "wait") if total else ui.badge("no difference", "good")
    if not switch.connected:
        verdict = ui.badge("not connected", "bad")
    parts: list[Component] = [html.H3([switch.name, " ", verdict])]
    for kind, meaning in KINDS:
        rules = getattr(switch, kind)
        if rules:
            parts.append(html.P([html.Strong(kind), f": {meaning}"]))
            parts += [html.Div(html.Code(rule)) for rule in rules[:DIFFERENCES]]
        if len(rules) > DIFFERENCES:
            parts.append(html.Small(f"and {len(rules) - DIFFERENCES} more"))
    return parts


def _sent(here: Visit, where: Column) -> list[Component]:
    """What was sent to this switch or for this owner, or everywhere because of one event."""
    if not here.may(Action.NETWORK_READ):
        return []
    owner, cause = here.query.get("owner"), here.query.get("cause")
    flow = owner if owner and owner.startswith("f-") else None
    found = here.client.rules_sent(flow, here.query.get("dpid"), SENT, cause)
    columns = [
        Column("Time", lambda one: ui.when(one.at, here)),
        where,
        Column("Change", lambda one: ui.badge(one.op)),
        Column("Owner", lambda one: owner_link(one.owner)),
        Column(
            "Cause",
            lambda one: ui.link(one.cause, f"/rules?{urlencode({'cause': one.cause})}"),
            whole=True,
        ),
        Column("Rule", lambda one: html.Code(one.text)),
    ]
    title = f"Changes caused by {cause}" if cause else "Recent changes"
    listed = ui.table(columns, found, "No changes.", "Changes sent to switches")
    if cause or len(found) <= FEW:
        return [ui.card(title, listed)]
    return [ui.card(title, ui.details(f"The newest {len(found)} changes", listed))]


def _audit(here: Visit, _all: str) -> Component:
    switches = here.client.rules_sync()
    if not switches:
        return ui.notice("No switch is connected.", "wait")
    return ui.notice(f"Audited: {', '.join(switches)}.", "good")


def callbacks(app: Dash) -> None:
    """Add the audit."""
    ui.install_buttons(app, AUDIT, ANSWER, _audit, confirmed=True)


PAGE = Page("/rules", "Rules", Action.RULE_READ, show, live, group=Group.OPERATION, callbacks=callbacks)
