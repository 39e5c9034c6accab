"""ADON's configuration file for a running :class:`~mininet_topos.mu_osu.MuOsu` network.

Text out, nothing read or written: what is described here once (addresses, ports, rates) is not typed a
second time into a YAML file.  ``adon.config.load`` is what must accept it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from mininet_topos.mu_osu import (
    CAMPUSES,
    DTN,
    MEASUREMENT_ADDRESSES,
    MU,
    OSU,
    OVERLAY_VLAN,
    Campus,
    MuOsu,
    dtn_addresses,
    edge_port,
)

MEASUREMENT_POINT_PORT = 4443


NOTICE = 4.0
"""Seconds ahead of its start at which a test is given to the points.  Beside a transfer at 58 Mbit/s, on two
cores, eight posted at once were on both points' schedules within one."""
AROUND_THROUGHPUT = 4.0
"""Seconds that our points keep free around the data of a throughput test (pScheduler's: nine)."""
AROUND_OTHERS = 3.0
"""The same for the other tests."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """How often each path is measured, in seconds; None leaves a test out.

    The defaults suit a demonstration of minutes: a real installation tests throughput every few hours.  They
    are a plan that provably fits (EDF-CE): a test that loads the network runs beside no other at the same
    points, so a round of 20 s holds all light tests at once (5 s) and then a throughput test of each path
    (3 s, 7 s kept free), one after the other.  Throughput is measured where the data goes, MU to OSU.

    :param both_ways: whether the light tests are done from OSU to MU as well.
    :param around_others: seconds kept free around a light test.
    """

    throughput_period: float | None = 20.0
    throughput_duration: float = 3.0
    rtt_period: float | None = 20.0
    latency_period: float | None = 20.0
    both_ways: bool = True
    around_others: float = AROUND_OTHERS


DEFAULT_SCHEDULE = Schedule()


def network_config(
    network: MuOsu,
    certificates: Mapping[str, Path],
    controller: tuple[Path, Path],
    *,
    schedule: Schedule = DEFAULT_SCHEDULE,
    openflow_port: int = 6653,
    web_port: int = 8080,
    extra: dict[str, Any] | None = None,
) -> str:
    """The YAML text.

    :param certificates: per campus the PEM file by which its measurement point is known.
    :param controller: PEM files of the certificate and key by which the points know us.
    :param extra: further top-level sections (``compute``, ``policy``), as they are.
    """
    document = {
        "network": "mu-osu",
        "switches": {campus.edge: {"dpid": f"{campus.dpid:016x}"} for campus in CAMPUSES},
        "sites": {campus.name: _site(campus) for campus in CAMPUSES},
        "paths": {"al2s": _overlay(network), "internet": _routed(network)},
        "measurements": {
            "points": {
                campus.name: _point(campus, certificates[campus.name], controller) for campus in CAMPUSES
            },
            "tests": [
                _test(path, source, destination, schedule)
                for path in MEASUREMENT_ADDRESSES
                for source, destination in ((MU, OSU), (OSU, MU))
                if source is MU or schedule.both_ways
            ],
            "notice": f"{NOTICE:g} s",
            "around_throughput": f"{AROUND_THROUGHPUT:g} s",
            "around_others": f"{schedule.around_others:g} s",
        },
        "controller": {"openflow_port": openflow_port, "web_port": web_port},
        **(extra if extra is not None else {}),
    }
    return yaml.safe_dump(document, sort_keys=False)


def _site(campus: Campus) -> dict[str, Any]:
    dtn = {"address": str(campus.address(DTN).ip), "mac": campus.dtn_mac, "port": edge_port(campus, "dtn")}
    return {"edge": campus.edge, "gateway_mac": campus.gateway_mac, "hosts": {campus.dtn: dtn}}


def _overlay(network: MuOsu) -> dict[str, Any]:
    ends = {campus.name: {"port": edge_port(campus, "al2s")} for campus in CAMPUSES}
    return {"layer": 2, "vlan": OVERLAY_VLAN, "capacity": _rate(network.overlay.rate), "ends": ends}


def _routed(network: MuOsu) -> dict[str, Any]:
    ends = {
        campus.name: {"port": edge_port(campus, "rtr"), "next_hop_mac": campus.gateway_mac}
        for campus in CAMPUSES
    }
    return {"layer": 3, "capacity": _rate(network.routed.rate), "ends": ends}


def _point(campus: Campus, certificate: Path, controller: tuple[Path, Path]) -> dict[str, Any]:
    node = f"{campus.management.ip}:{MEASUREMENT_POINT_PORT}"
    shown = {"client_certificate": str(controller[0]), "client_key": str(controller[1])}
    return {"url": f"https://{node}/pscheduler", "verify": str(certificate), "node": node, **shown}


def _test(path: str, source: Campus, destination: Campus, schedule: Schedule) -> dict[str, Any]:
    times = {
        "throughput_period": schedule.throughput_period if source is MU else None,
        "throughput_duration": schedule.throughput_duration,
        "rtt_period": schedule.rtt_period,
        "latency_period": schedule.latency_period,
    }
    return {
        "path": path,
        "from": source.name,
        "to": destination.name,
        "source": str(dtn_addresses(source)[path]),
        "destination": str(dtn_addresses(destination)[path]),
        **{name: f"{seconds:g} s" for name, seconds in times.items() if seconds is not None},
    }


def _rate(bits_per_second: float) -> str:
    return f"{bits_per_second / 1e6:.6g} Mbps"
