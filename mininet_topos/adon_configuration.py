"""ADON's configuration for a topology: what the topology says once is not typed a second time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adon.config import Configuration
from adon.errors import InvalidInput
from adon.measurement_plan import plan_measurements
from adon.yamlfile import dump_data, parse_model
from mininet_topos.link_shape import MTU
from mininet_topos.measurement_points import PORT, PointContact
from mininet_topos.topologies.campus_topo import Campus, CampusTopo, TransitPath

NOTICE = 4.0
"""Seconds before its start at which a test is given to the points.  During a transfer at 58 Mbit/s, on two
cores, eight tests that were posted at once were on both points' schedules within one second."""
AROUND_THROUGHPUT = 4.0
"""Seconds that ADON's points keep free around the data of a throughput test (pScheduler's: nine)."""
AROUND_OTHERS = 3.0
"""The same for other tests."""
LONGEST_ROUND = 3600
ROUND_STEP = 5
"""Rounds are whole multiples of so many seconds."""


@dataclass(frozen=True, slots=True)
class MeasurementPeriods:
    """How often each path is measured, in seconds; None leaves a test out.

    The defaults suit a testbed that runs for minutes; a real installation tests throughput every few hours.
    They fit (EDF-CE) where two campuses have two paths; :func:`fit_periods_to` finds the round of other
    networks.  Throughput is measured from the campus where a path begins.

    :param both_ways: whether light tests run in the other direction too.
    :param around_others: seconds kept free around a light test.
    """

    throughput: float | None = 20.0
    throughput_duration: float = 3.0
    rtt: float | None = 20.0
    latency: float | None = 20.0
    both_ways: bool = True
    around_others: float = AROUND_OTHERS

    @property
    def longest(self) -> float | None:
        """The longest period; None if nothing is tested."""
        return max((each for each in (self.throughput, self.rtt, self.latency) if each), default=None)

    def every(self, seconds: float) -> MeasurementPeriods:
        """The same tests, each once in so many seconds."""
        tested = [name for name in ("throughput", "rtt", "latency") if getattr(self, name) is not None]
        changed: dict[str, Any] = dict.fromkeys(tested, seconds)
        return replace(self, **changed)


DEFAULT_PERIODS = MeasurementPeriods()


