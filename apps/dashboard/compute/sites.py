"""Compute sites: whether they answer, what is free, how long a job would wait, what their word was worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.sites import CapacityView, ComputeSiteView, SiteResourcesView, WaitBiasView
from adon.broker.resources.amounts import amount_text
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Column, Tone
from apps.dashboard.visit import Visit

STATES: Mapping[str, tuple[str, Tone]] = {
    "answers": ("answers", "good"),
    "silent": ("does not answer", "bad"),
    "configured": ("not polled", "plain"),
}


def show(_here: Visit) -> Component:
    """The heading."""
    ways = [ui.link("Jobs", "/jobs"), ui.link("Reservations", "/reservations")]
    return ui.head("Compute sites", "Resources and queue waits of the sites that process data.", *ways)


def live(here: Visit) -> Component:
    """Every site."""
    sites = here.client.sites()
    if not sites:
        return ui.empty("No compute site is configured. Add one under compute: in the configuration.")
    free = {one.name: one for one in here.client.resources()}
    return ui.columns(*(_site(site, free.get(site.name), here) for site in sites))


def show_one(here: Visit) -> Component:
    """The heading of one site."""
    return ui.head(f"Compute site {here.parts['name']}", None, ui.link("All sites", "/sites"))


def live_one(here: Visit) -> Component:
    """One site.

    :raises NotFound: if there is none of this name.
    """
    site = here.client.site(here.parts["name"])
    free = {one.name: one for one in here.client.resources()}
    return _site(site, free.get(site.name), here)


def _site(site: ComputeSiteView, free: SiteResourcesView | None, here: Visit) -> Component:
    words, tone = STATES.get(site.state, (site.state, "plain"))
    since = "" if site.silent_since is None else html.Small([" since ", ui.when(site.silent_since, here)])
    waits = [
        Column("Job size", lambda one: f"{ui.count(one.nodes, 'node')}, {ui.count(one.cores, 'core')}"),
        Column("Reported wait", lambda one: ui.span(one.said_seconds), numeric=True),
        Column("Corrected wait", lambda one: ui.span(one.counted_seconds), numeric=True),
        Column("", lambda one: html.Small(one.why)),
    ]
    parts: list[Any] = [
        html.P([ui.badge(words, tone), since, html.Small(f" {site.why}" if site.why else "")]),
        ui.facts(
            ("Campus", site.site),
            ("Polled by", site.adapter or "not polled: configured values"),
            ("Programs", ", ".join(site.jobs)),
            ("Reserved for flows", _amounts({} if free is None else free.held)),
            ("Flows there", _flows(() if free is None else free.flows)),
            ("Per node", ui.rate(None if free is None else free.node_rate_bps)),
            ("Wait (Tq) as configured", ui.span(site.queue_wait_seconds)),
            ("Estimate bias", _word(site.honesty)),
        ),
        *([] if site.capacity is None else _levels(site.capacity)),
    ]
    if site.waits:
        parts += [
            html.H3("Queue waits"),
            ui.table(waits, site.waits, "", "Queue waits by job size"),
        ]
    return ui.card(ui.link(site.name, f"/sites/{site.name}"), *parts)


def _flows(flows: Sequence[str]) -> Component | None:
    links = [one for flow in flows for one in (ui.link(flow, f"/flows/{flow}"), " ")]
    return html.Span(links) if links else None


def _levels(there: CapacityView) -> list[Component]:
    lines = [
        _level("Cores", there.cores_free, there.cores),
        _level("Nodes", there.nodes_free, there.nodes),
        _level("Memory", there.memory_free_bytes, there.memory_bytes, size=True),
        _level("GPUs", there.gpus_free, there.gpus),
    ]
    return [line for line in lines if line is not None]


def _level(name: str, free: int | None, whole: int | None, *, size: bool = False) -> Component | None:
    if not whole:
        return None
    words = ui.size if size else str
    known = "?" if free is None else words(free)
    return html.Div(
        [html.Span(name), ui.bar((free or 0) / whole, f"{known} of {words(whole)} free")], className="pair"
    )


def _amounts(found: Mapping[str, int]) -> str:
    return ", ".join(amount_text(kind, amount) for kind, amount in found.items()) or "nothing"


def _word(honesty: WaitBiasView) -> str:
    if not honesty.jobs:
        return "no job yet"
    times = f"{honesty.factor:.2f} times the reported wait"
    return f"waits were {times}, from {ui.count(honesty.jobs, 'job')}"


PAGE = Page("/sites", "Compute sites", Action.COMPUTE_READ, show, live, refresh_s=10.0, group=Group.TRANSFERS)
ONE_PAGE = Page("/sites/<name>", "Compute site", Action.COMPUTE_READ, show_one, live_one, refresh_s=10.0)
