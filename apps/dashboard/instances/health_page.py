"""``/instances``: health of each pair of instances, in the latest round or in an earlier one."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from dash import Dash, Input, Output, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.studies.model import StudyKind
from apps.dashboard import ui
from apps.dashboard.filter_form import Filter, FilterForm, address
from apps.dashboard.instances.studies import OpenStudy, open_study, study_options, study_value
from apps.dashboard.page import Group, Page
from apps.dashboard.router import URL
from apps.dashboard.ui.document_table import Columns, document_table
from apps.dashboard.visit import Visit
from apps.figures import health as figures
from measurement.health.instance_selection import Chosen, mutually, towards
from measurement.health.model import Found, Pair
from measurement.health.pair_scores import Part, around
from measurement.health.record import RoundRecord
from measurement.model import from_json

read_round = partial(from_json, RoundRecord)
PATH = "/instances"
MAP = "instances-map"
FILTERS = FilterForm(
    PATH,
    (
        Filter("study", "Round"),
        Filter("source", "Source"),
        Filter("destination", "Destination"),
        Filter("towards", "Choose"),
        Filter("k", "Instances"),
        Filter("order", "Order"),
    ),
)
MOST_K = 100
ROUNDS = 8
"""Rounds of the history of a pair."""
HISTORY_BYTES = 8_000_000
"""Size of the rounds that are read for the history of a pair."""
WORST = 10
PARTS = {
    Part.THROUGHPUT: "Throughput",
    Part.ICMP: "ICMP round trips",
    Part.UDP: "UDP round trips and sandwich",
    Part.TCP: "TCP connect and round trips",
}


def show(here: Visit) -> Component:
    """Heading, and choice of round, pair and instances."""
    found = open_study(here, StudyKind.HEALTH_ROUND, read_round)
    lead = "Health of each pair of instances, from 0 (unreachable) to 1."
    head = ui.head("Health of instances", lead, ui.link("Placements", "/placements"))
    if found is None:
        return html.Div([head])
    names = figures.by_zone(found.value)
    instances = [("", "none"), *((name, name) for name in names)]
    counts = [str(count) for count in range(2, min(len(names), MOST_K + 1))]
    options = {
        "study": study_options(here, StudyKind.HEALTH_ROUND),
        "source": instances,
        "destination": instances,
        "towards": [("", "mutually"), *((name, f"towards {name}") for name in names)],
        "k": [("", "none"), *((count, count) for count in counts)],
        "order": [("", "healthiest"), ("worst", "least healthy")],
    }
    return html.Div([head, FILTERS.draw(here, options)])


def live(here: Visit) -> Component:
    """The round, the chosen pair, and the chosen instances."""
    found = open_study(here, StudyKind.HEALTH_ROUND, read_round)
    if found is None:
        return ui.card(
            None, ui.empty("No health rounds yet. Submit one with `adon study submit health-round FILE`.")
        )
    record = found.value
    pair = _selected_pair(here.query, record)
    selection, problem = _selection(here.query, record)
    return html.Div(
        [
            _summary(found, here),
            None if pair is None else _pair_card(pair, found, here),
            ui.notice(problem, "wait") if problem else None,
            None if selection is None else _selection_card(selection, here.query),
            ui.card("Health of pairs", _heat_map(record, pair)),
            ui.columns(
                ui.card("Health as distance", _distance_graph(record, selection)),
                ui.card("Least healthy pairs", _worst(record, here)),
            ),
            _markers(record, here),
        ]
    )


def _heat_map(record: RoundRecord, pair: Pair | None) -> Component:
    caption = "Health from the row to the column, by zone. Cross: time-out or marker. Grey: unknown."
    return ui.chart(MAP, figures.heat_map(record, pair), caption, height=figures.tall(record))


def _distance_graph(record: RoundRecord, selection: Chosen | None) -> Component:
    graph, stress = figures.graph(record, chosen=() if selection is None else selection.instances)
    caption = (
        f"Short lines join healthy pairs. Error of the projection: {stress:.0%} of the longest line. "
        "Diamond: chosen instance."
    )
    return ui.chart("instances-graph", graph, caption, height=420)


def _summary(found: OpenStudy[RoundRecord], here: Visit) -> Component:
    record = found.value
    known = [one.total for one in record.scores.values() if one.total is not None]
    return ui.card(
        found.study.title,
        ui.notice(f"Interrupted: {record.interrupted}", "wait") if record.interrupted else None,
        ui.facts(
            ("Start", ui.when(found.study.at, here)),
            ("Duration", ui.span(record.ended - record.began)),
            ("Pairs", f"{len(record.found)} of {len(record.planned)}"),
            ("Median health", f"{statistics.median(known):.2f}" if known else None),
            ("Timed out", str(sum(one.timed_out for one in record.scores.values()))),
            ("Failed probes", str(len(record.failures))),
            ("Verified by a transfer", str(len(record.verified))),
            ("Study", found.study.id),
        ),
    )


def _selected_pair(query: Mapping[str, str], record: RoundRecord) -> Pair | None:
    pair = Pair(query.get("source", ""), query.get("destination", ""))
    return pair if pair.source != pair.destination and {*pair} <= {*record.zones} else None


def _pair_card(pair: Pair, found: OpenStudy[RoundRecord], here: Visit) -> Component:
    """Health of one pair with its parts, markers, failures and history."""
    record = found.value
    score = record.scores.get(pair)
    parts = {} if score is None else score.parts
    bars = [
        (name, ui.bar(parts[part], f"{parts[part]:.2f}")) for part, name in PARTS.items() if part in parts
    ]
    problems = [f"{one.marker}: {one.why}" for one in record.fired.get(pair, ())]
    problems += [f"{one.kind} failed: {one.why}" for one in record.failures if one.pair == pair]
    reverse = ui.link(_health_text(record, pair.back), _pair_address(pair.back, here))
    points = _history(pair, found, here)
    caption = f"Health in the last {ui.count(len(points), 'round')}."
    return ui.card(
        f"{pair.source} > {pair.destination}",
        ui.facts(
            ("Health", _health_text(record, pair)),
            ("Reverse direction", reverse),
            *_pair_values(record.found.get(pair)),
            *([("Missing", ", ".join(score.missing))] if score is not None and score.missing else []),
        ),
        ui.facts(*bars) if bars else None,
        html.Ul([html.Li(one) for one in problems]) if problems else None,
        ui.chart("instances-history", figures.history(points), caption, height=200),
    )


def _health_text(record: RoundRecord, pair: Pair) -> str:
    score = record.scores.get(pair)
    return "unknown" if score is None or score.total is None else f"{score.total:.3f}"


def _pair_values(found: Found | None) -> list[tuple[str, Any]]:
    if found is None:
        return [("Result", "unreachable")]
    values = [
        ("ICMP round trip (64 B), mean", ui.span(_mean(found.icmp.get(64, ())))),
        ("TCP connect, mean", ui.span(_mean(found.connect))),
        ("Throughput", ui.rate(_mean(found.throughput))),
    ]
    return [*values, ("Silent", ", ".join(sorted(found.silent)))] if found.silent else values


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _history(pair: Pair, found: OpenStudy[RoundRecord], here: Visit) -> list[tuple[datetime, float | None]]:
    """Return time and health of a pair in this round and in those before it, the oldest first."""
    points, size = [], 0
    earlier = [one for one in found.listed if one.at <= found.study.at]
    for one in earlier[:ROUNDS]:
        size += one.document_bytes
        if size > HISTORY_BYTES:
            break
        same = one.id == found.study.id
        record = found.value if same else study_value(here.client.study(one.id), read_round)
        score = record.scores.get(pair)
        points.append(
            (datetime.fromtimestamp(record.began, here.zone), None if score is None else score.total)
        )
    return points[::-1]


def _selection(query: Mapping[str, str], record: RoundRecord) -> tuple[Chosen | None, str]:
    """Return the instances that the address selects, or the reason why there are none."""
    text = query.get("k", "")
    if not text.isascii() or not text.isdecimal() or len(text) > 3:
        return None, ""
    place, worst = query.get("towards", ""), query.get("order") == "worst"
    if place and place not in record.zones:
        return None, f"This round has no instance {place[:40]!r}."
    try:
        if place:
            return towards(place, around(place, record.found), int(text), worst=worst), ""
        return mutually(record.scores, int(text), worst=worst), ""
    except ValueError as error:
        return None, str(error)


def _selection_card(selection: Chosen, query: Mapping[str, str]) -> Component:
    which, than = ("unhealthiest", "below") if query.get("order") == "worst" else ("healthiest", "above")
    how = f"towards {query['towards']}" if query.get("towards") else "mutually"
    bound = f"Mean health {selection.health:.3f}. No set is {than} {selection.bound:.3f}."
    names = html.Code(", ".join(selection.instances))
    return ui.card(f"The {len(selection.instances)} {which} {how}", html.P([names]), html.P(bound))


def _worst(record: RoundRecord, here: Visit) -> Component:
    known = [(one.total, pair) for pair, one in record.scores.items() if one.total is not None]
    columns: Columns = {
        "Pair": lambda one: _pair_link(one[1], here),
        "Health": lambda one: f"{one[0]:.3f}",
        "": lambda one: "timed out" if record.scores[one[1]].timed_out else "",
    }
    rows = sorted(known)[:WORST]
    return document_table(
        here, columns, rows, "No pair has a score.", "Least healthy pairs", numeric={"Health"}
    )


def _markers(record: RoundRecord, here: Visit) -> Component:
    rows = [(pair, one) for pair, its in sorted(record.fired.items()) for one in its]
    columns: Columns = {
        "Pair": lambda one: _pair_link(one[0], here),
        "Marker": lambda one: ui.badge(one[1].marker.value, "wait"),
        "Reason": lambda one: one[1].why,
    }
    return ui.card("Markers", document_table(here, columns, rows, "No markers.", "Markers"))


def _pair_link(pair: Pair, here: Visit) -> Component:
    return ui.link(f"{pair.source} > {pair.destination}", _pair_address(pair, here))


def _pair_address(pair: Pair, here: Visit) -> str:
    return address(PATH, here.query, source=pair.source, destination=pair.destination)


def pair_query(click: Mapping[str, Any] | None, query: Mapping[str, str]) -> str | None:
    """Return the address's query for a click on a cell of the map; None outside of the cells."""
    point = (click or {}).get("points", [{}])[0]
    source, destination = point.get("y"), point.get("x")
    if not isinstance(source, str) or not isinstance(destination, str) or source == destination:
        return None
    return address("", query, source=source, destination=destination)


def register_callbacks(app: Dash) -> None:
    """Write the filters, and the pair of a click on the map, into the address."""
    FILTERS.register(app)

    @app.callback(
        Output(URL, "search", allow_duplicate=True),
        Input(MAP, "clickData"),
        *FILTERS.states(),
        prevent_initial_call=True,
    )
    def open_pair(click: Mapping[str, Any] | None, *values: str | None) -> object:
        found = pair_query(click, FILTERS.query(values))
        return no_update if found is None else found


PAGE = Page(
    PATH,
    "Health",
    Action.STUDY_READ,
    show,
    live,
    refresh_s=30.0,
    group=Group.INSTANCES,
    callbacks=register_callbacks,
)
