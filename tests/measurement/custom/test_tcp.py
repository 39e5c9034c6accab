"""The host's TCP settings as a metric: a made-up host, and this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from measurement.custom.tcp import TcpMetric
from measurement.model import Observation, from_json, host_key, to_json
from tests.support.refusals import refused


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The files of a host with two interfaces."""
    files = {
        "proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t33554432\n",
        "proc/sys/net/ipv4/tcp_congestion_control": "cubic\n",
        "proc/sys/net/core/rmem_max": "212992\n",
        "sys/class/net/lo/mtu": "65536\n",
        "sys/class/net/eth0/mtu": "9000\n",
        "sys/class/net/eth0/tx_queue_len": "1000\n",
        "sys/class/net/eth0/speed": "10000\n",
        "sys/class/net/eth0/operstate": "up\n",
        "sys/class/net/eth1/mtu": "1500\n",
        "sys/class/net/eth1/speed": "-1\n",
        "sys/class/net/eth1/operstate": "down\n",
    }
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def test_what_is_told(root: Path) -> None:
    (value,) = TcpMetric("mu-dtn", root=root).sample(100.0)
    assert (value.key, value.metric, value.value) == (
        host_key("mu-dtn"),
        "host.tcp_receive_limit",
        33_554_432,
    )
    assert value.observed_at == 100.0
    sysctl = value.parameters["sysctl"]
    assert isinstance(sysctl, dict)
    assert sysctl["net.ipv4.tcp_rmem"] == "4096 131072 33554432"
    assert sysctl["net.core.rmem_max"] == "212992"
    assert sysctl["kernel.osrelease"]
    assert "net.ipv4.tcp_wmem" not in sysctl
    assert value.parameters["interfaces"] == [
        {"name": "eth0", "mtu": 9000, "queue": 1000, "rate": 10**10, "up": True},
        {"name": "eth1", "mtu": 1500, "up": False},
    ]


def test_it_travels_as_it_is(root: Path) -> None:
    (value,) = TcpMetric("mu-dtn", root=root).sample(100.0)
    sent = json.loads(json.dumps(to_json(value)))
    assert from_json(Observation, sent) == value


def test_named_interfaces_only(root: Path) -> None:
    (value,) = TcpMetric("h", ("eth1", "eth7"), root=root).sample(1.0)
    interfaces = value.parameters["interfaces"]
    assert isinstance(interfaces, list)
    assert [one["name"] for one in interfaces] == ["eth1"]


def test_a_host_that_does_not_tell(tmp_path: Path) -> None:
    with refused("unreadable"):
        TcpMetric("h", root=tmp_path).sample(1.0)


def test_this_machine() -> None:
    (value,) = TcpMetric("h").sample(1.0)
    assert value.value > 0
    assert value.parameters["unit"] == "B"
