"""Counters of the switchboard."""

from __future__ import annotations

from apps.campus_edge.tally import BARRIER_BOUNDS_S, ERRORS_LIMIT, OTHER_ERROR, Tally


def test_what_happened_is_counted() -> None:
    tally = Tally()
    tally.count_sent(3)
    tally.count_sent(2)
    tally.packet_in()
    tally.count_refusal("OFPET_FLOW_MOD_FAILED OFPFMFC_TABLE_FULL")
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


def test_errors_that_a_switch_makes_up_do_not_fill_the_memory() -> None:
    tally = Tally()
    for number in range(3 * ERRORS_LIMIT):
        tally.count_refusal(f"OFPET_FLOW_MOD_FAILED code({number})")
    errors = tally.read()["errors"]
    assert len(errors) == ERRORS_LIMIT + 1
    assert errors[OTHER_ERROR] == 2 * ERRORS_LIMIT


def test_connections_packets_and_echoes_are_counted_by_what_became_of_them() -> None:
    tally = Tally()
    tally.connection_refused("tls")
    tally.packet_in("port_rate")
    tally.count_malformed()
    tally.echo(0.003)
    read = tally.read()
    assert read["connections_refused"] == {"tls": 1}
    assert read["packet_ins"] == {"port_rate": 1}
    assert read["malformed"] == 1
    assert dict(map(tuple, read["echoes"]))["0.005"] == 1
    assert read["echo_seconds"] == 0.003
