from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from measurement.archive import Archive
from measurement.errors import BadAnswer, PointError, Rejected
from measurement.model import Measurement, Metric
from measurement.pscheduler.transport import Transport
from measurement.sources.esmond import EsmondArchive
from measurement.sources.pushed import read
from measurement.sources.query import Query
from measurement.sources.received import Received
from tests.measurement.sources import messages
from tests.measurement.sources.messages import KEY, LATENCY, NOW, POINT_A, TCP, A, B
from tests.measurement.standin_esmond import BASE, Esmond, Test
from tests.measurement.standin_web import Raw, serving

ALL = Query(A, B, None, NOW - 3600, NOW)
AT = NOW - 600


def of(series: dict[str, list[tuple[float, Any]]], key: str = "k1", **fields: Any) -> Test:
    return Test(key, A, B, series, {name.replace("_", "-"): value for name, value in fields.items()})


def asked(archive: Esmond, query: Query = ALL, page: int = 100) -> Received:
    found = Received()
    with serving(archive.answer) as url:
        client = EsmondArchive(Transport(f"{url}{BASE}", pause=lambda _: None), page=page)
        for received in client.pages(query, messages.resolve, NOW):
            found += received
    return found


def measured(found: Received) -> list[Measurement]:
    return [value for value in found.kept if isinstance(value, Measurement)]


@pytest.mark.parametrize(
    ("event", "value", "expected"),
    [
        ("throughput", 941e6, {Metric.THROUGHPUT: 941e6}),
        ("packet-loss-rate", 0.01, {Metric.LOSS: 0.01}),
        ("packet-loss-rate-bidir", 0.5, {Metric.LOSS: 0.5}),
        ("histogram-rtt", {"2.10": 2, "2.40": 1}, {Metric.RTT: 0.0022}),
        (
            "histogram-owdelay",
            {"12.30": 1, "12.50": 1},
            {Metric.ONE_WAY_DELAY: 0.0124, Metric.JITTER: 0.0002},
        ),
        ("packet-trace", [], {}),
    ],
)  # fmt: skip
def test_event_types_become_metrics(event: str, value: Any, expected: dict[Metric, float]) -> None:
    found = asked(Esmond([of({event: [(AT, value)]}, time_duration="20")]))
    assert found.refused == ()
    assert {each.metric: each.value for each in measured(found)} == pytest.approx(expected)
    for each in measured(found):
        assert (each.key, each.started_at, each.observed_at, each.tool) == (KEY, AT, AT + 20, "iperf3")


def test_what_a_test_was_is_in_the_parameters() -> None:
    test = of(
        {"throughput": [(AT, 1e9)]}, bw_parallel_streams="4", ip_transport_protocol="UDP", time_duration=20
    )
    [value] = measured(asked(Esmond([test])))
    assert value.parameters == {"streams": 4, "protocol": "udp", "seconds": 20.0, "side": "sender"}


def test_only_what_was_asked_for_is_given() -> None:
    series: list[tuple[float, Any]] = [(NOW - 7200, 1.0), (AT, 2.0), (NOW + 5, 3.0)]
    tests = [
        of({"throughput": series, "packet-loss-rate": [(AT, 0.0)]}),
        Test("k2", B, A, {"throughput": series}),
    ]
    found = asked(Esmond(tests), replace(ALL, metric=Metric.THROUGHPUT))
    assert [value.value for value in measured(found)] == [2.0]
    assert found.refused == ()


@pytest.mark.parametrize(("most", "page"), [(1000, 3), (2, 100), (3, 3), (1000, 1)])
def test_a_full_answer_is_continued_and_nothing_is_twice(most: int, page: int) -> None:
    rows = [(AT + number, float(number)) for number in range(11)]
    tests = [of({"throughput": list(rows)}, key=f"k{number}") for number in range(5)]
    if page == 1:  # then an answer cannot hold a time that is known and one that is not
        with pytest.raises(BadAnswer, match="one answer cannot hold one second's values"):
            asked(Esmond(tests, most), page=page)
        return
    found = measured(asked(Esmond(tests, most), page=page))
    assert sorted(value.value for value in found) == sorted(row[1] for row in rows * 5)
    assert len({value.origin for value in found}) == 55


