"""The configuration of one ADON installation, parsed once into immutable values.

One YAML file describes the network (switches, sites with their DTNs, transit paths), where
measurements come from, the compute sites, and the policy.  The same parser serves ``adon serve`` and
``adon config check``: unknown keys are refused and every problem is reported with file, line and
field.  See ``docs/configuration.md`` for a commented example.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from ipaddress import IPv4Address
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    model_validator,
)

from adon import yamlfile
from adon.access.policy import Role
from adon.frozenmap import Frozen, FrozenMap
from adon.templates_catalog.model import Name
from adon.units import Duration, Rate, format_duration
from measurement.model import Metric


def _mac(text: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}", text.lower()):
        raise ValueError(f"{text!r} is not a MAC address such as 02:00:00:00:0a:01")
    if int(text[:2], 16) & 1:
        raise ValueError(f"{text!r} is a group address; a host or router has its own")
    return text.lower()


def _dpid(value: object) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"[0-9a-fA-F]{16}", value):
        raise ValueError(f"{value!r} is not a datapath id: write 16 hex digits, in quotes")
    return int(value, 16)


def _positive(value: float) -> float:
    if value <= 0:
        raise ValueError("must be above zero")
    return value


def _url(text: str) -> str:
    url = urlsplit(text)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ValueError("is not a URL such as https://ps.example.edu/pscheduler")
    if url.username is not None or url.password is not None:
        raise ValueError("must not hold a user name or password: it is shown in logs")
    return text.rstrip("/")


Mac = Annotated[str, AfterValidator(_mac)]
Dpid = Annotated[int, BeforeValidator(_dpid), PlainSerializer(lambda dpid: f"{dpid:016x}")]
Url = Annotated[str, AfterValidator(_url)]
Span = Annotated[Duration, AfterValidator(_positive)]
PositiveRate = Annotated[Rate, AfterValidator(_positive)]
Port = Annotated[int, Field(ge=1, le=65535)]


def _raise(wrong: Iterator[str]) -> None:
    # Several problems of one model travel as the lines of one ValueError (adon.yamlfile splits them).
    lines = list(wrong)
    if lines:
        raise ValueError("\n".join(lines))


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
    hosts: Frozen[Name, Host]


class PathEndpoint(Section):
    """One end of a path: the edge's port (by name), and on layer 3 the router behind it."""

    port: str
    next_hop_mac: Mac | None = None


class TransitPath(Section):
    """One transit path between two sites."""

    layer: Literal[2, 3]
    capacity: PositiveRate
    vlan: Annotated[int, Field(ge=1, le=4094)] | None = None
    mtu: Annotated[int, Field(ge=576, le=9216)] = 1500
    links: tuple[Name, ...] = Field(
        default=(), description="links it shares with other paths: tests on them are kept apart"
    )
    ends: Frozen[Name, PathEndpoint]

    @model_validator(mode="after")
    def _shape(self) -> Self:
        _raise(self._wrong())
        return self

    def _wrong(self) -> Iterator[str]:
        if len(self.ends) != 2:
            yield "ends: a path has exactly two ends"
        if self.layer == 2 and self.vlan is None:
            yield "vlan: a layer-2 path needs a VLAN id"
        if self.layer == 3 and self.vlan is not None:
            yield "vlan: a layer-3 path has none"
        for site, end in self.ends.items():
            if self.layer == 3 and end.next_hop_mac is None:
                yield f"ends.{site}.next_hop_mac: a layer-3 path needs it"
            if self.layer == 2 and end.next_hop_mac is not None:
                yield f"ends.{site}.next_hop_mac: a layer-2 path has none"


class PSchedulerHost(Section):
    """A pScheduler host: its base URL and how its certificate is verified.

    ``verify``: ``system`` (the system's CAs), a PEM file (a CA, or the pinned self-signed
    certificate), or ``none`` (said aloud in the log at every start).
    """

    url: Url
    verify: str = "system"
    token_file: str | None = Field(default=None, description="holds the token that it knows us by")
    client_certificate: str | None = Field(
        default=None, description="PEM file that it knows us by (mutual TLS)"
    )
    client_key: str | None = Field(default=None, description="PEM file of the certificate's key")

    @model_validator(mode="after")
    def _pair(self) -> Self:
        if (self.client_certificate is None) != (self.client_key is None):
            raise ValueError("client_key: a certificate and its key belong together")
        return self


