"""``/policy``: the settings of section ``policy`` in force."""

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
from apps.dashboard.ui.document_table import Columns, document_table
from apps.dashboard.visit import Visit

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
COLUMNS: Columns = {
    "Setting": lambda one: NAMES.get(one.name, one.name.replace("_", " ").capitalize()),
    "Value": lambda one: html.Div([html.Div(line) for line in value_lines(format_units(one.value))]),
    "Source": lambda one: ui.badge("configured", "good") if one.configured else ui.badge("default"),
    "Key": lambda one: html.Code(f"policy.{one.name}"),
}


def show(here: Visit) -> Component:
    """All settings, in the order of their names; the configuration file changes them."""
    settings: list[PolicyItem] = sorted(here.client.policy(), key=lambda one: NAMES.get(one.name, one.name))
    notice = ui.notice(
        [
            *("Change it in the configuration file, section ", html.Code("policy:"), ". Check it with "),
            *(html.Code("adon config check FILE"), " and apply it with ", html.Code("adon reload"), "."),
        ]
    )
    table = document_table(here, COLUMNS, settings, "", "Settings of the policy")
    return html.Div(
        [ui.head("Policy", "Settings that apply to all templates."), notice, ui.card(None, table)]
    )


def value_lines(value: Any) -> Iterator[str]:
    """Yield the value of a setting in lines; parts of a value have their names."""
    if value in (None, [], {}):
        yield "not set"
    elif isinstance(value, Mapping):
        yield from _part_lines(value)
    elif isinstance(value, list) and isinstance(value[0], Mapping):
        for entry in value:
            yield "; ".join(_part_lines(entry))
    elif isinstance(value, list):
        yield ", ".join(_plain_text(one) for one in value)
    else:
        yield _plain_text(value)


def _part_lines(parts: Mapping[str, Any]) -> Iterator[str]:
    for name, part in parts.items():
        if part is not None:
            yield f"{name.strip('_').replace('_', ' ')}: {', '.join(value_lines(part))}"


def _plain_text(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value).replace("_", " ")


PAGE = Page("/policy", "Policy", Action.NETWORK_READ, show, group=Group.POLICY)
