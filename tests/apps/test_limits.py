"""What connections may cost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.flowvisor.rules.cookie import Kind, cookie
from apps.campus_edge.limits import PORTS_LIMIT, Claim, HalfOpen, PacketIns, Repeats, takes_over

OURS = cookie(Kind.FLOW_LEARN, 1)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abc")), max_size=80))
def test_no_more_are_half_open_than_allowed_and_each_leaves_its_place(steps: list[tuple[bool, str]]) -> None:
    half_open, inside = HalfOpen(5, 3), []
    for comes, address in steps:
        if comes:
            refused = half_open.enter(address)
            allowed = len(inside) < 5 and inside.count(address) < 3
            assert (refused is None) == allowed
            inside += [address] * allowed
        elif address in inside:
            inside.remove(address)
            half_open.leave(address)
        assert half_open.count == len(inside)


def test_a_packet_in_without_our_cookie_costs_nobody_a_token() -> None:
    gate = PacketIns(1.0, 1.0)
    assert [gate.verdict(cookie, 1, 0.0) for cookie in (0, 5, 0xFF << 56, OURS)] == ["cookie"] * 3 + ["taken"]


def test_a_port_that_floods_is_stopped_before_it_uses_up_the_switchs_share() -> None:
    gate = PacketIns(per_switch=20.0, per_port=5.0)
    flood = [gate.verdict(OURS, 1, 0.0) for _ in range(1000)]
    assert (flood.count("taken"), flood.count("port_rate")) == (5, 995)
    assert [gate.verdict(OURS, 2, 0.0) for _ in range(5)] == ["taken"] * 5


def test_all_ports_together_have_what_the_switch_has() -> None:
    gate = PacketIns(per_switch=20.0, per_port=5.0)
    verdicts = [gate.verdict(OURS, port, 0.0) for port in range(10) for _ in range(5)]
    assert (verdicts.count("taken"), verdicts.count("switch_rate")) == (20, 30)
    assert gate.verdict(OURS, 11, 1.0) == "taken"


def test_without_limits_everything_of_ours_is_taken() -> None:
    gate = PacketIns(None, None)
    assert {gate.verdict(OURS, 1, 0.0) for _ in range(10_000)} == {"taken"}


def test_ports_that_a_switch_makes_up_do_not_fill_the_memory() -> None:
    gate = PacketIns(per_switch=None, per_port=1.0)
    taken = [gate.verdict(OURS, port, 0.0) for port in range(2 * PORTS_LIMIT)].count("taken")
    assert taken == PORTS_LIMIT + 1
    assert len(gate._ports) == PORTS_LIMIT + 1


def test_what_repeats_is_said_once_per_period_with_how_often_it_was_not() -> None:
    repeats = Repeats(10.0)
    assert [repeats.due("x", now) for now in (100, 101, 105, 110.5, 111, 130)] == [0, None, None, 2, None, 1]
    assert repeats.due("y", 111) == 0


def test_things_that_somebody_makes_up_fill_neither_log_nor_memory() -> None:
    repeats = Repeats(10.0, most=50)
    lines = [repeats.due(number, number / 1000) for number in range(10_000)]
    assert sum(line is not None for line in lines) <= 111
    assert len(repeats._said) == 50


@pytest.mark.parametrize(
    ("newer", "silent_s", "wins"),
    [
        (Claim("192.0.2.1", proven=False, silent_s=0), 0.0, True),
        (Claim("192.0.2.9", proven=False, silent_s=0), 0.0, False),
        (Claim("192.0.2.9", proven=False, silent_s=0), 8.0, True),
        (Claim("192.0.2.9", proven=True, silent_s=0), 0.0, True),
    ],
    ids=["same address", "elsewhere, and the older works", "elsewhere, and the older is silent", "proven"],
)
def test_who_knows_a_datapath_id_does_not_push_a_working_edge_off(
    newer: Claim, silent_s: float, wins: bool
) -> None:
    assert takes_over(Claim("192.0.2.1", proven=False, silent_s=silent_s), newer, 7.5) is wins