class MeasurementPoint(PSchedulerHost):
    """A pScheduler host that runs our tests."""

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
    throughput_period: Span | None = None
    throughput_duration: Span = 10.0
    throughput_rate: PositiveRate | None = Field(
        default=None, description="the test sends no faster; without it a test offers the path's capacity"
    )
    streams: int = Field(default=1, ge=1, le=64)
    rtt_period: Span | None = None
    rtt_count: int = Field(default=10, ge=1, le=1000)
    latency_period: Span | None = None
    latency_packets: int = Field(default=100, ge=2, le=100_000)
    latency_interval: Span = 0.01

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True)

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        _raise(self._wrong())
        return self

    def _wrong(self) -> Iterator[str]:
        if self.source == self.destination:
            yield "destination: is the source itself"
        throughput, rtt, latency = self.throughput_period, self.rtt_period, self.latency_period
        if throughput is None and rtt is None and latency is None:
            yield "throughput_period: no period is given, so nothing would be measured"
        if throughput is not None and throughput <= self.throughput_duration:
            yield f"throughput_period: one test already takes {format_duration(self.throughput_duration)}"
        sending = self.latency_packets * self.latency_interval
        if latency is not None and latency <= sending:
            yield f"latency_period: one test already takes {format_duration(sending)}"


class BackgroundTest(Section):
    """One-way delay, jitter and loss without a break, between the addresses of a configured test.

    :param packets: of one result; together with their interval they give the time between results.
    """

    path: Name
    from_: Name = Field(alias="from")
    to: Name
    packets: int = Field(default=600, ge=10, le=100_000)
    interval: Span = 0.1

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True)

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if not 1 <= self.period <= 600:
            raise ValueError("interval: times packets must be 1 s to 10 min, the time between two results")
        return self

    @property
    def period(self) -> float:
        """Seconds between results."""
        return self.packets * self.interval


class HostMetrics(Section):
    """What is observed on the host of a measurement point of ours, again and again.

    :param metrics: as the point names them (docs/measurement-custom.md); ``host`` is the host itself.
    :param period: between two values.
    """

    metrics: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(
        default=("host",), min_length=1
    )
    period: Annotated[Span, Field(ge=1, le=600)] = 5.0


class Retention(Section):
    """How long the archive keeps what; roll-ups keep minimum, mean, maximum and quantiles."""

    raw: Span = 90 * 86_400.0
    minutes: Span = 400 * 86_400.0
    hours: Span = 10 * 365 * 86_400.0


class Ingest(Section):
    """Where measurement points push results and announce themselves.

    :param certificate: PEM file, with its key in ``key``; without it plain HTTP, for loopback only.
    :param trust: the TOML file that says which points are known, by token or certificate.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8443
    certificate: str | None = None
    key: str | None = None
    trust: str

    @model_validator(mode="after")
    def _secured(self) -> Self:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("key: a certificate and its key belong together")
        if self.certificate is None and self.host not in ("127.0.0.1", "::1", "localhost"):
            raise ValueError("certificate: is needed to listen on another address than loopback")
        return self


class ResultArchive(Section):
    """A measurement archive of perfSONAR's that is read periodically."""

    kind: Literal["opensearch", "esmond"]
    url: Url
    verify: str = "system"
    period: Span = 60.0


class RabbitQueue(Section):
    """A RabbitMQ queue into which pScheduler's archiver puts results.

    :param url_file: holds the AMQP URL, which has a password in it.
    """

    url_file: str
    queue: str = Field(min_length=1, max_length=255)


class Mail(Section):
    """The mail server that alarms are sent through."""

    host: str
    port: Port = 25
    sender: str = Field(pattern=r"^[^@\s]+@[^@\s]+$")
    security: Literal["starttls", "tls", "none"] = "starttls"
    user: str | None = None
    password_file: str | None = None


class Notify(Section):
    """How alarms reach people and programs."""

    mail: Mail | None = None
    webhook_secret_file: str | None = Field(default=None, description="signs every webhook call (HMAC)")
    webhook_hosts: tuple[str, ...] = Field(default=(), description="hosts that webhooks may name")


class Measurements(Section):
    """Where measurements come from, when, and what becomes of them.

    :param agreement: the measurement level agreement: per path or link, the bits/s that tests may offer
        at any instant (spec section 5); without an entry the path's capacity.
    :param around_throughput: real pScheduler servers keep twelve seconds free for a test of three.
    :param notice: seconds ahead of its start at which a test is given to its points; pScheduler needs ten.
    :param archive_url: the archive's database; SQLite in the data folder if absent.
    :param psconfig: a pSConfig template whose tasks are planned with ours.
    :param background: tests without end and without a place in the plan.
    :param host_metrics: by measurement point, what is observed on its host.
    :param agents: pScheduler hosts whose own agents (pSConfig) test between our measurement addresses.
    """

    points: Frozen[Name, MeasurementPoint] = FrozenMap()
    tests: tuple[MeasurementTest, ...] = ()
    background: tuple[BackgroundTest, ...] = ()
    host_metrics: Frozen[Name, HostMetrics] = FrozenMap()
    agents: Frozen[Name, PSchedulerHost] = FrozenMap()
    window: Span = 7 * 86_400.0
    agreement: Frozen[Name, PositiveRate] = FrozenMap()
    notice: Span = 15.0
    around_throughput: Span = Field(
        default=9.0, description="by how much the time slot of a throughput test is longer than the test"
    )
    around_others: Span = Field(default=6.0, description="the same for the other tests")
    retention: Retention = Retention()
    archive_url: str | None = None
    ingest: Ingest | None = None
    archives: tuple[ResultArchive, ...] = ()
    rabbitmq: RabbitQueue | None = None
    notify: Notify = Notify()
    psconfig: str | None = None
    follow_templates: bool = Field(
        default=False, description="measure as often as the registered application templates need"
    )

    @property
    def one_way(self) -> frozenset[tuple[str, str, str]]:
        """Path, from and to of every direction whose one-way delay and loss are measured."""
        planned = {(test.path, test.from_, test.to) for test in self.tests if test.latency_period is not None}
        return frozenset(planned | {(each.path, each.from_, each.to) for each in self.background})


