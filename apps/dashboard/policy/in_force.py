"""The policy in force, read-only: what is decided by, and where it is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.network import PolicyItem
from adon.templates_catalog.template_text import readable
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit

GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Who may", ("measurement_access", "use_access", "use")),
    ("Who goes first", ("preemption", "aging", "queue")),
    (
        "Choosing paths",
        ("unknown_paths", "no_test_above_reserved", "failed_path_holdoff", "standby_paths", "thresholds"),
    ),
    ("Computing", ("reserve_nodes",)),
    ("What flows get", ("ladder", "dscp_by_priority", "reactive", "fireflies")),
)
REST = "How the controller works"
NAMES = {
    "measurement_access": "Who may start and read measurements",
    "use_access": "Who may use what",
    "thresholds": "From when a value is worth a look, or bad",
    "queue": "The order of the queue",
    "reserve_nodes": "Worker nodes kept free",
    "failed_path_holdoff": "A path that failed is left alone for",
    "no_test_above_reserved": "No test above this share of a path reserved",
    "preemption": "A higher priority takes the lowest one's place",
    "aging": "One step of priority is gained by waiting",
    "unknown_paths": "Where nothing is known of any path",
    "standby_paths": "Paths that stand by",
    "ladder": "The queue ladder of the switches",
    "dscp_by_priority": "DSCP by priority",
    "reactive": "Unannounced connections that become flows",
    "fireflies": "Who is told of flows (scitags)",
    "counters_period": "Counters of switches are read every",
    "evidence_after": "It counts as no packets when none came for",
    "consistency_period": "Switches are compared with what should be every",
    "drain": "After a move the rules of before stay for",
    "settle": "What is reported so soon after a change is not believed",
    "priority_offset": "Shift of our rules' priorities",
    "credentials": "Tokens and sessions",
}
PARTS: Mapping[str, Mapping[str, str]] = {
    "queue": {
        "overtaken_for": "Overtaken by others for at most",
        "hurry": "A near deadline counts as priorities",
        "slack": "A deadline is near with so much more time than needed",
        "headroom": "Reserved beyond what is needed",
        "reservable": "Of a path that can be reserved",
    },
    "ladder": {
        "shares": "Guaranteed, from the top rung down",
        "queues": "Numbers of the queues",
        "burst": "Beyond a meter's rate for",
    },
    "credentials": {
        "token_lifetime": "A token is good for, unless it says",
        "longest_token_lifetime": "… and for at most",
        "session_idle": "A browser that asks nothing is signed out after",
        "session_lifetime": "… and any after",
        "most_tokens": "Tokens of one user at most",
    },
}
"""What a setting's parts are, by setting."""
SHARES = frozenset({"slack", "headroom", "reservable", "shares"})
"""Parts that are ratios."""
WORDS: Mapping[str, str] = {
    "default_path": "the template's default path is taken",
    "avoid": "none is taken",
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
    return html.Div(
        [ui.head("Policy", "What every decision keeps to, whatever the template."), _where(), html.Div(cards)]
    )


def _where() -> Component:
    return ui.notice(
        [
            "It is changed in the configuration file, below ",
            html.Code("policy:"),
            ". Check it with ",
            html.Code("adon config check FILE"),
            " and take it over with ",
            html.Code("adon reload"),
            "; what each template asks for is in the ",
            ui.link("catalog", "/templates"),
            ".",
        ]
    )


def _setting(one: PolicyItem) -> Component:
    name, value = one.name, readable(one.value)
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
    "measurement_access": "No entry: roles decide.",
    "use_access": "No entry: every user may use everything.",
    "standby_paths": "All of them.",
    "thresholds": "The templates' bounds say so.",
    "no_test_above_reserved": "Tests run whatever is reserved.",
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
