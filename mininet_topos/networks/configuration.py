"""ADON's configuration file for a test network.

Text out, nothing read or written: what the description says once (addresses, ports, rates) is not typed a
second time into another YAML file.  ``adon.config.load`` is what must accept it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from adon.config import Configuration
from adon.errors import InvalidInput
from adon.measurement_plan import plan_measurements
from adon.yamlfile import dump_data, parse_model
from mininet_topos.link_shape import MTU
from mininet_topos.networks.network import Network, Site
from mininet_topos.networks.network import Path as TransitPath

NOTICE = 4.0
"""Seconds ahead of its start at which a test is given to the points.  Beside a transfer at 58 Mbit/s, on two
cores, eight posted at once were on both points' schedules within one."""
AROUND_THROUGHPUT = 4.0
"""Seconds that our points keep free around the data of a throughput test (pScheduler's: nine)."""
AROUND_OTHERS = 3.0
"""The same for the other tests."""


class Contact(Protocol):
    """How a measurement point is reached (:class:`mininet_topos.old_platforms.bed.PointContact`)."""

    @property
    def url(self) -> str:
        """Of its pScheduler API, as the collector reaches it."""

    @property
    def node(self) -> str:
        """``address:port`` by which the other points reach it."""

    @property
    def certificate(self) -> Path:
        """PEM file that it is known by."""


@dataclass(frozen=True, slots=True)
class _Anyone:
    """Stands in for every point where only the tests between them matter."""

    url: str = "https://point.invalid/pscheduler"
    node: str = "point.invalid"
    certificate: Path = Path("point.pem")


@dataclass(frozen=True, slots=True)
class Schedule:
    """How often each path is measured, in seconds; None leaves a test out.

    The defaults suit a demonstration of minutes: a real installation tests throughput every few hours.  They
    are a plan that provably fits (EDF-CE) where two sites have two paths: a test that loads the network runs
    beside no other at the same points, so a round of 20 s holds all light tests at once (5 s) and then a
    throughput test of each path (3 s, 7 s kept free), one after the other.  :func:`fitting` finds the
    round of other networks.  Throughput is measured where the data goes: from the site where a path's
    description begins.

    :param both_ways: whether the light tests are done in the other direction as well.
    :param around_others: seconds kept free around a light test.
    """

    throughput_period: float | None = 20.0
    throughput_duration: float = 3.0
    rtt_period: float | None = 20.0
    latency_period: float | None = 20.0
    both_ways: bool = True
    around_others: float = AROUND_OTHERS


DEFAULT_SCHEDULE = Schedule()
LONGEST_ROUND = 3600
ROUNDS = 5
"""Rounds are whole multiples of so many seconds."""