def fit_periods_to(topo: CampusTopo, like: MeasurementPeriods = DEFAULT_PERIODS) -> MeasurementPeriods:
    """Return a round in which every test of the network has its place, found by doubling and halving.

    :param like: what is tested, and how long; no period becomes shorter than its longest.
    :raises InvalidInput: if there is none within an hour, with the planner's reason.
    """
    if like.longest is None:
        raise InvalidInput.of("measurements.tests", "nothing is tested; expected at least one period")
    fits = max(1, math.ceil(like.longest / ROUND_STEP))
    too_short = fits - 1
    while (obstacle := find_obstacle(topo, like.every(fits * ROUND_STEP))) is not None:
        if fits * ROUND_STEP >= LONGEST_ROUND:
            raise obstacle
        too_short, fits = fits, min(2 * fits, LONGEST_ROUND // ROUND_STEP)
    while fits - too_short > 1:
        middle = (fits + too_short) // 2
        if find_obstacle(topo, like.every(middle * ROUND_STEP)) is None:
            fits = middle
        else:
            too_short = middle
    return like.every(fits * ROUND_STEP)


def find_obstacle(topo: CampusTopo, periods: MeasurementPeriods) -> InvalidInput | None:
    """Return why the tests of a network do not fit; None if they do."""
    try:
        plan_measurements(parse_model(configuration_text(topo, periods=periods), Configuration))
    except InvalidInput as error:
        return error
    return None


def configuration_text(
    topo: CampusTopo,
    *,
    name: str = "testbed",
    contacts: Mapping[str, PointContact] | None = None,
    token: Path = Path("controller.token"),
    periods: MeasurementPeriods = DEFAULT_PERIODS,
    openflow_port: int = 6653,
    web_port: int = 8080,
    measured: bool = True,
    extra: Mapping[str, Any] | None = None,
) -> str:
    """Return ADON's configuration file, as YAML.

    :param contacts: per measuring DTN its point; None: at its management address, with ``HOST.pem``.
    :param token: the file of the token by which the points know the controller.
    :param measured: whether there are measurement points; without them ADON knows nothing of the paths.
    :param extra: further sections (``compute``, ``policy``), and keys of those above, as they are.
    """
    campuses = topo.campuses.values()
    reached = {campus.measuring: _default_contact(campus) for campus in campuses} | dict(contacts or {})
    shared = _shared_circuits(topo)
    measurements = {
        "points": {campus.name: _point(reached[campus.measuring], token) for campus in campuses},
        "tests": [test for path in topo.paths.values() for test in _tests(path, periods)],
        "notice": f"{NOTICE:g} s",
        "around_throughput": f"{AROUND_THROUGHPUT:g} s",
        "around_others": f"{periods.around_others:g} s",
    }
    document = {
        "network": name,
        "switches": {campus.edge: {"dpid": f"{campus.dpid:016x}"} for campus in campuses},
        "sites": {campus.name: _site(campus) for campus in campuses},
        "paths": {path.name: _path(path, shared) for path in topo.paths.values()},
        **({"measurements": measurements} if measured else {}),
        "controller": {"openflow_port": openflow_port, "web_port": web_port},
    }
    for section, content in (extra or {}).items():
        own = document.get(section)
        document[section] = {**own, **content} if isinstance(own, dict) else content
    return dump_data(document)


def _default_contact(campus: Campus) -> PointContact:
    address = (campus.dtns[campus.measuring].management or "").partition("/")[0]
    return PointContact(f"{address}:{PORT}", Path(f"{campus.measuring}.pem"))


def _shared_circuits(topo: CampusTopo) -> frozenset[str]:
    """Circuits with a rate that several paths lead over."""
    rated = {name for name, circuit in topo.circuits.items() if circuit.rate is not None}
    used = Counter(name for path in topo.paths.values() for name in path.circuits if name in rated)
    return frozenset(name for name, paths in used.items() if paths > 1)


def _site(campus: Campus) -> dict[str, Any]:
    hosts = {
        name: {"address": dtn.address, "mac": dtn.mac, "port": dtn.edge_port}
        for name, dtn in campus.dtns.items()
    }
    return {"edge": campus.edge, "gateway_mac": campus.gateway_mac, "hosts": hosts}


def _path(path: TransitPath, shared: frozenset[str]) -> dict[str, Any]:
    ends = {
        campus: {"port": port}
        | ({"next_hop_mac": path.next_hop_macs[campus]} if campus in path.next_hop_macs else {})
        for campus, port in path.edge_ports.items()
    }
    links = [name for name in path.circuits if name in shared]
    return {
        "layer": path.layer,
        **({} if path.vlan is None else {"vlan": path.vlan}),
        "capacity": f"{path.capacity / 1e6:.6g} Mbps",
        "mtu": MTU,
        **({"links": links} if links else {}),
        "ends": ends,
    }


def _point(contact: PointContact, token: Path) -> dict[str, Any]:
    return {
        "url": contact.url,
        "verify": str(contact.certificate),
        "node": contact.node,
        "token_file": str(token),
    }


def _tests(path: TransitPath, periods: MeasurementPeriods) -> list[dict[str, Any]]:
    if not path.addresses or periods.longest is None:
        return []
    one, other = path.campuses
    light = periods.rtt is not None or periods.latency is not None
    ways = [(one, other), (other, one)] if light and periods.both_ways else [(one, other)]
    return [_test(path, source, destination, periods) for source, destination in ways]


def _test(path: TransitPath, source: str, destination: str, periods: MeasurementPeriods) -> dict[str, Any]:
    times = {
        "throughput_period": periods.throughput if source == path.campuses[0] else None,
        "throughput_duration": periods.throughput_duration,
        "rtt_period": periods.rtt,
        "latency_period": periods.latency,
    }
    return {
        "path": path.name,
        "from": source,
        "to": destination,
        "source": path.addresses[source],
        "destination": path.addresses[destination],
        **{name: f"{seconds:g} s" for name, seconds in times.items() if seconds is not None},
    }