def test_a_limit_is_kept_and_said() -> None:
    found = asked(Esmond([of({"throughput": [(AT + n, 1.0) for n in range(20)]})]), replace(ALL, limit=7), 3)
    assert len(found.kept) == 7
    assert "7 results reached" in str(found.refused[-1])


def test_a_value_that_is_none_costs_only_itself() -> None:
    values = [(AT, 1e9), (AT + 1, "many"), (AT + 2, -5.0), (AT + 3, None), (AT + 4, 2e9)]
    delays = [(AT, {"x": 1}), (AT + 1, {}), (AT + 2, [])]
    found = asked(Esmond([of({"throughput": values, "histogram-rtt": delays})]))
    assert [value.value for value in measured(found)] == [1e9, 2e9]
    assert len(found.refused) == 6
    assert all("\n" not in str(refusal) for refusal in found.refused)


def test_ends_that_are_no_path_of_ours_are_refused_once_per_test() -> None:
    stranger = Query("203.0.113.9", B, None, NOW - 3600, NOW)
    test = Test("k", "203.0.113.9", B, {"throughput": [(AT, 1.0), (AT + 1, 2.0)]})
    found = asked(Esmond([test]), stranger)
    assert found.kept == ()
    assert "no configured path leads from 203.0.113.9" in str(found.refused[0])


@pytest.mark.parametrize(
    "place",
    [
        "https://elsewhere.example.net/x",
        "/etc/passwd",
        f"{BASE}/../../secret",
        f"{BASE}/%2e%2e/x",
        f"{BASE}evil/x",
    ],
)
def test_an_archive_cannot_send_us_elsewhere(place: str) -> None:
    test = of({"throughput": [(AT, 1.0)]})
    metadata = test.metadata()
    metadata["event-types"][0]["base-uri"] = place
    archive = Esmond([test])
    archive.instead = [[metadata]]
    with pytest.raises(BadAnswer, match="is outside the archive"):
        asked(archive)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Raw(200, b'[{"ts": 1'), BadAnswer),
        ({"detail": "no"}, BadAnswer),
        (["x"], BadAnswer),
        ([{"metadata-key": "../x", "event-types": []}], BadAnswer),
        (Raw(401, b"who are you"), Rejected),
        (Raw(200, b"[" + b" " * 9 * 2**20), PointError),
    ],
)
def test_an_answer_that_is_none_is_an_error_not_silence(answer: Any, error: type[Exception]) -> None:
    archive = Esmond([])
    archive.instead = [answer]
    with pytest.raises(error):
        asked(archive)


@pytest.mark.parametrize(
    ("message", "series"),
    [
        (
            messages.message("throughput", TCP, ended=AT + 10, tool={"name": "iperf3"}),
            {"throughput": [(AT, 941e6)]},
        ),
        (
            messages.message("latency", LATENCY, ended=AT + 10),
            {"histogram-owdelay": [(AT, LATENCY["histogram-latency"])], "packet-loss-rate": [(AT, 2 / 600)]},
        ),
    ],
)
def test_the_archive_recognises_what_it_has_by_another_way(
    message: dict[str, Any], series: dict[str, list[tuple[float, Any]]], tmp_path: Path
) -> None:
    """esmond has no run's UUID: same series, same value, begun at the same time."""
    pushed = read(message, POINT_A, messages.resolve, NOW).kept
    again = asked(Esmond([of(series)])).kept
    with Archive(tmp_path / "archive.db") as archive:
        assert archive.append(pushed).new == len(pushed)
        told = archive.append(again)
        assert (told.new, told.duplicates, told.disagreements) == (0, len(again), ())
        assert len(again) == len(pushed)
