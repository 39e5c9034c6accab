"""One template: what it asks for, how it scores, how it became so, and how its flows fare."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.templates import TemplateCheck, VersionView
from adon.errors import InvalidInput
from adon.templates_catalog.template_text import format_units, write_template
from apps.dashboard import ui
from apps.dashboard.page import Page
from apps.dashboard.policy import differing, tables
from apps.dashboard.policy.health import health
from apps.dashboard.policy.outcome_table import outcome_table
from apps.dashboard.policy.words import Document, allowed, bounds, error, weights
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit

LATEST = 200
SHOWN = 12


def show(here: Visit) -> Component:
    """The template as it is; versions never change, so nothing of it moves."""
    name = here.parts["name"]
    versions = here.client.versions(name)
    latest = versions[-1].version
    version = _version(here.query.get("version"), latest)
    template = here.client.template(name, str(version))
    checked = here.client.check_template(json.dumps(template), "json")
    content = [
        _head(here, template, latest),
        _needs(template),
        ui.card("Scores of candidates", *_scoring(here, template, checked, version)),
        _versions(here, name, versions, version),
    ]
    if "before" in here.query:
        content.append(_difference(here, name, version))
    content += [ui.card("Source", _written(template))]
    return html.Div(content)


def live(here: Visit) -> Component:
    """How its last flows fared."""
    name = here.parts["name"]
    found = here.client.outcomes(template=name, limit=LATEST)
    fared = health(found)
    kept = f"{fared.kept} of {fared.judged}" if fared.judged else ui.words.NONE
    facts = ui.facts(
        ("Ended flows", f"{fared.flows}" + (" or more" if fared.flows == LATEST else "")),
        ("Bounds met", kept),
        ("Prediction error (median)", error(fared.error)),
        ("Last flow", ui.ago(fared.last, here)),
    )
    shown = outcome_table(found[:SHOWN], here, "No flow has used this template.")
    more = ui.link("All outcomes", f"/outcomes?template={name}")
    return ui.card("Outcomes", facts if found else None, shown, html.P(more))


def _version(text: str | None, latest: int) -> int:
    if text is None:
        return latest
    if not text.isdecimal() or len(text) > 9:
        raise InvalidInput.of("version", "is not a whole number")
    return int(text)


def _head(here: Visit, template: Document, latest: int) -> Component:
    name, version = template["name"], template["version"]
    deeds: list[Component] = []
    if allowed(here, Action.TEMPLATE_ADD):
        deeds.append(ui.link("New version", f"/templates/{name}/edit", button=True))
    if allowed(here, Action.FLOW_SUBMIT):
        deeds.append(ui.link("New transfer", f"/new?template={name}", button=True))
    older = (
        []
        if version == latest
        else [
            ui.notice(
                [
                    f"Version {version}. New flows use version {latest}. ",
                    ui.link("Latest version", f"/templates/{name}"),
                ],
                "wait",
            )
        ]
    )
    saved = here.query.get("saved")
    done = [ui.notice(f"Saved as version {version}.", "good")] if saved == str(version) else []
    dry_run = [ui.notice("Dry run: ADON records decisions and installs no rules.", "wait")]
    title = f"{name}, version {version}"
    return html.Div(
        [
            ui.head(title, template["title"], *deeds),
            *done,
            *older,
            *(dry_run if template["mode"] == "dry-run" else []),
        ]
    )


def _needs(template: Document) -> Component:
    rspec, match, selection = (format_units(template[one]) for one in ("rspec", "match", "selection"))
    compute = rspec["compute"]
    asked = [ui.count(compute["worker_nodes"], "node"), ui.count(compute["cores"], "core")] if compute else []
    if compute and compute["memory"] != "0 B":
        asked.append(compute["memory"])
    recognised = [*match["applications"], *(f"port {one}" for one in match["ports"])]
    recognised += [f"DSCP {one}" for one in match["dscp"]]
    qspec, cost = template["qspec"], template["cost"]
    streams = (qspec.get("throughput") or {}).get("streams")
    return ui.card(
        "Requirements",
        *([html.P(template["description"])] if template["description"] else []),
        ui.facts(
            ("Bounds (QSpec)", ", ".join(bounds(qspec)) or "none"),
            ("Bounds apply to", None if streams is None else f"{streams} stream{'s' if streams > 1 else ''}"),
            ("Weights", weights(template["weights"])),
            ("Bandwidth ceiling", rspec["bandwidth_ceiling"]),
            ("Compute", ", ".join(asked)),
            ("Storage", None if rspec["storage"] == "0 B" else rspec["storage"]),
            ("Software", ", ".join(rspec["software"])),
            ("Sites", ", ".join(rspec["sites"]) or "any"),
            ("Matches", ", ".join(recognised)),
            ("Transport", f"{template['protocol'].upper()}, {ui.count(template['streams'], 'stream')}"),
            ("Priority", str(template["priority"])),
            ("Reroute", f"for {selection['switch_margin']:g} of Q, after {selection['patience']} misses"),
            ("Minimum dwell time", selection["min_dwell"]),
            ("Maximum age of measurements", selection["max_age"]),
            ("Queue limit", selection["queue_patience"]),
            ("Cost function", None if not cost else cost["function"].replace("_", " ")),
            ("Preemptible", "yes" if template["pausable"] else "no"),
        ),
        *([ui.details("Notes", html.P(template["notes"]))] if template["notes"] else []),
        *_more(template),
    )


def _more(template: Document) -> list[Component]:
    found: list[Component] = []
    if template["triggers"]:
        lines = [html.Li([html.Strong(one["name"])]) for one in template["triggers"]]
        found.append(ui.details(f"Triggers ({len(lines)})", html.Ul(lines)))
    return found


def _scoring(here: Visit, template: Document, checked: TemplateCheck, version: int) -> list[Component]:
    lead = html.P(
        "Q is the weighted mean of the scores of all metrics. ADON selects the highest Q among the "
        "candidates that meet every bound.",
        className="muted",
    )
    before = here.query.get("before")
    if before is None:
        return [lead, tables.pictures("template", checked.curves, template["qspec"])]
    older = here.client.template(template["name"], str(_version(before, version)))
    held = here.client.check_template(json.dumps(older), "json").curves
    names = (f"version {before}", f"version {version}")
    return [lead, tables.pictures("template", checked.curves, template["qspec"], held, names)]


def _versions(here: Visit, name: str, versions: Sequence[VersionView], shown: int) -> Component:
    compared = [one for one in versions if one.version != shown]
    columns = [
        Column("Version", lambda one: ui.link(f"{one.version}", f"/templates/{name}?version={one.version}")),
        Column("Saved", lambda one: ui.when(one.saved_at, here)),
        Column("By", lambda one: one.author),
        Column("Title", lambda one: one.title or ui.words.NONE),
        Column("", lambda one: _against(name, shown, one.version)),
    ]
    says = "A saved version never changes." + (
        " Each row compares with the shown version." if compared else ""
    )
    return ui.card(
        "Versions",
        ui.table(columns, reversed(versions), "", "Versions", lambda one: one.version == shown),
        html.Small(says, className="muted"),
    )


def _against(name: str, shown: int, other: int) -> Any:
    if other == shown:
        return ui.badge("shown", "good")
    # The later one is shown, with what it changed of the earlier one.
    early, late = sorted((shown, other))
    return ui.link(f"Compare with {shown}", f"/templates/{name}?version={late}&before={early}")


def _difference(here: Visit, name: str, version: int) -> Component:
    before = _version(here.query["before"], version)
    found = here.client.template_diff(name, before, version)
    names = f"version {before}", f"version {version}"
    compared = [here.client.template(name, str(one)) for one in (before, version)]
    texts = [write_template(one, version=False) for one in compared]
    return ui.card(
        f"From version {before} to {version}: {differing.summary(found)}",
        differing.changes(found.changes),
        ui.details("Text comparison", differing.side_by_side(texts[0], texts[1], names)),
    )


def _written(template: Document) -> Component:
    text = write_template(template, version=False)
    return ui.details("YAML", html.Pre(text, tabIndex=0, **{"aria-label": "The template as YAML"}))


PAGE = Page("/templates/<name>", "Template", Action.TEMPLATE_READ, show, live, 30.0)