def fitting(network: Network, like: Schedule = DEFAULT_SCHEDULE) -> Schedule:
    """A round in which every test of the network has its place, found by doubling and then halving.

    :param like: what is tested, and how long; no period becomes shorter than its longest.
    :raises InvalidInput: if there is none within an hour, with what the planning says of it.
    """
    if not _periods(like):
        raise InvalidInput.of("measurements.tests", "nothing is tested: there is no round")
    shortest = max(1, math.ceil(max(_periods(like)) / ROUNDS))
    too_short, fits = shortest - 1, shortest
    while (why := refused(network, _every(fits * ROUNDS, like))) is not None:
        if fits * ROUNDS >= LONGEST_ROUND:
            raise why
        too_short, fits = fits, min(2 * fits, LONGEST_ROUND // ROUNDS)
    while fits - too_short > 1:
        middle = (fits + too_short) // 2
        if refused(network, _every(middle * ROUNDS, like)) is None:
            fits = middle
        else:
            too_short = middle
    return _every(fits * ROUNDS, like)


def refused(network: Network, schedule: Schedule) -> InvalidInput | None:
    """What the planning says of a schedule; None if all of it fits."""
    try:
        plan_measurements(read(network, schedule=schedule))
    except InvalidInput as error:
        return error
    return None


def read(
    network: Network, *, schedule: Schedule = DEFAULT_SCHEDULE, extra: Mapping[str, Any] | None = None
) -> Configuration:
    """As ADON reads it, before anything is built: with points that nobody has.

    :param extra: further top-level sections, as for :func:`configuration`.
    :raises InvalidInput: with every problem that ADON finds.
    """
    anyone = {site.measuring.host: _Anyone() for site in network.sites}
    return parse_model(
        configuration(network, anyone, Path("controller.token"), schedule=schedule, extra=extra),
        Configuration,
    )


def _periods(schedule: Schedule) -> tuple[float, ...]:
    periods = (schedule.throughput_period, schedule.rtt_period, schedule.latency_period)
    return tuple(period for period in periods if period is not None)


def _every(seconds: float, like: Schedule) -> Schedule:
    return replace(
        like,
        throughput_period=None if like.throughput_period is None else seconds,
        rtt_period=None if like.rtt_period is None else seconds,
        latency_period=None if like.latency_period is None else seconds,
    )


def configuration(
    network: Network,
    points: Mapping[str, Contact] | None = None,
    controller: Path | None = None,
    *,
    schedule: Schedule = DEFAULT_SCHEDULE,
    openflow_port: int = 6653,
    web_port: int = 8080,
    extra: Mapping[str, Any] | None = None,
) -> str:
    """The YAML text.

    :param points: per measuring DTN how its measurement point is reached; None for a network without points,
        which ``mn`` runs: nothing is measured.
    :param controller: the file of the token by which the points know the controller.
    :param extra: further top-level sections (``compute``, ``policy``), as they are.
    """
    shared = _shared_links(network)
    document = {
        "network": network.topology.name,
        "switches": {site.edge: {"dpid": f"{site.dpid:016x}"} for site in network.sites},
        "sites": {site.name: _site(site) for site in network.sites},
        "paths": {path.name: _path(path, shared) for path in network.paths},
        **({} if points is None else {"measurements": _measurements(network, points, controller, schedule)}),
        "controller": {"openflow_port": openflow_port, "web_port": web_port},
        **(extra if extra is not None else {}),
    }
    return dump_data(document)


def _shared_links(network: Network) -> frozenset[str]:
    """The links with a rate that several paths lead over."""
    shaped = {link.name for link in network.links if link.shape is not None}
    used = Counter(link for path in network.paths for link in path.links if link in shaped)
    return frozenset(link for link, paths in used.items() if paths > 1)


def _site(site: Site) -> dict[str, Any]:
    hosts = {dtn.host: {"address": str(dtn.address), "mac": dtn.mac, "port": dtn.port} for dtn in site.dtns}
    return {"edge": site.edge, "gateway_mac": site.gateway_mac, "hosts": hosts}


def _path(path: TransitPath, shared: frozenset[str]) -> dict[str, Any]:
    ends = {
        site: {"port": end.port} | ({} if end.next_hop_mac is None else {"next_hop_mac": end.next_hop_mac})
        for site, end in path.ends.items()
    }
    vlan = {} if path.vlan is None else {"vlan": path.vlan}
    links = [link for link in path.links if link in shared]
    return {
        "layer": path.layer,
        **vlan,
        "capacity": _rate(path.capacity),
        "mtu": MTU,
        **({"links": links} if links else {}),
        "ends": ends,
    }


def _measurements(
    network: Network, points: Mapping[str, Contact], controller: Path | None, schedule: Schedule
) -> dict[str, Any]:
    return {
        "points": {site.name: _point(points[site.measuring.host], controller) for site in network.sites},
        "tests": [test for path in network.paths for test in _tests(path, schedule)],
        "notice": f"{NOTICE:g} s",
        "around_throughput": f"{AROUND_THROUGHPUT:g} s",
        "around_others": f"{schedule.around_others:g} s",
    }


def _point(contact: Contact, controller: Path | None) -> dict[str, Any]:
    return {
        "url": contact.url,
        "verify": str(contact.certificate),
        "node": contact.node,
        "token_file": str(controller),
    }


def _tests(path: TransitPath, schedule: Schedule) -> list[dict[str, Any]]:
    if not path.addresses:
        return []
    one, other = path.sites
    light = schedule.rtt_period is not None or schedule.latency_period is not None
    there = [(one, other)] if light or schedule.throughput_period is not None else []
    ways = [*there, (other, one)] if light and schedule.both_ways else there
    return [_test(path, source, destination, source == one, schedule) for source, destination in ways]


def _test(
    path: TransitPath, source: str, destination: str, loads: bool, schedule: Schedule
) -> dict[str, Any]:
    times = {
        "throughput_period": schedule.throughput_period if loads else None,
        "throughput_duration": schedule.throughput_duration,
        "rtt_period": schedule.rtt_period,
        "latency_period": schedule.latency_period,
    }
    return {
        "path": path.name,
        "from": source,
        "to": destination,
        "source": str(path.addresses[source]),
        "destination": str(path.addresses[destination]),
        **{name: f"{seconds:g} s" for name, seconds in times.items() if seconds is not None},
    }


def _rate(bits_per_second: float) -> str:
    return f"{bits_per_second / 1e6:.6g} Mbps"
