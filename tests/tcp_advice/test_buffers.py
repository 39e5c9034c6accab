"""Bandwidth-delay products, and buffers that hold a window."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.tcp_advice.buffers import (
    LARGEST_BUFFER,
    LARGEST_WINDOW,
    WindowShare,
    allowed_window,
    bandwidth_delay_product,
    planning_rtt,
    present_window,
    receive_buffer,
    send_buffer,
    window_share,
)
from adon.uncertain import Uncertain
from tests.tcp_advice.values import MIB, host, unknown


def test_bandwidth_delay_product_of_the_thesis_path() -> None:
    assert bandwidth_delay_product(10e9, 0.033) == 41_250_000
    assert receive_buffer(41_250_000, WindowShare(0.5, "")) == 79 * MIB  # 78.7 MiB, in whole ones
    assert send_buffer(41_250_000, "cubic") == 79 * MIB
    assert send_buffer(41_250_000, "bbr") == 119 * MIB


@pytest.mark.parametrize(
    ("kernel", "scale", "share"),
    [
        ("6.1.0", "1", 0.5),
        ("6.1.0", "2", 0.75),
        ("6.1.0", "3", 0.875),
        ("6.1.0", "0", 1.0),
        ("6.1.0", "-1", 0.5),
        ("6.1.0", "-2", 0.25),
        ("6.1.0", "77", 0.5),
        ("6.1.0", "many", 0.5),
        ("6.6.0", "-2", 0.5),
        ("6.12.9-arch1", "3", 0.5),
        ("10.0", "3", 0.5),
        ("?", "-2", 0.5),
    ],
)
def test_window_share_of_a_receive_buffer(kernel: str, scale: str, share: float) -> None:
    facts = host(sysctl={"kernel.osrelease": kernel, "net.ipv4.tcp_adv_win_scale": scale})
    assert window_share(facts).value == share


def test_smaller_end_limits_the_window() -> None:
    small, large = (
        {"net.ipv4.tcp_rmem": f"4096 131072 {size}", "net.ipv4.tcp_wmem": f"4096 16384 {size}"}
        for size in (16 * MIB, 256 * MIB)
    )
    assert present_window(host(sysctl=large), host(sysctl=small)) == 8 * MIB
    assert present_window(host(sysctl=small), host(sysctl=large)) == 8 * MIB
    assert present_window(host(sysctl=large), host(sysctl=large)) == 128 * MIB
    assert present_window(unknown(), host()) is None
    assert present_window(host(), unknown()) is None


@pytest.mark.parametrize(
    ("rtt", "used"),
    [
        (Uncertain(0.033, 0.002), 0.035),
        (Uncertain(0.0, 0.001), 0.001),
        (Uncertain(0.0), None),
        (Uncertain(10.1), None),
        (None, None),
    ],
)
def test_planning_rtt(rtt: Uncertain | None, used: float | None) -> None:
    assert planning_rtt(rtt) == (None if used is None else pytest.approx(used))


@given(st.floats(0, 1.7e308), st.floats(1e-6, 10), st.floats(0.01, 1))
def test_buffers_hold_the_window_within_the_largest_integer(rate: float, rtt: float, part: float) -> None:
    wanted = min(bandwidth_delay_product(rate, rtt), LARGEST_WINDOW)
    share = WindowShare(part, "")
    receive, send = receive_buffer(wanted, share), send_buffer(wanted, "cubic")
    assert 0 <= receive <= LARGEST_BUFFER
    assert 0 <= send <= LARGEST_BUFFER
    reached = allowed_window(send, receive, share)
    full = max(receive, send) == LARGEST_BUFFER
    assert full or reached >= wanted or math.isclose(reached, wanted)
