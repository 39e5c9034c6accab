"""ADON's configuration for a topology of campuses."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adon.config import Configuration
from adon.errors import InvalidInput
from adon.measurement_plan import plan_measurements
from adon.values import FrozenMap
from adon.yamlfile import dump_data, parse_model
from mininet_topos.link_shape import MTU
from mininet_topos.measurement_points import PORT
from mininet_topos.topologies.campus_topo import Campus, CampusTopo, TransitPath

NOTICE = "4 s"
"""Time before its start at which a test is posted to the points.  During a transfer at 58 Mbit/s on two
cores, both points accepted eight tests that were posted at once within one second."""
AROUND_THROUGHPUT = "4 s"
"""Time that ADON's points keep free around the data of a throughput test (pScheduler's points: 9 s)."""
AROUND_LIGHT_TESTS = 1.0
"""Seconds kept free around light tests where no test fills a path."""
TESTS = ("throughput", "rtt", "latency")
LONGEST_ROUND, ROUND_STEP = 3600, 5
"""Seconds of the longest round; rounds are multiples of the step."""


@dataclass(frozen=True, slots=True)
class MeasurementPeriods:
    """Periods of the tests of each path, in seconds; None leaves a test out.

    The defaults suit a testbed that runs for minutes; a real installation tests throughput every few hours.
    They fit (EDF-CE) where two campuses have two paths; :func:`fit_periods_to` finds the round of other
    networks.  Throughput is measured from the campus where a path begins, the rest in both directions.

    :param around_others: seconds kept free around a light test.
    """

    throughput: float | None = 20.0
    throughput_duration: float = 3.0
    rtt: float | None = 20.0
    latency: float | None = 20.0
    around_others: float = 3.0

    @property
    def longest(self) -> float | None:
        """Return the longest period; None if nothing is tested."""
        periods = [getattr(self, name) for name in TESTS]
        return max((period for period in periods if period is not None), default=None)


DEFAULT_PERIODS = MeasurementPeriods()


def fit_periods_to(topo: CampusTopo, fixed: Mapping[str, float | None] = FrozenMap()) -> MeasurementPeriods:
    """Return the shortest round in which all tests of the network fit, found by bisection.

    :param fixed: fields that stay as they are.  No other period becomes shorter than these and the defaults.
    :raises InvalidInput: if no round of up to an hour fits, with the planner's reason.
    """
    like = replace(DEFAULT_PERIODS, **dict[str, Any](fixed))
    if like.throughput is None:
        like = replace(like, around_others=AROUND_LIGHT_TESTS)
    first = ROUND_STEP * math.ceil((like.longest or 0.0) / ROUND_STEP)
    rounds = range(first, max(first, LONGEST_ROUND) + 1, ROUND_STEP)
    free = [name for name in TESTS if name not in fixed]

    def plan(seconds: float) -> MeasurementPeriods:
        periods = replace(like, **dict[str, Any].fromkeys(free, seconds))
        plan_measurements(parse_model(configuration_text(topo, periods=periods), Configuration))
        return periods

    def fits(seconds: float) -> bool:
        with suppress(InvalidInput):
            return bool(plan(seconds))
        return False

    shortest = bisect_left(rounds, True, key=fits)
    return plan(rounds[min(shortest, len(rounds) - 1)])


def configuration_text(
    topo: CampusTopo,
    *,
    name: str = "testbed",
    points: Path = Path(),
    periods: MeasurementPeriods = DEFAULT_PERIODS,
    measured: bool = True,
    extra: Mapping[str, Any] | None = None,
) -> str:
    """Return ADON's configuration file, as YAML.

    :param points: folder with the certificates of the points, ``HOST.pem``, and ``controller.token``.
    :param measured: whether there are measurement points; without them ADON knows nothing of the paths.
    :param extra: further sections (``compute``, ``policy``), and keys of those above, as they are.
    """
    campuses = topo.campuses.values()
    used = Counter(name for path in topo.paths.values() for name in path.circuits)
    shared = {name for name, paths in used.items() if paths > 1 and topo.circuits[name].shape is not None}
    measurements = {
        "points": {campus.name: _point(campus, points) for campus in campuses},
        "tests": [test for path in topo.paths.values() for test in _tests(path, periods)],
        "notice": NOTICE,
        "around_throughput": AROUND_THROUGHPUT,
        "around_others": f"{periods.around_others:g} s",
    }
    document = {
        "network": name,
        "switches": {campus.edge: {"dpid": f"{campus.dpid:016x}"} for campus in campuses},
        "sites": {campus.name: _site(campus) for campus in campuses},
        "paths": {path.name: _path(path, shared) for path in topo.paths.values()},
        "measurements": measurements if measured else None,
        "controller": {"openflow_port": 6653, "web_port": 8080},
    }
    for section, content in (extra or {}).items():
        own = document.get(section)
        document[section] = {**own, **content} if isinstance(own, dict) else content
    return dump_data(_drop_empty(document))


def _drop_empty(section: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in section.items() if value not in (None, [])}


def _site(campus: Campus) -> dict[str, Any]:
    hosts = {
        name: {"address": dtn.address, "mac": dtn.mac, "port": campus.ports[name]}
        for name, dtn in campus.dtns.items()
    }
    return {"edge": campus.edge, "gateway_mac": campus.gateway_mac, "hosts": hosts}


def _path(path: TransitPath, shared: Set[str]) -> dict[str, Any]:
    ends = {
        campus: _drop_empty({"port": port, "next_hop_mac": path.next_hop_macs.get(campus)})
        for campus, port in path.edge_ports.items()
    }
    document = {
        "layer": path.layer,
        "vlan": path.vlan,
        "capacity": f"{path.capacity / 1e6:.6g} Mbps",
        "mtu": MTU,
        "links": [name for name in path.circuits if name in shared],
        "ends": ends,
    }
    return _drop_empty(document)


def _point(campus: Campus, credentials: Path) -> dict[str, Any]:
    node = f"{campus.management}:{PORT}"
    return {
        "url": f"https://{node}/pscheduler",
        "verify": str(credentials / f"{campus.measuring}.pem"),
        "node": node,
        "token_file": str(credentials / "controller.token"),
    }


def _tests(path: TransitPath, periods: MeasurementPeriods) -> list[dict[str, Any]]:
    """Return the tests of a path: throughput from the campus where it begins, the others both ways."""
    one, other = path.campuses
    tests = []
    for source, destination, throughput in ((one, other, periods.throughput), (other, one, None)):
        if throughput is None and periods.rtt is None and periods.latency is None:
            continue
        seconds = {
            "throughput_period": throughput,
            "throughput_duration": periods.throughput_duration,
            "rtt_period": periods.rtt,
            "latency_period": periods.latency,
        }
        test = {
            "path": path.name,
            "from": source,
            "to": destination,
            "source": path.addresses[source],
            "destination": path.addresses[destination],
        }
        tests.append(test | {name: f"{value:g} s" for name, value in seconds.items() if value is not None})
    return tests
