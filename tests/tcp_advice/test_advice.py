"""Advice: both hosts, unknown values, extreme values."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.tcp_advice.advice import Advice, advise
from adon.tcp_advice.facts import HostFacts, Interface, PathFacts
from adon.tcp_advice.parts import Confidence
from adon.tcp_advice.streams import MOST_STREAMS
from adon.uncertain import Uncertain
from tests.tcp_advice.values import GB, MIB, a_test_of, host, path, unknown

OSU = host("osu-dtn")


def settings(advice: Advice, end: int) -> dict[str, str]:
    return {one.key: one.value for one in advice.hosts[end].settings}


def item(advice: Advice, name: str) -> Any:
    return next(one for one in advice.items if one.name == name)


def test_path_of_the_thesis() -> None:
    found = advise(path(), host(), OSU)
    assert (found.target, found.streams, found.mtu, found.control) == (10e9, 1, 9000, "cubic")
    assert found.buffer == 79 * MIB
    assert item(found, "buffers").formula.startswith("10 Gbps · 33 ms / 8 = 39.34 MiB; ")
    assert item(found, "buffers").confidence is Confidence.HIGH
    assert not found.gaps


def test_both_hosts_get_both_buffers_and_the_features_they_need() -> None:
    found = advise(path(), host(), OSU)
    for end in (0, 1):
        wanted = settings(found, end)
        assert wanted["net.ipv4.tcp_rmem"] == f"4096 131072 {79 * MIB}"
        assert wanted["net.ipv4.tcp_wmem"] == f"4096 16384 {79 * MIB}"
        assert wanted["net.core.rmem_max"] == wanted["net.core.wmem_max"] == str(79 * MIB)
        assert wanted["net.core.netdev_max_backlog"] == "30000"
        assert wanted["net.ipv4.tcp_window_scaling"] == wanted["net.ipv4.tcp_moderate_rcvbuf"] == "1"
        assert wanted["mtu"] == "9000"
    assert settings(found, 0)["net.ipv4.tcp_congestion_control"] == "cubic"
    assert "net.ipv4.tcp_congestion_control" not in settings(found, 1)


def test_larger_buffers_are_kept() -> None:
    large = host(
        sysctl={"net.ipv4.tcp_rmem": f"8192 262144 {512 * MIB}", "net.core.rmem_max": str(1024 * MIB)}
    )
    wanted = settings(advise(path(), large, OSU), 0)
    assert wanted["net.ipv4.tcp_rmem"] == f"8192 262144 {512 * MIB}"
    assert wanted["net.core.rmem_max"] == str(1024 * MIB)


def test_larger_present_values_are_kept() -> None:
    more = host(sysctl={"net.core.netdev_max_backlog": "250000", "net.ipv4.tcp_mtu_probing": "2"})
    wanted = settings(advise(path(), more, OSU), 0)
    assert (wanted["net.core.netdev_max_backlog"], wanted["net.ipv4.tcp_mtu_probing"]) == ("250000", "2")


def test_small_memory_limits_buffers_and_streams() -> None:
    small = host(memory=128 * MIB)
    found = advise(path(), small, OSU)
    assert settings(found, 0)["net.ipv4.tcp_wmem"].endswith(f" {32 * MIB}")
    assert "mu-dtn" in item(found, "buffers").reason
    assert found.window == 16 * MIB
    assert found.streams == 1  # three windows of 16 MiB would be needed, memory holds the buffers of one
    assert "mu-dtn" in item(found, "streams").reason


def test_rate_above_one_window_needs_streams() -> None:
    fast = host(interface=Interface("eth0", 9000, rate=400e9), memory=512 * GB)
    found = advise(path(rate=400e9, rtt=Uncertain(0.2)), fast, replace(fast, name="osu-dtn"))
    # 400 Gbps · 0.2 s is 10 GB; a window ends at 1 GiB, its buffer at 2 GiB.
    assert found.window == pytest.approx(1023.5 * MIB, rel=1e-2)
    assert found.streams == 10


def test_little_loss_needs_streams_and_much_loss_bbr() -> None:
    found = advise(path(rate=1e9, loss=Uncertain(1e-5), mtu=1500), host(), OSU)
    # Mathis: 8 · 1460 · √1.5 / (33 ms · √1e-5) = 137 Mbps: less than half, so BBR, which needs one stream.
    assert (found.control, found.streams) == ("bbr", 1)
    found = advise(path(rate=200e6, loss=Uncertain(1e-5), mtu=1500), host(), OSU)
    assert (found.control, found.streams) == ("cubic", 2)
    assert "= 137.1 Mbps" in item(found, "streams").formula


def test_unexplained_test_result_decides_the_streams() -> None:
    tuned = {"net.ipv4.tcp_rmem": f"4096 131072 {256 * MIB}", "net.ipv4.tcp_wmem": f"4096 16384 {256 * MIB}"}
    near, far = host(sysctl=tuned), host("osu-dtn", sysctl=tuned)
    found = advise(path(reached=a_test_of(3e9)), near, far)
    assert found.streams == 4
    assert item(found, "streams").confidence is Confidence.LOW
    assert "3 Gbps" in item(found, "streams").formula
    # Small buffers explain as little: then one stream is enough once they are large.
    assert advise(path(reached=a_test_of(0.5e9)), host(), OSU).streams == 1


def test_unknown_values_are_listed() -> None:
    found = advise(PathFacts("al2s"), unknown(), unknown("osu-dtn"))
    assert (found.target, found.streams, found.buffer, found.prediction) == (None, None, None, None)
    assert found.items == ()
    assert [gap.what for gap in found.gaps] == [
        "RTT of the path",
        "capacity of the path",
        "present buffers of mu-dtn",
        "memory of mu-dtn",
        "present buffers of osu-dtn",
        "memory of osu-dtn",
        "packet loss of the path",
        "MTU of the path",
        "speed of the interfaces",
        "speed of the sender's interface",
    ]
    assert all(gap.measure for gap in found.gaps)


@pytest.mark.parametrize("rtt", [Uncertain(0.0), Uncertain(11.0), Uncertain(1e300), None])
def test_implausible_rtt_gives_no_buffers(rtt: Uncertain | None) -> None:
    found = advise(path(rtt=rtt), host(), OSU)
    assert (found.buffer, found.streams) == (None, None)
    assert "RTT" in found.gaps[0].what


@pytest.mark.parametrize("loss", [0.2, 1.0])
def test_broken_path_gets_no_streams_and_no_prediction(loss: float) -> None:
    found = advise(path(loss=Uncertain(loss)), host(), OSU)
    assert (found.streams, found.prediction) == (None, None)
    assert found.gaps


def test_unknown_loss_lowers_the_confidence_of_streams() -> None:
    assert item(advise(path(loss=None), host(), OSU), "streams").confidence is Confidence.LOW


def test_target_is_the_least_of_path_and_interfaces() -> None:
    slow = host(interface=Interface("eth0", rate=1e9))
    assert advise(path(), slow, OSU).target == 1e9
    assert advise(path(rate=None), unknown(), unknown()).target is None


NUMBERS = st.floats(5e-324, 1.7e308)
SIZES = st.integers(0, 2**62)


@st.composite
def hosts(draw: st.DrawFn) -> HostFacts:
    sysctl = {
        key: f"{draw(SIZES)} {draw(SIZES)} {draw(SIZES)}"
        for key in ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem")
    }
    interface = Interface("eth0", draw(st.integers(1, 10**6)), draw(st.none() | st.integers(1, 10**6)))
    return host(
        sysctl=sysctl,
        memory=draw(st.none() | st.integers(1, 2**62)),
        interface=replace(interface, rate=draw(st.none() | NUMBERS)),
    )


@st.composite
def paths(draw: st.DrawFn) -> PathFacts:
    return PathFacts(
        "p",
        draw(st.none() | NUMBERS),
        draw(st.none() | st.builds(Uncertain, st.floats(0, 1.7e308), st.floats(0, 1.7e308))),
        draw(st.none() | st.builds(Uncertain, st.floats(0, 1), st.floats(0, 1.7e308))),
        draw(st.none() | st.integers(576, 65_535)),
        draw(st.none() | st.builds(a_test_of, st.floats(0, 1e308), st.integers(1, 128), st.floats(0, 1e308))),
        draw(st.none() | st.booleans()),
    )


@given(paths(), hosts(), hosts(), st.integers(1, 128))
def test_limits_hold_for_any_input(
    about: PathFacts, sender: HostFacts, receiver: HostFacts, streams: int
) -> None:
    found = advise(about, sender, replace(receiver, name="far"), streams)
    assert found.streams is None or 1 <= found.streams <= MOST_STREAMS
    assert found.buffer is None or 0 <= found.buffer < 2**31
    for end, facts in zip(found.hosts, (sender, receiver), strict=True):
        for one in end.settings:
            assert one.value
            assert "nan" not in one.value
            assert "inf" not in one.value
            present = facts.buffer_sizes(one.key)
            if present is not None:
                assert int(one.value.split()[-1]) >= present.maximum  # never lowered
    prediction = found.prediction
    if prediction is not None:
        for spread in (prediction.after, prediction.before, prediction.gain):
            if spread is not None:
                assert not any(math.isnan(value) for value in (spread.low, spread.expected, spread.high))
