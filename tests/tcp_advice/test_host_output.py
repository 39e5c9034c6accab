"""Settings of a host, parsed from the output of its commands."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.errors import InvalidInput
from adon.tcp_advice.facts import BufferSizes, Interface
from adon.tcp_advice.host_output import read_host, read_observation
from tests.support.refusals import refused
from tests.tcp_advice.values import PRINTED


def test_output_of_all_commands() -> None:
    found = read_host(PRINTED, "mu-dtn")
    assert found.buffer_sizes("net.ipv4.tcp_rmem") == BufferSizes(4096, 131_072, 6_291_456)
    assert found.kernel == (6, 1)
    assert "vm.swappiness" not in found.sysctl
    assert found.memory == 65_809_384 * 1024
    assert found.interface == Interface("eth0", 1500, 9702, 1000, "fq", 900e6, 10e9, True)
    first, second = found.connections
    assert (first.peer, first.control, first.rtt, first.min_rtt) == (
        "10.0.0.2:5201",
        "cubic",
        pytest.approx(0.033512),
        pytest.approx(0.0331),
    )
    assert (first.mss, first.window) == (8948, 720)
    assert (first.receive_limited, first.send_limited) == (0.4, 0.05)
    assert (second.peer, second.control) == ("[2001:db8::2]:5000", "bbr")
    assert (second.receive_limited, second.send_limited) == (0.0, 0.0)


def test_named_interface() -> None:
    assert read_host(PRINTED, "mu-dtn", "eth1").interface == Interface(
        "eth1", 9000, None, 5000, "noop", None, None, False
    )
    with refused(InvalidInput, field="interface"):
        read_host(PRINTED, "mu-dtn", "eth7")


def test_default_interface_is_the_fastest_that_is_up() -> None:
    text = PRINTED + "Settings for eth1:\n\tSpeed: 100000Mb/s\n"
    found = read_host(text, "mu-dtn").interface
    assert found is not None
    assert found.name == "eth0"


def test_sysctl_key_with_slashes() -> None:
    found = read_host("net/ipv4/tcp_rmem=4096 131072 6291456", "h")
    assert found.buffer_sizes("net.ipv4.tcp_rmem") == BufferSizes(4096, 131_072, 6_291_456)
    assert found.interface is None


def test_connection_in_one_line() -> None:
    line = "ESTAB 0 0 10.0.0.1:1 10.0.0.2:2 cubic rtt:33/1 mss:1448 cwnd:10"
    assert read_host(line, "h").connections[0].rtt == 0.033


@pytest.mark.parametrize(
    ("pace", "rate"), [("maxrate 900Mbit", 900e6), ("maxrate 1200Kbit", 1.2e6), ("maxrate 2Gbit", 2e9),
                       ("maxrate 5bit", 5.0), ("maxrate fast", None), ("", None)]
)  # fmt: skip
def test_pace_of_fq(pace: str, rate: float | None) -> None:
    text = f"qdisc mq 0: dev eth0 root\nqdisc fq 0: dev eth0 parent :8 limit 10000p {pace}\n"
    interface = read_host(text, "h").interface
    assert interface is not None
    assert (interface.discipline, interface.pace) == ("fq", rate)


@pytest.mark.parametrize("text", ["", "\n\n", "hello", "sysctl: permission denied\n", "1 2 3"])
def test_text_without_a_known_line_is_refused(text: str) -> None:
    with refused(InvalidInput, field="text"):
        read_host(text, "h")


def test_too_long_text_is_refused() -> None:
    with refused(InvalidInput, field="text"):
        read_host("x" * 4_000_001, "h")


LINES = st.sampled_from(PRINTED.splitlines()) | st.text(max_size=60)


@given(st.lists(LINES, max_size=30))
def test_any_text_is_parsed_or_refused(lines: list[str]) -> None:
    with suppress(InvalidInput):
        read_host("\n".join(lines), "h")


@given(st.lists(st.sampled_from(PRINTED.splitlines()).flatmap(
    lambda line: st.integers(0, len(line)).map(lambda end: line[:end])), max_size=20))  # fmt: skip
def test_truncated_lines_are_parsed_or_refused(lines: list[str]) -> None:
    with suppress(InvalidInput):
        read_host("\n".join(lines), "h")


class TestReadObservation:
    SETTINGS: ClassVar[dict[str, Any]] = {
        "sysctl": {"net.ipv4.tcp_rmem": "4096 131072 33554432", "kernel.osrelease": "6.12.1"},
        "interfaces": [
            {"name": "eth0", "mtu": 9000, "queue": 1000, "rate": 10 * 10**9, "up": True},
            {"name": "eth1", "mtu": 1500, "rate": 10**9, "up": True},
        ],
    }

    def test_metric_of_a_measurement_point(self) -> None:
        found = read_observation("mu-dtn", self.SETTINGS, 64e9, 1000.0, "its measurement point")
        assert found.buffer_sizes("net.ipv4.tcp_rmem") == BufferSizes(4096, 131_072, 33_554_432)
        assert found.interface == Interface("eth0", 9000, None, 1000, "", None, 10e9, True)
        assert (found.memory, found.observed_at) == (64 * 10**9, 1000.0)

    def test_named_interface(self) -> None:
        found = read_observation("mu-dtn", self.SETTINGS, None, 0.0, "", "eth1").interface
        assert found is not None
        assert found.name == "eth1"

    @pytest.mark.parametrize(
        "settings",
        [
            {},
            {"sysctl": 3, "interfaces": "eth0"},
            {"interfaces": [1, {"name": "e", "mtu": True, "rate": -1}]},
        ],
    )
    def test_malformed_values_are_unknown(self, settings: dict[str, object]) -> None:
        found = read_observation("h", settings, float("inf"), 0.0, "")
        assert found.memory is None
        assert found.interface is None or found.interface.mtu is None


@pytest.mark.integration
def test_output_of_this_machine() -> None:
    show = "sysctl -a; ip -d link; tc qdisc; ss -tin; grep MemTotal /proc/meminfo"
    text = subprocess.run(["sh", "-c", show], capture_output=True, text=True, timeout=60, check=False).stdout
    found = read_host(text, "here")
    sizes = found.buffer_sizes("net.ipv4.tcp_rmem")
    assert sizes is not None
    assert sizes.maximum >= sizes.minimum > 0
    assert found.kernel is not None
    assert found.congestion_controls is not None
    assert "reno" in found.congestion_controls
    assert found.memory is not None
