"""The arithmetic of the benchmark of moves; and one move, with real packets."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import moves, moves_analysis, packets
from benchmarks.lab import isolated
from tests.support.refusals import refused

MS = 1_000_000


def udp_frame(port: int, number: int, vlan: bool = False) -> bytes:
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 200, 0, 0, 64, 17, 0, bytes(4), bytes(4))
    tag = struct.pack("!HH", 0x8100, 1701) if vlan else b""
    udp = struct.pack("!HHHH", 40_000, port, 180, 0)
    return bytes(12) + tag + b"\x08\x00" + ip + udp + struct.pack("!I", number) + bytes(60)


@pytest.mark.parametrize("vlan", [False, True])
def test_a_numbered_packet_is_recognised_with_and_without_its_tag(vlan: bool) -> None:
    assert packets.numbered(udp_frame(5301, 77, vlan)) == (5301, 77)


@pytest.mark.parametrize("frame", [b"", bytes(60), udp_frame(5301, 1)[:40]])
def test_other_frames_are_not_numbered_packets(frame: bytes) -> None:
    assert packets.numbered(frame) is None


def test_records_come_back(tmp_path: Path) -> None:
    file = tmp_path / "records"
    with packets._recorded(file) as records:
        records.extend((1, 2, 3, 1 << 63, 5, 6))
    assert packets.read(file, "receive") == [(1, 2, 3), (1 << 63, 5, 6)]


@pytest.mark.parametrize(
    ("numbers", "lost", "duplicated", "reordered"),
    [
        ([0, 1, 2, 3], 0, 0, 0),
        ([0, 3, 1, 2], 0, 0, 2),
        ([0, 1, 1, 3], 1, 1, 0),
        ([], 4, 0, 0),
    ],
)
def test_what_became_of_the_packets(numbers: list[int], lost: int, duplicated: int, reordered: int) -> None:
    records = [(number, place * 3 * MS) for place, number in enumerate(numbers)]
    found = moves_analysis.arrivals(4, records)
    assert (found["lost"], found["duplicated"], found["reordered"]) == (lost, duplicated, reordered)
    assert found["largest_gap_ms"] == (3.0 if numbers else 0)


@given(st.permutations(range(12)), st.sets(st.integers(0, 11)))
def test_every_packet_is_lost_or_arrives(order: list[int], missing: set[int]) -> None:
    records = [(number, place) for place, number in enumerate(order) if number not in missing]
    found = moves_analysis.arrivals(12, records)
    assert (found["lost"], found["duplicated"]) == (len(missing), 0)
    in_order = [number for number, _ in records] == sorted(number for number, _ in records)
    assert (found["reordered"] == 0) is in_order


def a_move(begun: int, event: str, batch: str, **shift: Any) -> list[dict[str, Any]]:
    """The marks of one move: 1 ms deciding, 2 ms commit, 1 ms to pack, an answer 3 ms later."""
    at = begun * MS
    return [
        {"what": "arrived", "begun": at, "ended": at, "event": event},
        {"what": "decided", "begun": at, "ended": at + MS, "event": event, "moved": True},
        {"what": "committed", "begun": at + MS, "ended": at + 3 * MS, "event": event},
        {
            "what": "sent",
            "begun": at + 3 * MS,
            "ended": at + 4 * MS,
            "dpid": moves_analysis.INGRESS_EDGE,
            "batch": batch,
            "cause": event,
            **shift,
        },
        {"what": "confirmed", "begun": at + 7 * MS, "ended": at + 7 * MS, "batch": batch, "dpid": 1},
    ]


def test_where_the_time_of_a_move_went() -> None:
    marks = [*a_move(10, "e-1", "f-1/1"), *a_move(100, "e-2", "f-1/2")]
    marks.append({"what": "decided", "begun": 0, "ended": 5, "event": "e-0", "moved": False})
    seen = {"al2s": [5 * MS, 16 * MS, 17 * MS], "internet": [2 * MS, 106 * MS]}
    first, second = moves_analysis.moves(marks, seen, ["al2s", "internet"])
    assert first == {
        "desired to packet": 5.0,
        "measurement to packet": 6.0,
        "of it: decide": 1.0,
        "of it: commit": 2.0,
        "of it: prepare": 0.0,
        "of it: pack and send": 1.0,
        "of it: sent to reply": 3.0,
        "of it: sent to packet": 2.0,
    }
    assert second["desired to packet"] == 5.0


def test_a_move_that_was_not_made_is_noticed() -> None:
    with refused(ValueError):
        moves_analysis.moves(a_move(1, "e-1", "f-1/1"), {"al2s": [9 * MS]}, ["al2s", "al2s"])
    with refused(ValueError):
        moves_analysis.moves(a_move(1, "e-1", "f-1/1"), {"al2s": [1 * MS]}, ["al2s"])


def test_packets_by_path() -> None:
    sniffed = [(1, 5301, 0, 30), (0, 5301, 1, 10), (1, 5302, 0, 20), (1, 5301, 2, 20)]
    assert moves_analysis.by_path(sniffed, ["a", "b"], 5301) == {"a": [10], "b": [20, 30]}


def results(**changes: Any) -> dict[str, Any]:
    def round_of(lost: int, total: float, **more: Any) -> list[dict[str, Any]]:
        made = [{"desired to packet": total}] * 3
        packets_ = {"sent": 100, "lost": lost, "duplicated": 0, "reordered": 1, "largest_gap_ms": 2.0}
        return [{**packets_, "moves": made, "load": 0.5, **more}] * 2

    found = {
        "standby 1000": round_of(0, 2.0),
        "fresh 1000": round_of(0, 8.0),
        "still 1000": round_of(0, 0, moves=[]),
        "shift 1000": round_of(0, 1.0),
        "replace 1000": round_of(7, 4.0),
    }
    for path, value in changes.items():
        name, what = path.split("__")
        found[name.replace("_", " ")] = [{**each, what: value} for each in found[name.replace("_", " ")]]
    return moves.summed(found)


@pytest.mark.parametrize(
    ("changes", "missed"),
    [
        ({}, None),
        ({"standby_1000__lost": 1}, "standby 1000: 2 lost"),
        ({"fresh_1000__duplicated": 1}, "fresh 1000: 0 lost, 2 duplicated"),
        ({"replace_1000__lost": 0}, "shows nothing"),
        ({"still_1000__lost": 1}, "2 lost without a move"),
        ({"standby_1000__moves": [{"desired to packet": 3.5}]}, "median 3.50 ms, not below 3"),
        ({"fresh_1000__moves": [{"desired to packet": 11.0}]}, "median 11.00 ms, not below 10"),
    ],
)
def test_which_bounds_hold(changes: dict[str, Any], missed: str | None) -> None:
    found = results(**changes)
    assert moves.passed(found) is (missed is None)
    assert missed is None or missed in moves.report(found)


@pytest.mark.testbed
def test_a_live_flow_is_moved_and_back_without_losing_a_packet(tmp_path: Path) -> None:
    found = json.loads(isolated("tests.benchmarks.one_move", str(tmp_path)))
    assert found["sent"] > 500
    assert (found["lost"], found["duplicated"]) == (0, 0)
    assert found["paths"] == ["al2s", "internet", "al2s"]
