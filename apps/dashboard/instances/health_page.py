"""``/instances``: how well instances reach each other, by the latest round or an earlier one."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from dash import Dash, Input, Output, State, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.studies.model import StudyKind
from apps.dashboard import ui
from apps.dashboard.instances.opened import READ, Opened, opened, options
from apps.dashboard.page import Group, Page
from apps.dashboard.policy import filters
from apps.dashboard.router import URL
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit
from apps.figures import health as figures
from measurement.health.choosing import Chosen, mutually, towards
from measurement.health.model import Found, Pair
from measurement.health.record import RoundRecord
from measurement.health.scoring import Part, around
from measurement.model import from_json

_ROUND = partial(from_json, RoundRecord)
PATH = "/instances"
PREFIX = "instances"
MAP = "instances-map"
NAMES = ("study", "source", "destination", "towards", "k", "order")
MUTUALLY = ""
MOST_K = 100
ROUNDS = 8
"""Rounds that the history of a pair goes back, at most, as far as they are not too large."""
HISTORY_BYTES = 8_000_000
WORST = 10
PARTS = {
    Part.THROUGHPUT: "Throughput",
    Part.ICMP: "ICMP round trips",
    Part.UDP: "UDP round trips and sandwich",
    Part.TCP: "TCP connect and round trips",
}


def show(here: Visit) -> Component:
    """The heading, which round, which pair, whom to choose."""
    found = opened(here, StudyKind.HEALTH_ROUND, _ROUND)
    lead = "Health of each pair of instances, from 0 (unreachable) to 1."
    head = ui.head("Health of instances", lead, ui.link("Placements", "/placements"))
    if found is None:
        return html.Div([head])
    names = figures.by_zone(found.value)
    named = [(name, name) for name in names]
    anybody = [("", "none"), *named]
    fields = [
        filters.choice(PREFIX, "study", "Round", here, options(here, StudyKind.HEALTH_ROUND, "latest")),
        filters.choice(PREFIX, "source", "Source", here, anybody),
        filters.choice(PREFIX, "destination", "Destination", here, anybody),
        filters.choice(PREFIX, "towards", "Choose", here, [(MUTUALLY, "mutually"), *_towards(names)]),
        filters.choice(PREFIX, "k", "Instances", here, [("", "none"), *_counts(len(names))]),
        filters.choice(PREFIX, "order", "Order", here, [("", "healthiest"), ("worst", "least healthy")]),
    ]
    return html.Div([head, filters.form(PREFIX, fields, PATH)])


def _towards(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, f"towards {name}") for name in names]


def _counts(known: int) -> list[tuple[str, str]]:
    return [(str(count), str(count)) for count in range(2, min(known, MOST_K + 1))]


def live(here: Visit) -> Component:
    """The round."""
    found = opened(here, StudyKind.HEALTH_ROUND, _ROUND)
    if found is None:
        return ui.card(
            None,
            ui.empty("No health rounds yet. Submit one with `adon study submit health-round FILE`."),
        )
    record = found.value
    pair = _pair(here.query, record)
    chosen, why_not = _chosen(here.query, record)
    graph, stress = figures.graph(record, chosen=() if chosen is None else chosen.instances)
    return html.Div(
        [
            _summary(found, here),
            *([] if pair is None else [_about(pair, found, here)]),
            *_choice(chosen, why_not, here.query),
            ui.card(
                "Health of pairs",
                ui.chart(
                    MAP,
                    figures.heat_map(record, pair),
                    "Health from the row to the column, by zone. Cross: time-out or marker. Grey: unknown.",
                    height=figures.tall(record),
                ),
            ),
            ui.columns(
                ui.card(
                    "Health as distance",
                    ui.chart(
                        "instances-graph",
                        graph,
                        "Short lines join healthy pairs. Error of the projection: "
                        f"{stress:.0%} of the longest line. Diamond: chosen instance.",
                        height=420,
                    ),
                ),
                ui.card("Least healthy pairs", _worst(record, here)),
            ),
            _fired(record, here),
        ]
    )


def _summary(found: Opened[RoundRecord], here: Visit) -> Component:
    record = found.value
    known = [one.total for one in record.scores.values() if one.total is not None]
    median = statistics.median(known) if known else None
    return ui.card(
        found.study.title,
        *([ui.notice(f"Interrupted: {record.interrupted}", "wait")] if record.interrupted else []),
        ui.facts(
            ("Start", ui.when(found.study.at, here)),
            ("Duration", ui.span(record.ended - record.began)),
            ("Pairs", f"{len(record.found)} of {len(record.planned)}"),
            ("Median health", None if median is None else f"{median:.2f}"),
            ("Timed out", str(sum(one.timed_out for one in record.scores.values()))),
            ("Failed probes", str(len(record.failures))),
            ("Verified by a transfer", str(len(record.verified))),
            ("Study", found.study.id),
        ),
    )


def _pair(query: Mapping[str, str], record: RoundRecord) -> Pair | None:
    asked = Pair(query.get("source", ""), query.get("destination", ""))
    known = asked.source != asked.destination and {*asked} <= {*record.zones}
    return asked if known else None


def _about(pair: Pair, found: Opened[RoundRecord], here: Visit) -> Component:
    """One pair: the parts of its score, what was found, markers, how it was before."""
    record = found.value
    score, seen = record.scores.get(pair), record.found.get(pair)
    known = {} if score is None else score.parts
    bars = [(PARTS[part], ui.bar(known[part], f"{known[part]:.2f}")) for part in PARTS if part in known]
    total = "unknown" if score is None or score.total is None else f"{score.total:.3f}"
    lines = [html.Li(f"{one.marker}: {one.why}") for one in record.fired.get(pair, ())]
    lines += [html.Li(f"{one.kind} failed: {one.why}") for one in record.failures if one.pair == pair]
    back = record.scores.get(pair.back)
    other = "unknown" if back is None or back.total is None else f"{back.total:.3f}"
    rounds, points = _history(pair, found, here)
    return ui.card(
        f"{pair.source} > {pair.destination}",
        ui.facts(
            ("Health", total),
            (
                "Reverse direction",
                ui.link(other, _address(here, source=pair.destination, destination=pair.source)),
            ),
            *_measured(seen),
            ("Missing", ", ".join(score.missing) if score is not None and score.missing else None),
        ),
        *([ui.facts(*bars)] if bars else []),
        *([html.Ul(lines)] if lines else []),
        ui.chart("instances-history", figures.history(points), f"Health in the last {rounds}.", height=200),
    )


def _measured(seen: Found | None) -> list[tuple[str, Any]]:
    if seen is None:
        return [("Result", "unreachable")]
    small = seen.icmp.get(64, ())
    return [
        ("ICMP round trip (64 B), mean", ui.span(_mean(small))),
        ("TCP connect, mean", ui.span(_mean(seen.connect))),
        ("Throughput", ui.rate(_mean(seen.throughput))),
        ("Silent", ", ".join(sorted(seen.silent)) or None),
    ]


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _history(
    pair: Pair, found: Opened[RoundRecord], here: Visit
) -> tuple[str, list[tuple[datetime, float | None]]]:
    """The health of a pair in this round and those before it, as far as they are not too large to read."""
    points, read = [], 0
    earlier = [one for one in found.listed if one.at <= found.study.at]
    for one in earlier[:ROUNDS]:
        read += one.document_bytes
        if read > HISTORY_BYTES:
            break
        same = one.id == found.study.id
        record = found.value if same else READ.value(here.client.study(one.id), _ROUND)
        score = record.scores.get(pair)
        at = datetime.fromtimestamp(record.began, here.zone)
        points.append((at, None if score is None else score.total))
    return ui.count(len(points), "round"), points[::-1]


def _chosen(query: Mapping[str, str], record: RoundRecord) -> tuple[Chosen | None, str]:
    """The instances that the address selects, or the reason why there are none."""
    text = query.get("k", "")
    if not text.isascii() or not text.isdecimal() or len(text) > 3:
        return None, ""
    place, worst = query.get("towards", MUTUALLY), query.get("order") == "worst"
    if place != MUTUALLY and place not in record.zones:
        return None, f"This round has no instance {place[:40]!r}."
    try:
        if place != MUTUALLY:
            return towards(place, around(place, record.found), int(text), worst=worst), ""
        return mutually(record.scores, int(text), worst=worst), ""
    except ValueError as error:
        return None, str(error)


def _choice(chosen: Chosen | None, why_not: str, query: Mapping[str, str]) -> list[Component]:
    if chosen is None:
        return [ui.notice(why_not, "wait")] if why_not else []
    place = query.get("towards", MUTUALLY)
    worst = query.get("order") == "worst"
    which, than = ("unhealthiest", "below") if worst else ("healthiest", "above")
    how = f"towards {place}" if place else "mutually"
    bound = f"No set is {than} {chosen.bound:.3f}."
    return [
        ui.card(
            f"The {len(chosen.instances)} {which} {how}",
            html.P([html.Code(", ".join(chosen.instances))]),
            html.P(f"Mean health {chosen.health:.3f}. {bound}"),
        )
    ]


def _worst(record: RoundRecord, here: Visit) -> Component:
    known = [(one.total, pair) for pair, one in record.scores.items() if one.total is not None]
    columns = [
        Column("Pair", lambda one: _pair_link(one[1], here)),
        Column("Health", lambda one: f"{one[0]:.3f}", numeric=True),
        Column("", lambda one: "timed out" if record.scores[one[1]].timed_out else ""),
    ]
    return ui.table(columns, sorted(known)[:WORST], "No pair has a score.", "Least healthy pairs")


def _fired(record: RoundRecord, here: Visit) -> Component:
    rows = [(pair, one) for pair, its in sorted(record.fired.items()) for one in its]
    columns = [
        Column("Pair", lambda one: _pair_link(one[0], here)),
        Column("Marker", lambda one: ui.badge(one[1].marker.value, "wait")),
        Column("Reason", lambda one: one[1].why),
    ]
    return ui.card("Markers", ui.table(columns, rows, "No markers.", "Markers"))


def _pair_link(pair: Pair, here: Visit) -> Component:
    text = f"{pair.source} > {pair.destination}"
    return ui.link(text, _address(here, source=pair.source, destination=pair.destination))


def _address(here: Visit, **changes: str) -> str:
    return filters.address(PATH, here.query, **changes)


def clicked(click: Mapping[str, Any] | None, query: Mapping[str, str]) -> str | None:
    """The address's query for a click on a cell of the map; None for a click on nothing."""
    point = (click or {}).get("points", [{}])[0]
    source, destination = point.get("y"), point.get("x")
    if not isinstance(source, str) or not isinstance(destination, str) or source == destination:
        return None
    return filters.address("", query, source=source, destination=destination)


def callbacks(app: Dash) -> None:
    """Filters into the address; a click on the map, too."""
    filters.install(app, PREFIX, NAMES)

    @app.callback(
        Output(URL, "search", allow_duplicate=True),
        Input(MAP, "clickData"),
        *(State(f"{PREFIX}-{name}", "value") for name in NAMES),
        prevent_initial_call=True,
    )
    def open_pair(click: Mapping[str, Any] | None, *values: str | None) -> object:
        query = {name: value or "" for name, value in zip(NAMES, values, strict=True)}
        found = clicked(click, query)
        return no_update if found is None else found


PAGE = Page(
    PATH,
    "Health",
    Action.STUDY_READ,
    show,
    live,
    refresh_s=30.0,
    group=Group.INSTANCES,
    callbacks=callbacks,
)
