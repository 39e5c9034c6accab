"""``/sites``: compute sites with their resources, queue waits and the bias of their reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.sites import CapacityView, ComputeSiteView, SiteResourcesView, WaitBiasView
from adon.broker.resources.amounts import amount_text
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Tone
from apps.dashboard.ui.document_table import Columns, document_table
from apps.dashboard.visit import Visit

STATES: Mapping[str, tuple[str, Tone]] = {
    "answers": ("answers", "good"),
    "silent": ("does not answer", "bad"),
    "configured": ("not polled", "plain"),
}
WAITS: Columns = {
    "Job size": lambda one: f"{ui.count(one.nodes, 'node')}, {ui.count(one.cores, 'core')}",
    "Reported wait": "said_seconds",
    "Corrected wait": "counted_seconds",
    "Basis": lambda one: html.Small(one.why),
}


def show(_here: Visit) -> Component:
    """The heading."""
    ways = [ui.link("Jobs", "/jobs"), ui.link("Reservations", "/reservations")]
    return ui.head("Compute sites", "Resources and queue waits of the sites that process data.", *ways)


def live(here: Visit) -> Component:
    """All sites."""
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

    :raises NotFound: if no site has this name.
    """
    site = here.client.site(here.parts["name"])
    free = {one.name: one for one in here.client.resources()}
    return _site(site, free.get(site.name), here)


def _site(site: ComputeSiteView, free: SiteResourcesView | None, here: Visit) -> Component:
    words, tone = STATES.get(site.state, (site.state, "plain"))
    since = "" if site.silent_since is None else html.Small([" since ", ui.when(site.silent_since, here)])
    parts = [
        html.P([ui.badge(words, tone), since, html.Small(f" {site.why}" if site.why else "")]),
        ui.facts(
            ("Campus", site.site),
            ("Polled by", site.adapter or "not polled: configured values"),
            ("Programs", ", ".join(site.jobs)),
            ("Reserved for flows", _amounts({} if free is None else free.held)),
            ("Flows there", _flows(() if free is None else free.flows)),
            ("Per node", ui.rate(None if free is None else free.node_rate_bps)),
            ("Wait (Tq) as configured", ui.span(site.queue_wait_seconds)),
            ("Estimate bias", _bias(site.honesty)),
        ),
        *([] if site.capacity is None else _levels(site.capacity)),
    ]
    if site.waits:
        table = document_table(here, WAITS, site.waits, "", "Queue waits by job size")
        parts += [html.H3("Queue waits"), table]
    return ui.card(ui.link(site.name, f"/sites/{site.name}"), *parts)


def _flows(flows: Sequence[str]) -> Component | None:
    links = [one for flow in flows for one in (ui.link(flow, f"/flows/{flow}"), " ")]
    return html.Span(links) if links else None


def _levels(capacity: CapacityView) -> list[Component]:
    """Free share of each kind of resource that the site has."""
    levels = (
        ("Cores", capacity.cores_free, capacity.cores, str),
        ("Nodes", capacity.nodes_free, capacity.nodes, str),
        ("Memory", capacity.memory_free_bytes, capacity.memory_bytes, ui.size),
        ("GPUs", capacity.gpus_free, capacity.gpus, str),
    )
    lines = []
    for name, free, total, text in levels:
        if total:
            known = "?" if free is None else text(free)
            bar = ui.bar((free or 0) / total, f"{known} of {text(total)} free")
            lines.append(html.Div([html.Span(name), bar], className="pair"))
    return lines


def _amounts(found: Mapping[str, int]) -> str:
    return ", ".join(amount_text(kind, amount) for kind, amount in found.items()) or "nothing"


def _bias(bias: WaitBiasView) -> str:
    if not bias.jobs:
        return "no jobs yet"
    times = f"{bias.factor:.2f} times the reported wait"
    return f"waits were {times}, from {ui.count(bias.jobs, 'job')}"


PAGE = Page("/sites", "Compute sites", Action.COMPUTE_READ, show, live, refresh_s=10.0, group=Group.TRANSFERS)
ONE_PAGE = Page("/sites/<name>", "Compute site", Action.COMPUTE_READ, show_one, live_one, refresh_s=10.0)
