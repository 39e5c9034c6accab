from __future__ import annotations

import pytest

from measurement.model import Metric
from mininet_topos.demo import charts
from mininet_topos.demo.record import Moment, Record, Transfer
from tests.apps.web import NOW
from tests.mininet_topos.records import HOSTILE, alarm, execution, measured, small_plan, small_record


def test_the_figure_has_a_trace_per_path_and_per_transfer():
    traces = {trace.name: trace for trace in charts.figure(small_record()).data}
    assert list(traces) == [
        "layer 2 (al2s)",
        "layer 3 (internet)",
        f"{HOSTILE} on al2s",
        "SoyKB-2 on internet",
    ]
    # only MU to OSU and only since the run began, in Mbit/s
    assert list(zip(traces["layer 2 (al2s)"].x, traces["layer 2 (al2s)"].y, strict=True)) == [
        (8.0, 58.0),
        (25.0, 4.8),
    ]
    received = traces[f"{HOSTILE} on al2s"]
    assert (list(received.x), list(received.y)) == ([10.5, 11.5], [40.0, 40.0])


def test_the_figure_marks_bounds_and_moments():
    chart = charts.figure(small_record())
    texts = [annotation.text for annotation in chart.layout.annotations]
    assert texts[:4] == ["QSpec 7 Mbit/s", "QSpec 6 Mbit/s", "<b>t1</b>", "<b>t2</b>"]
    assert [text.rsplit(": ", 1)[1] for text in texts[4:]] == ["layer 2 (al2s)", "queued"]
    assert {shape.y0 for shape in chart.layout.shapes if shape.y0 == shape.y1} == {7.0, 6.0}


def bars(chart):
    return {
        trace.name: list(zip(trace.y, trace.base, trace.x, strict=True))
        for trace in chart.data
        if trace.type == "bar"
    }


def test_the_plan_has_a_row_per_test_with_slots_and_what_was_executed():
    light, loading = "al2s:mu>osu/rtt", "internet:mu>osu/throughput"
    left = execution(light, None, None, planned=40, outcome="its time had passed")
    runs = [
        execution(light, 20, 22, planned=20),
        execution(f"{light}/on demand 1", 30, None, planned=30),
        execution(loading, 25, 25, planned=25),
        left,
    ]
    chart = charts.plan_figure(small_plan(*runs), NOW)
    assert list(chart.layout.yaxis.categoryarray) == [
        "internet:mu>osu/rtt",
        "al2s:mu>osu/rtt",
        "internet:mu>osu/throughput",
        "al2s:mu>osu/throughput",
    ]
    assert bars(chart) == {
        "throughput: planned": [(loading, 25.0, 7)],
        "throughput: executed": [(loading, 25.0, charts.SHORTEST)],
        "rtt: planned": [(light, 20.0, 5), (light, 30.0, 5), (light, 40.0, 5)],
        "rtt: executed": [(light, 20.0, 2.0), (light, 30.0, charts.SHORTEST)],
    }
    (missed,) = [trace for trace in chart.data if trace.type == "scatter"]
    assert (list(missed.x), list(missed.text)) == ([40.5], ["its time had passed"])


def test_the_alarm_is_drawn_with_the_round_trips_the_bound_and_the_receiver():
    scene = Record(NOW, 18, 100.0)
    scene.measurements = [
        measured("al2s", 0.001, 190, metric=Metric.RTT),
        measured("al2s", 0.008, 204, metric=Metric.RTT),
        measured("internet", 0.0012, 191, metric=Metric.RTT),
        measured("al2s", 58e6, 192),
        measured("al2s", 0.5, 200, source="osu", metric=Metric.RTT),
    ]
    scene.transfers = [Transfer(HOSTILE, "f-9", "al2s, then internet", 9, 1, 9, 192.0, 194.0, [125_000] * 2)]
    scene.moments = [Moment("t10", 192.0, "asks")]
    scene.alarms = [alarm(210), alarm(205, bad=False)]
    chart = charts.alarm_figure(scene)
    traces = {trace.name: list(zip(trace.x, trace.y, strict=True)) for trace in chart.data}
    assert traces == {
        "layer 2 (al2s)": [(190.0, 1.0), (204.0, 8.0)],
        "layer 3 (internet)": [(191.0, pytest.approx(1.2))],
        f"{HOSTILE} on al2s, then internet": [(192.5, 1.0), (193.5, 1.0)],
    }
    texts = [annotation.text for annotation in chart.layout.annotations]
    assert texts == ["QSpec 5 ms", "<b>t10</b>", "alarm: rtt of al2s"]
    assert [shape.x0 for shape in chart.layout.shapes if shape.line.color == "#b3261e"] == [210.0]