class ComputeSite(Section):
    """A place to compute, as configured ([ADON] table 3; adapters that ask a batch system follow).

    :param site: the campus it is at; a transfer to it goes there.
    :param throughput_per_node: Γ_c, the prior for what one worker node processes.
    :param queue_wait: T_q; ``null`` means no resource for us: T_q is infinite.
    """

    site: Name
    worker_nodes: int = Field(ge=0, le=1_000_000)
    cores: int = Field(default=0, ge=0)
    throughput_per_node: PositiveRate
    queue_wait: Duration | None = 0.0
    price_per_node_hour: float = Field(default=0.0, ge=0)


class CookieRange(Section):
    """Rules whose cookie, under the mask, has this value are never judged, changed or removed (R2)."""

    value: Annotated[int, Field(ge=0, lt=1 << 64)]
    mask: Annotated[int, Field(ge=0, lt=1 << 64)] = (1 << 64) - 1

    @model_validator(mode="after")
    def _within_the_mask(self) -> Self:
        if self.value & ~self.mask:
            raise ValueError("value: has bits outside the mask, so no cookie can match")
        return self


class MeasurementGrant(Section):
    """Somebody may start, or read, measurements ([ADON] 2.2.1, question 4); what is left out is not narrowed.

    :param who: names of actors.
    :param roles: their roles.
    :param groups: what an identity provider says that they belong to.
    :param metrics: names; ``host.*`` stands for every metric whose name begins so.
    :param from_: the sites that a measurement leads from; for what is observed on a host, that host.
    :param to: the sites that it leads to.
    """

    may: Literal["start", "read"]
    who: tuple[Annotated[str, Field(min_length=1, max_length=200)], ...] | None = None
    roles: tuple[Role, ...] | None = None
    groups: tuple[Annotated[str, Field(min_length=1, max_length=500)], ...] | None = None
    metrics: tuple[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.]*(\.\*)?$")], ...] | None = None
    from_: tuple[str, ...] | None = Field(default=None, alias="from")
    to: tuple[str, ...] | None = None

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True)


class Policy(Section):
    """What the performance engineers of this network decided."""

    reserve_nodes: int = Field(default=0, ge=0, description="R_T: worker nodes kept free")
    unknown_paths: Literal["avoid", "default_path"] = "default_path"
    no_test_above_reserved: float | None = Field(
        default=0.5, gt=0, le=1, description="share of capacity; above it counters serve, not tests"
    )
    counters_period: Span = 5.0
    evidence_after: Span = 15.0
    consistency_period: Span = 60.0
    aging: Span = Field(default=60.0, description="a queued flow gains one priority step per so long")
    preemption: bool = Field(
        default=True, description="a higher priority may take the place of the lowest on layer 2 (P_min)"
    )
    failed_path_holdoff: Duration = 30.0
    drain: Duration = 0.2
    priority_offset: int = Field(
        default=0, ge=-19_000, le=25_000, description="added to the priority of every rule of ours (R7)"
    )
    measurement_access: tuple[MeasurementGrant, ...] = Field(
        default=(), description="who may start and read which measurements; without an entry, as roles allow"
    )


class Controller(Section):
    """Where the three processes listen."""

    openflow_host: str = "127.0.0.1"
    openflow_port: Port = 6653
    web_host: str = "127.0.0.1"
    web_port: Port = 8080


class Configuration(Section):
    """The whole file."""

    network: Name
    switches: Frozen[Name, Switch]
    sites: Frozen[Name, Site]
    paths: Frozen[Name, TransitPath]
    measurements: Measurements = Measurements()
    compute: Frozen[Name, ComputeSite] = FrozenMap()
    policy: Policy = Policy()
    controller: Controller = Controller()
    ignored_cookies: tuple[CookieRange, ...] = ()

    @model_validator(mode="after")
    def _references(self) -> Self:
        _raise(chain(_dangling(self), _doubled(self), _wrong_tests(self)))
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
        if self.measurements.one_way:
            found |= {Metric.ONE_WAY_DELAY, Metric.JITTER, Metric.LOSS}
        return frozenset(found)


