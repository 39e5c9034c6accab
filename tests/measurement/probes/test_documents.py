"""Orders and reports as JSON: there and back, and errors that name the field."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.instances import Instance
from measurement.probes.documents import order_from_json, order_to_json, report_from_json, report_to_json
from measurement.probes.findings import (
    Carried,
    Failed,
    Failure,
    Load,
    Report,
    RoundTrips,
    Route,
    TrainFound,
    Widened,
)
from measurement.probes.orders import KINDS, LONGEST, MOST_PROBES, IcmpEcho, Order, Train, UdpEcho
from measurement.probes.train import Arrived, Shape

TARGET = Instance("b", "10.0.0.2", 8650, "z", 2.0, 1 << 30)
ALL = Order(TARGET, tuple(kind() for kind in KINDS.values()))
ARRIVED = Arrived(0, 9, 0.0, 0.5, 10)
REPORT = Report(
    (
        RoundTrips((0.001, None)),
        Widened((1e-6, None, -1e-6), 1472),
        Carried(1.0, (10, 20)),
        TrainFound(None, 1e6, 0.5, False, "why", Shape(), None, 0.1, 0, ((ARRIVED, None), (None, None))),
        Load((1.0,), 0.01, None, (None, 1.0), None),
        Route(3, ("10.0.0.1", None)),
        Failed(Failure.BUSY, "later"),
    ),
    1.5,
    2.5,
    "10.0.0.1",
    "192.0.2.1",
)


def through_text(document: Any) -> Any:
    return json.loads(json.dumps(document, allow_nan=False))


def test_every_kind_of_probe_comes_back() -> None:
    assert order_from_json(through_text(order_to_json(ALL))) == ALL


def test_every_kind_of_finding_comes_back() -> None:
    assert report_from_json(through_text(report_to_json(REPORT))) == REPORT


@given(
    st.lists(st.one_of(st.none(), st.floats(0, 100)), max_size=20),
    st.sampled_from(Failure),
    st.text(max_size=50),
)
def test_any_values_come_back(times: list[float | None], why: Failure, text: str) -> None:
    report = Report((RoundTrips(tuple(times)), Failed(why, text)), 0.0, 1.0, "a", "b")
    assert report_from_json(through_text(report_to_json(report))) == report


def test_what_is_left_out_has_its_usual_value() -> None:
    document = {
        "target": {"name": "b", "address": "10.0.0.2"},
        "probes": [{"kind": "udp"}, {"kind": "train"}],
    }
    assert order_from_json(document) == Order(Instance("b", "10.0.0.2"), (UdpEcho(), Train()))


def changed(path: tuple[str | int, ...], value: Any) -> Any:
    document = copy.deepcopy(through_text(order_to_json(ALL)))
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "error"),
    [
        (("target",), ..., r"^order\.target: is missing"),
        (("target",), [], r"^order\.target: is not an object"),
        (("target", "address"), "nowhere", r"^order\.target: address: 'nowhere' is no IP address"),
        (("target", "port"), "8650", r"^order\.target\.port: '8650' is no int"),
        (("target", "port"), True, r"^order\.target\.port: 'True' is no int"),
        (("target", "spin"), 1, r"^order\.target\.spin: is unknown"),
        (("probes",), {}, r"^order\.probes: is not a list"),
        (("probes",), [], r"^order: probes: 0 is not between"),
        (("probes", 0), 3, r"^order\.probes\[0\]: is not an object"),
        (("probes", 0, "kind"), "smoke", r"^order\.probes\[0\]\.kind: 'smoke' is none of icmp, udp"),
        (("probes", 0, "kind"), ["icmp"], r"^order\.probes\[0\]\.kind: "),
        (("probes", 0, "count"), 10**9, r"^order\.probes\[0\]: count: "),
        (("probes", 0, "count"), 1.5, r"^order\.probes\[0\]\.count: '1.5' is no int"),
        (("probes", 0, "timeout"), True, r"^order\.probes\[0\]\.timeout: 'True' is no float"),
        (("probes", 0, "timeout"), float("nan"), r"^order\.probes\[0\]: timeout: "),
        (("probes", 1, "length"), 63, r"^order\.probes\[1\]: length: 63"),
        (("probes", 2, "large"), 10, r"^order\.probes\[2\]: large: 10"),
        (("probes", 5, "intervals"), 121, r"^order\.probes\[5\]: probe: it would take 121 s"),
        (("probes", 6, "shape", "burst"), 1, r"^order\.probes\[6\]\.shape: burst: "),
        (("probes", 6, "shape", "packet"), 63, r"^order\.probes\[6\]: shape: packets of 63 bytes"),
        (("probes", 6, "shape", "bursts"), 10_000, r"^order\.probes\[6\]: shape: 2000000 packets"),
        (("probes", 7, "link"), -1.0, r"^order\.probes\[7\]: link: "),
        (("probes", 8, "most"), 65, r"^order\.probes\[8\]: most: "),
        (
            ("probes", 9, "count"),
            9000,
            r"^order\.probes\[9\]: probe: it would take 108 s, and 5 s are",
        ),
        (("probes", 10, "shape", "pause"), 1.0, r"^order\.probes\[10\]: probe: it would take 10 s, and 5 s"),
    ],
)
def test_what_is_wrong_is_named(path: tuple[str | int, ...], value: Any, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        order_from_json(changed(path, value))


@pytest.mark.parametrize("document", [None, 1, "order", [], [{}]])
def test_what_is_no_object_is_no_order(document: Any) -> None:
    with pytest.raises(ValueError, match=r"^order: is not an object"):
        order_from_json(document)


def test_more_probes_than_an_order_may_have() -> None:
    with pytest.raises(ValueError, match=r"^probes: 65"):
        Order(TARGET, (UdpEcho(),) * (MOST_PROBES + 1))


def test_a_probe_has_an_end() -> None:
    with pytest.raises(ValueError, match=f"{LONGEST:g} s are the most"):
        IcmpEcho(count=10_000, interval=1.0)


def test_behind_a_translation_the_two_see_different_addresses() -> None:
    assert REPORT.translated
    assert not Report((), 0, 0, "10.0.0.1", "10.0.0.1").translated
