"""The configuration of one ADON installation, parsed once into immutable values.

One YAML file describes the network (switches, sites with their DTNs, transit paths), where
measurements come from, the compute sites, and the policy.  The same parser serves ``adon serve`` and
``adon config check``: unknown keys are refused and every problem is reported with file, line and
field.  See ``docs/configuration.md`` for a commented example.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from adon import yamlfile
from adon.templates_catalog.model import Name
from adon.units import Duration, Rate
from measurement.model import Metric


def _mac(text: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}", text.lower()):
        raise ValueError(f"{text!r} is not a MAC address such as 02:00:00:00:0a:01")
    return text.lower()


def _dpid(value: object) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"[0-9a-fA-F]{16}", value):
        raise ValueError(f"{value!r} is not a datapath id: write 16 hex digits, in quotes")
    return int(value, 16)


Mac = Annotated[str, AfterValidator(_mac)]
Dpid = Annotated[int, BeforeValidator(_dpid)]
Port = Annotated[int, Field(ge=1, le=65535)]


class Section(BaseModel):
    """Base of all sections: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Switch(Section):
    """A campus-edge switch."""

    dpid: Dpid


class Host(Section):
    """A data transfer node: its address, MAC, and the edge's port it hangs on (by name)."""

    address: IPv4Address
    mac: Mac
    port: str


class Site(Section):
    """A campus: its edge switch, the gateway its hosts use, and its DTNs."""

    edge: Name
    gateway_mac: Mac
    hosts: Mapping[Name, Host]


class PathEndpoint(Section):
    """One end of a path: the edge's port (by name), and on layer 3 the router behind it."""

    port: str
    next_hop_mac: Mac | None = None


class TransitPath(Section):
    """One transit path between two sites."""

    layer: Literal[2, 3]
    capacity: Rate
    vlan: Annotated[int, Field(ge=1, le=4094)] | None = None
    mtu: Annotated[int, Field(ge=576, le=9216)] = 1500
    ends: Mapping[Name, PathEndpoint]

    @model_validator(mode="after")
    def _shape(self) -> Self:
        if len(self.ends) != 2:
            raise ValueError("ends: a path has exactly two ends")
        if self.layer == 2 and self.vlan is None:
            raise ValueError("vlan: a layer-2 path needs a VLAN id")
        if self.layer == 3 and self.vlan is not None:
            raise ValueError("vlan: a layer-3 path has none")
        for site, end in self.ends.items():
            if self.layer == 3 and end.next_hop_mac is None:
                raise ValueError(f"ends.{site}.next_hop_mac: a layer-3 path needs it")
            if self.layer == 2 and end.next_hop_mac is not None:
                raise ValueError(f"ends.{site}.next_hop_mac: a layer-2 path has none")
        if self.capacity <= 0:
            raise ValueError("capacity: must be above zero")
        return self


class MeasurementPoint(Section):
    """A pScheduler host: its base URL and how its certificate is verified.

    ``verify``: ``system`` (the system's CAs), a PEM file (a CA, or the pinned self-signed
    certificate), or ``none`` (said aloud in the log at every start).
    """

    url: str
    verify: str = "system"
    node: str | None = Field(default=None, description="the name other points reach it by")


class MeasurementTest(Section):
    """What is measured in one direction of one path, and how often.

    ``source`` and ``destination`` are the measurement addresses that the edges pin to this path
    (spec section 2: a test must be pinned to one candidate path).
    """

    path: Name
    from_: Name = Field(alias="from")
    to: Name
    source: IPv4Address
    destination: IPv4Address
    throughput_period: Duration | None = None
    throughput_duration: Duration = 10.0
    streams: int = Field(default=1, ge=1, le=64)
    rtt_period: Duration | None = None
    rtt_count: int = Field(default=10, ge=1, le=1000)
    latency_period: Duration | None = None
    latency_packets: int = Field(default=100, ge=2, le=100_000)
    latency_interval: Duration = 0.01

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True)


class Measurements(Section):
    """Where measurements come from."""

    points: Mapping[Name, MeasurementPoint] = {}
    tests: tuple[MeasurementTest, ...] = ()
    window: Duration = 7 * 86_400.0


