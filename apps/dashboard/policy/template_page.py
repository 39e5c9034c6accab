"""``/templates/<name>``: requirements, lookup tables, versions and outcomes of a template."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.templates import VersionView
from adon.errors import InvalidInput
from adon.templates_catalog.template_text import format_units, write_template
from apps.dashboard import ui
from apps.dashboard.page import Page
from apps.dashboard.policy.formats import Document, bound_texts, error_text, may_own, weight_text
from apps.dashboard.policy.lookup_curves import template_charts
from apps.dashboard.policy.outcome_view import outcome_statistics, outcome_table
from apps.dashboard.ui.document_table import Columns, document_table
from apps.dashboard.visit import Visit

LATEST = 200
"""Latest outcomes that the statistics are of."""
LISTED = 12
SCORING = (
    "Q is the weighted mean of the scores of all metrics. ADON selects the highest Q among the candidates "
    "that meet every bound."
)


def show(here: Visit) -> Component:
    """The template; a version never changes."""
    name = here.parts["name"]
    versions = here.client.versions(name)
    latest = versions[-1].version
    version = _version(here.query.get("version"), latest)
    before = _version(here.query["before"], latest) if "before" in here.query else None
    template = here.client.template(name, str(version))
    text = html.Pre(
        write_template(template, version=False), tabIndex=0, **{"aria-label": "The template as YAML"}
    )
    return html.Div(
        [
            _head(here, template, latest),
            _requirements(template),
            _scores(here, template, before),
            _versions(here, versions, version),
            None if before is None else _changes(here, name, before, version),
            ui.card("Source", ui.details("YAML", text)),
        ]
    )


def live(here: Visit) -> Component:
    """Outcomes of its latest flows."""
    name = here.parts["name"]
    found = here.client.outcomes(template=name, limit=LATEST)
    summary = outcome_statistics(found)
    facts = ui.facts(
        ("Ended flows", f"{summary.flows}" + (" or more" if summary.flows == LATEST else "")),
        ("Bounds met", summary.kept_text),
        ("Prediction error (median)", error_text(summary.error)),
        ("Last flow", ui.ago(summary.last_at, here)),
    )
    table = outcome_table(here, found[:LISTED], "No flow has used this template.")
    more = html.P(ui.link("All outcomes", f"/outcomes?template={name}"))
    return ui.card("Outcomes", facts if found else None, table, more)


def _version(text: str | None, latest: int) -> int:
    if text is None:
        return latest
    if not text.isdecimal() or len(text) > 9:
        raise InvalidInput.of("version", "is not a whole number; expected for example 3")
    return int(text)


def _head(here: Visit, template: Document, latest: int) -> Component:
    name, version = template["name"], template["version"]
    deeds: list[Component] = []
    if may_own(here, Action.TEMPLATE_ADD):
        deeds.append(ui.link("New version", f"/templates/{name}/edit", button=True))
    if may_own(here, Action.FLOW_SUBMIT):
        deeds.append(ui.link("New transfer", f"/new?template={name}", button=True))
    notices = []
    if here.query.get("saved") == str(version):
        notices.append(ui.notice(f"Saved as version {version}.", "good"))
    if version != latest:
        link = ui.link("Latest version", f"/templates/{name}")
        notices.append(ui.notice([f"Version {version}. New flows use version {latest}. ", link], "wait"))
    if template["mode"] == "dry-run":
        notices.append(ui.notice("Dry run: ADON records decisions and installs no rules.", "wait"))
    return html.Div([ui.head(f"{name}, version {version}", template["title"], *deeds), *notices])


def _requirements(template: Document) -> Component:
    rspec, selection = format_units(template["rspec"]), format_units(template["selection"])
    facts = (
        ("Bounds (QSpec)", ", ".join(bound_texts(template["qspec"])) or "none"),
        ("Bounds apply to", _bounded_streams(template)),
        ("Weights", weight_text(template["weights"])),
        ("Bandwidth ceiling", rspec["bandwidth_ceiling"]),
        ("Compute", _compute(rspec)),
        ("Storage", None if rspec["storage"] == "0 B" else rspec["storage"]),
        ("Software", ", ".join(rspec["software"])),
        ("Sites", ", ".join(rspec["sites"]) or "any"),
        ("Matches", _matches(template)),
        ("Transport", f"{template['protocol'].upper()}, {ui.count(template['streams'], 'stream')}"),
        ("Priority", str(template["priority"])),
        ("Reroute", f"for {selection['switch_margin']:g} of Q, after {selection['patience']} misses"),
        ("Minimum dwell time", selection["min_dwell"]),
        ("Maximum age of measurements", selection["max_age"]),
        ("Queue limit", selection["queue_patience"]),
        ("Cost function", template["cost"] and template["cost"]["function"].replace("_", " ")),
        ("Preemptible", "yes" if template["pausable"] else "no"),
        ("Triggers", ", ".join(one["name"] for one in template["triggers"])),
    )
    description, notes = template["description"], template["notes"]
    return ui.card(
        "Requirements",
        html.P(description) if description else None,
        ui.facts(*facts),
        ui.details("Notes", html.P(notes)) if notes else None,
    )


def _bounded_streams(template: Document) -> str | None:
    streams = (template["qspec"].get("throughput") or {}).get("streams")
    return None if streams is None else ui.count(streams, "stream")


def _compute(rspec: Mapping[str, Any]) -> str:
    compute = rspec["compute"]
    if not compute:
        return ""
    parts = [ui.count(compute["worker_nodes"], "node"), ui.count(compute["cores"], "core")]
    return ", ".join(parts if compute["memory"] == "0 B" else [*parts, compute["memory"]])


def _matches(template: Document) -> str:
    match = template["match"]
    ports = [f"port {one}" for one in match["ports"]]
    return ", ".join([*match["applications"], *ports, *(f"DSCP {one}" for one in match["dscp"])])


def _scores(here: Visit, template: Document, before: int | None) -> Component:
    checked = here.client.check_template(json.dumps(template), "json")
    if before is None:
        charts = template_charts("template", checked.curves, template["qspec"])
    else:
        older = here.client.template(template["name"], str(before))
        curves = here.client.check_template(json.dumps(older), "json").curves
        names = (f"version {before}", f"version {template['version']}")
        charts = template_charts("template", checked.curves, template["qspec"], curves, names)
    return ui.card("Scores of candidates", html.P(SCORING, className="muted"), charts)


def _versions(here: Visit, versions: Sequence[VersionView], shown: int) -> Component:
    columns: Columns = {
        "Version": lambda one: ui.link(f"{one.version}", f"/templates/{one.name}?version={one.version}"),
        "Saved": "saved_at",
        "Author": "author",
        "Title": "title",
        "": lambda one: _comparison_link(one, shown),
    }
    table = document_table(
        here, columns, reversed(versions), "", "Versions", marked=lambda one: one.version == shown
    )
    return ui.card("Versions", table, html.Small("A saved version never changes.", className="muted"))


def _comparison_link(one: VersionView, shown: int) -> Any:
    if one.version == shown:
        return ui.badge("shown", "good")
    early, late = sorted((shown, one.version))
    return ui.link(f"Compare with {shown}", f"/templates/{one.name}?version={late}&before={early}")


def _changes(here: Visit, name: str, before: int, version: int) -> Component:
    found = here.client.template_diff(name, before, version)
    columns: Columns = {
        "Field": lambda one: html.Code(one.field),
        "Before": lambda one: value_text(one.before),
        "After": lambda one: value_text(one.after),
    }
    table = document_table(here, columns, found.changes, "No differences.", "Values that differ")
    count = len(found.changes)
    differ = (
        "no differences"
        if not count
        else f"{ui.count(count, 'value')} {'differ' if count > 1 else 'differs'}"
    )
    diff = html.Pre(found.text, tabIndex=0, **{"aria-label": "Difference of both versions as YAML"})
    text = ui.details("Text comparison", diff) if found.text else None
    return ui.card(f"From version {before} to {version}: {differ}", table, text)


def value_text(value: Any) -> str:
    """Return a value of a template with its unit, on one line."""
    shown = format_units(value)
    if shown in (None, [], {}):
        return ui.words.NONE
    if isinstance(shown, list):
        return ", ".join(_item_text(one) for one in shown)
    return str(shown)


def _item_text(one: Any) -> str:
    """Return ``10 Gbps → 10`` for a point of a lookup table, and the name of a trigger."""
    match one:
        case [value, score]:
            return f"{value} → {score:g}" if isinstance(score, int | float) else f"{value} → {score}"
        case dict():
            return str(one.get("name", one))
        case _:
            return str(one)


PAGE = Page("/templates/<name>", "Template", Action.TEMPLATE_READ, show, live, 30.0)