def _dangling(whole: Configuration) -> Iterator[str]:
    # Names that refer to nothing.
    for name, site in whole.sites.items():
        if site.edge not in whole.switches:
            yield f"sites.{name}.edge: there is no switch {site.edge!r}"
    known = set(whole.paths) | {link for path in whole.paths.values() for link in path.links}
    for name in whole.measurements.agreement:
        if name not in known:
            yield f"measurements.agreement.{name}: there is no path or link {name!r}"
    for name in whole.measurements.host_metrics:
        if name not in whole.measurements.points:
            yield f"measurements.host_metrics.{name}: there is no measurement point {name!r}"
    tested = {(test.path, test.from_, test.to) for test in whole.measurements.tests}
    for number, each in enumerate(whole.measurements.background):
        if (each.path, each.from_, each.to) not in tested:
            yield (
                f"measurements.background.{number}.path: there is no test of path {each.path!r} from "
                f"{each.from_!r} to {each.to!r} whose addresses it could use"
            )
    named = [
        *((f"paths.{name}.ends.{end}", end) for name, path in whole.paths.items() for end in path.ends),
        *((f"measurements.points.{name}", name) for name in whole.measurements.points),
        *((f"compute.{name}.site", place.site) for name, place in whole.compute.items()),
    ]
    for field, name in named:
        if name not in whole.sites:
            yield f"{field}: there is no site {name!r}"


def _doubled(whole: Configuration) -> Iterator[str]:
    # What identifies something must not identify two.
    hosts = [
        (f"sites.{site}.hosts.{name}", name, host)
        for site, place in whole.sites.items()
        for name, host in place.hosts.items()
    ]
    vlans = [
        (f"paths.{name}.vlan", (site, end.port, path.vlan))
        for name, path in whole.paths.items()
        for site, end in path.ends.items()
        if path.layer == 2
    ]
    background = [
        (f"measurements.background.{number}.path", (each.path, each.from_, each.to))
        for number, each in enumerate(whole.measurements.background)
    ]
    return chain(
        _repeated("dpid", [(f"switches.{n}.dpid", f"{s.dpid:016x}") for n, s in whole.switches.items()]),
        _repeated("host name", [(field, name) for field, name, _ in hosts]),
        _repeated("address", [(f"{field}.address", host.address) for field, _, host in hosts]),
        _repeated("MAC address", [(f"{field}.mac", host.mac) for field, _, host in hosts]),
        _repeated("VLAN on this port", vlans),
        _repeated("directed path", background),
    )


def _repeated(what: str, values: Sequence[tuple[str, Hashable]]) -> Iterator[str]:
    seen: dict[Hashable, str] = {}
    for field, value in values:
        if value in seen:
            yield f"{field}: {seen[value]} has the same {what}"
        else:
            seen[value] = field


def _wrong_tests(whole: Configuration) -> Iterator[str]:
    taken = {str(host.address): name for site in whole.sites.values() for name, host in site.hosts.items()}
    pinned: dict[frozenset[IPv4Address], str] = {}
    for number, test in enumerate(whole.measurements.tests):
        where = f"measurements.tests.{number}"
        yield from _wrong_ends(whole, test, where)
        for field, address in (("source", test.source), ("destination", test.destination)):
            if str(address) in taken:
                host = taken[str(address)]
                yield f"{where}.{field}: is the address of host {host!r}, whose flows it would pin"
        # Rules pin a pair of addresses to a path, so the same pair cannot serve a second path.
        path = pinned.setdefault(frozenset((test.source, test.destination)), test.path)
        if path != test.path:
            yield f"{where}.source: these addresses already measure path {path!r}"


def _wrong_ends(whole: Configuration, test: MeasurementTest, where: str) -> Iterator[str]:
    path = whole.paths.get(test.path)
    if path is None:
        yield f"{where}.path: there is no path {test.path!r}"
    elif {test.from_, test.to} != set(path.ends):
        yield f"{where}.path: path {test.path!r} does not lead from {test.from_!r} to {test.to!r}"
    for end, field in ((test.from_, "from"), (test.to, "to")):
        if end not in whole.sites:
            yield f"{where}.{field}: there is no site {end!r}"
        elif end not in whole.measurements.points:
            yield f"{where}.{field}: site {end!r} has no measurement point"


def load(path: Path) -> Configuration:
    """Read and check a configuration file.

    :raises InvalidInput: with every problem found, each with file, line and field.
    """
    return yamlfile.load_model(path, Configuration)
