"""The policy in force, read-only: what is decided by, and where it is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.network import PolicyItem
from adon.templates_catalog.template_text import format_units
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit

GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Permissions", ("measurement_access", "use_access", "use")),
    ("Queue", ("preemption", "aging", "queue")),
    (
        "Path selection",
        ("unknown_paths", "no_test_above_reserved", "failed_path_holdoff", "standby_paths", "thresholds"),
    ),
    ("Compute", ("reserve_nodes",)),
    ("QoS", ("ladder", "dscp_by_priority", "reactive", "fireflies")),
)
REST = "Controller"
NAMES = {
    "measurement_access": "Access to measurements",
    "use_access": "Access to paths and compute sites",
    "thresholds": "Thresholds for degraded and bad values",
    "queue": "Queue order",
    "reserve_nodes": "Reserved worker nodes",
    "failed_path_holdoff": "Hold-down time of a failed path",
    "no_test_above_reserved": "Reserved share above which no test runs",
    "preemption": "Preemption by priority",
    "aging": "Queue time per step of priority",
    "unknown_paths": "Decision without measurements",
    "standby_paths": "Standby paths",
    "ladder": "Queue hierarchy of switches",
    "dscp_by_priority": "DSCP by priority",
    "reactive": "Unregistered connections that become flows",
    "fireflies": "Receivers of scitags fireflies",
    "counters_period": "Period of switch counters",
    "evidence_after": "Idle time that counts as no packets",
    "consistency_period": "Audit interval of switches",
    "drain": "Drain time of old rules after a reroute",
    "settle": "Settle time after a change",
    "priority_offset": "Offset of rule priorities",
    "credentials": "Tokens and sessions",
}
PARTS: Mapping[str, Mapping[str, str]] = {
    "queue": {
        "overtaken_for": "Starvation bound",
        "hurry": "Priority of a near deadline",
        "slack": "Slack of a near deadline",
        "headroom": "Reservation headroom",
        "reservable": "Reservable share of a path",
    },
    "ladder": {
        "shares": "Guaranteed shares by class",
        "queues": "Queue numbers",
        "burst": "Burst of a meter",
    },
    "credentials": {
        "token_lifetime": "Default token lifetime",
        "longest_token_lifetime": "Longest token lifetime",
        "session_idle": "Session idle time",
        "session_lifetime": "Longest session",
        "most_tokens": "Tokens per user",
    },
}
"""What a setting's parts are, by setting."""
SHARES = frozenset({"slack", "headroom", "reservable", "shares"})
"""Parts that are ratios."""
WORDS: Mapping[str, str] = {
    "default_path": "use the template's default path",
    "avoid": "select no path",
}
"""Values that are names."""


def show(here: Visit) -> Component:
    """Every setting, grouped; nothing of it moves, for it is changed in a file."""
    found = here.client.policy()
    by_name = {one.name: one for one in found}
    known = {name for _, names in GROUPS for name in names}
    groups = [*GROUPS, (REST, tuple(name for name in by_name if name not in known))]
    cards = [
        ui.card(
            title,
            html.Div([_setting(by_name[name]) for name in names if name in by_name], className="settings"),
        )
        for title, names in groups
        if any(name in by_name for name in names)
    ]
    return html.Div([ui.head("Policy", "Settings that apply to all templates."), _where(), html.Div(cards)])


def _where() -> Component:
    return ui.notice(
        [
            "Change it in the configuration file, section ",
            html.Code("policy:"),
            ". Check it with ",
            html.Code("adon config check FILE"),
            " and apply it with ",
            html.Code("adon reload"),
            ". Requirements of templates: ",
            ui.link("catalog", "/templates"),
            ".",
        ]
    )


def _setting(one: PolicyItem) -> Component:
    name, value = one.name, format_units(one.value)
    mark = ui.badge("configured", "good") if one.configured else ui.badge("default")
    head = html.H3([NAMES.get(name, name.replace("_", " ").capitalize()), " ", mark], id=name)
    meaning = (
        [html.Small(f"{one.meaning[:1].upper()}{one.meaning[1:]}.", className="muted")] if one.meaning else []
    )
    return html.Div(
        [head, _value(name, value), *meaning, html.Small([" ", html.Code(f"policy.{name}")])],
        className="setting",
    )


def _value(name: str, value: Any) -> Any:
    if value in (None, [], {}):
        return html.Div(NOTHING.get(name, "not set"))
    match value:
        case bool():
            return html.Div("yes" if value else "no")
        case [dict(), *_]:
            return _entries(name, value)
        case list():
            return html.Div(", ".join(str(one) for one in value))
        case dict():
            return ui.facts(*_flat(value, "", PARTS.get(name, {})))
        case _:
            return html.Div(_plain(value))


NOTHING = {
    "measurement_access": "No users named; the roles decide.",
    "use_access": "No users named; the roles decide.",
    "standby_paths": "All paths.",
    "thresholds": "The bounds of templates.",
    "no_test_above_reserved": "No limit.",
    "reactive": "None.",
    "dscp_by_priority": "None.",
    "fireflies": "None.",
}


def _entries(name: str, entries: list[Any]) -> Component:
    keys = list(dict.fromkeys(key for one in entries for key, value in one.items() if value is not None))
    columns = [Column(key.strip("_").replace("_", " ").capitalize(), _cell(key)) for key in keys]
    return ui.table(columns, entries, "", NAMES.get(name, name))


def _cell(key: str) -> Any:
    def shown(one: Mapping[str, Any]) -> str:
        value = one.get(key)
        if value is None:
            return "anything"
        return ", ".join(str(part) for part in value) if isinstance(value, list) else str(value)

    return shown


def _flat(value: Mapping[str, Any], above: str, names: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for name, part in value.items():
        words = f"{above}{names.get(name, name.replace('_', ' '))}"
        if isinstance(part, Mapping) and part:
            yield from _flat(part, f"{words}: ", names)
        else:
            yield f"{words[:1].upper()}{words[1:]}", _plain(part, share=name in SHARES)


def _plain(part: Any, *, share: bool = False) -> str:
    if part in (None, [], {}):
        return "none"
    match part:
        case bool():
            return "yes" if part else "no"
        case list():
            return ", ".join(_plain(one, share=share) for one in part)
        case int() | float() if share:
            return ui.share(part)
        case _:
            return WORDS.get(part, str(part).replace("_", " "))


PAGE = Page("/policy", "Policy", Action.NETWORK_READ, show, group=Group.POLICY)