class ComputeSite(Section):
    """A place to compute, as configured ([ADON] table 3; adapters that ask a batch system follow).

    :param site: the campus it is at; a transfer to it goes there.
    :param throughput_per_node: Γ_c, the prior for what one worker node processes.
    :param queue_wait: T_q; ``null`` means no resource for us: T_q is infinite.
    """

    site: Name
    worker_nodes: int = Field(ge=0, le=1_000_000)
    cores: int = Field(default=0, ge=0)
    throughput_per_node: Rate
    queue_wait: Duration | None = 0.0
    price_per_node_hour: float = Field(default=0.0, ge=0)


class Policy(Section):
    """What the performance engineers of this network decided."""

    advise_only: bool = False
    reserve_nodes: int = Field(default=0, ge=0, description="R_T: worker nodes kept free")
    unknown_paths: Literal["avoid", "default_path"] = "default_path"
    no_test_above_reserved: float | None = Field(
        default=0.5, gt=0, le=1, description="share of capacity; above it counters serve, not tests"
    )
    counters_period: Duration = 5.0
    evidence_after: Duration = 15.0
    consistency_period: Duration = 60.0
    aging: Duration = Field(default=60.0, description="a queued flow gains one priority step per so long")
    failed_path_holdoff: Duration = 30.0
    drain: Duration = 0.2


class Controller(Section):
    """Where the three processes listen."""

    openflow_host: str = "127.0.0.1"
    openflow_port: Port = 6653
    web_host: str = "127.0.0.1"
    web_port: Port = 8080


class Configuration(Section):
    """The whole file."""

    network: Name
    switches: Mapping[Name, Switch]
    sites: Mapping[Name, Site]
    paths: Mapping[Name, TransitPath]
    measurements: Measurements = Measurements()
    compute: Mapping[Name, ComputeSite] = {}
    policy: Policy = Policy()
    controller: Controller = Controller()
    ignored_cookies: tuple[int, ...] = ()

    @model_validator(mode="after")
    def _references(self) -> Self:
        wrong = [
            *(
                f"sites.{n}.edge: there is no switch {s.edge!r}"
                for n, s in self.sites.items()
                if s.edge not in self.switches
            ),
            *(
                f"paths.{name}.ends.{site}: there is no site {site!r}"
                for name, path in self.paths.items()
                for site in path.ends
                if site not in self.sites
            ),
            *(
                f"compute.{name}.site: there is no site {place.site!r}"
                for name, place in self.compute.items()
                if place.site not in self.sites
            ),
        ]
        for number, test in enumerate(self.measurements.tests):
            where = f"measurements.tests.{number}"
            path = self.paths.get(test.path)
            if path is None:
                wrong.append(f"{where}.path: there is no path {test.path!r}")
            elif {test.from_, test.to} != set(path.ends):
                wrong.append(f"{where}: path {test.path!r} does not lead from {test.from_!r} to {test.to!r}")
            for end, field in ((test.from_, "from"), (test.to, "to")):
                if end in self.sites and end not in self.measurements.points:
                    wrong.append(f"{where}.{field}: site {end!r} has no measurement point")
        hosts = [(h, site) for site, s in self.sites.items() for h in s.hosts]
        seen: dict[str, str] = {}
        for host, site in hosts:
            if host in seen:
                wrong.append(f"sites.{site}.hosts.{host}: site {seen[host]!r} has a host of this name")
            seen[host] = site
        dpids: dict[int, str] = {}
        for name, switch in self.switches.items():
            if switch.dpid in dpids:
                wrong.append(f"switches.{name}.dpid: is also that of {dpids[switch.dpid]!r}")
            dpids[switch.dpid] = name
        if wrong:
            raise ValueError("\n".join(wrong))
        return self

    @property
    def metrics_measured(self) -> frozenset[Metric]:
        """The metrics that some configured test yields."""
        found: set[Metric] = set()
        for test in self.measurements.tests:
            if test.throughput_period is not None:
                found.add(Metric.THROUGHPUT)
            if test.rtt_period is not None:
                found.add(Metric.RTT)
            if test.latency_period is not None:
                found |= {Metric.ONE_WAY_DELAY, Metric.JITTER, Metric.LOSS}
        return frozenset(found)


def load(path: Path) -> Configuration:
    """Read and check a configuration file.

    :raises InvalidInput: with every problem found, each with file, line and field.
    """
    return yamlfile.load_model(path, Configuration)
