"""Counters of the switchboard."""

from __future__ import annotations

from apps.campus_edge.tally import BARRIER_BOUNDS_S, Tally


def test_what_happened_is_counted() -> None:
    tally = Tally()
    tally.sent(3)
    tally.sent(2)
    tally.packet_in()
    tally.refused("OFPET_FLOW_MOD_FAILED OFPFMFC_TABLE_FULL")
    read = tally.read()
    assert (read["flow_mods"], read["packet_ins"]) == (5, {"taken": 1})
    assert read["errors"] == {"OFPET_FLOW_MOD_FAILED OFPFMFC_TABLE_FULL": 1}


def test_barrier_times_are_counted_up_to_each_bound() -> None:
    tally = Tally()
    for seconds in (0.0005, 0.001, 0.003, 9.0):
        tally.barrier(seconds)
    counts = dict(map(tuple, tally.read()["barriers"]))
    assert list(counts) == [*map(str, BARRIER_BOUNDS_S), "+Inf"]
    assert (counts["0.001"], counts["0.0025"], counts["0.005"], counts["2.5"], counts["+Inf"]) == (
        2,
        2,
        3,
        3,
        4,
    )
    assert tally.read()["barrier_seconds"] == 9.0045
