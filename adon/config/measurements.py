"""Measurements: points, tests, archives and notifications."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address
from itertools import permutations
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from adon.config.types import File, Port, PositiveRate, Section, Span, Url, Verify, is_loopback
from adon.errors import Problem
from adon.units import format_duration
from adon.values import Frozen, FrozenMap, Name
from measurement.model import PathKey

MESH_PERIODS = {"throughput_period": "4 h", "rtt_period": "1 min", "latency_period": "1 min"}
"""Periods of the tests in each direction of a path of ``mesh``."""


def _two_ends(ends: FrozenMap[str, Address]) -> FrozenMap[str, Address]:
    if len(ends) != 2 or len({*ends.values()}) != 2 or len({end.version for end in ends.values()}) != 1:
        raise ValueError("does not have two sites with different addresses of one IP version")
    return ends


_DATABASE = Field(pattern=r"^(sqlite|postgresql(\+psycopg)?)://.+$", examples=["postgresql://adon@db/values"])
DatabaseUrl = Annotated[str, _DATABASE]
Address = IPv4Address | IPv6Address
MeshEnds = Annotated[
    Frozen[Name, Address],
    AfterValidator(_two_ends),
    Field(examples=[{"mu": "10.1.0.11", "osu": "10.2.0.11"}]),
]


class MeasurementPoint(Section):
    """pScheduler host that runs tests: its base URL and the verification of its certificate.

    ``verify``: ``system`` (the system's CAs), a PEM file (a CA, or the self-signed certificate),
    ``sha256:`` and the fingerprint of exactly one certificate with any name, or ``none`` (with a warning in
    the log at every start).

    :param url: base URL of its pScheduler API.
    :param verify: verification of its certificate.
    :param token_file: file with the token that it accepts.
    :param node: name by which other points reach it.
    """

    url: Url
    verify: Verify = "system"
    token_file: str | None = None
    node: str | None = None

    @property
    def is_ours(self) -> bool:
        """Whether it is a measurement point of ADON: pScheduler has no tokens."""
        return self.token_file is not None

    @property
    def node_name(self) -> str:
        """Name by which other points reach this point: as configured, else the host of its URL."""
        return self.node if self.node is not None else urlsplit(self.url).netloc


class Direction(Section):
    """Direction of a path: from one of its sites to the other.

    :param path: name of the path.
    :param from_: site of the sender.
    :param to: site of the receiver.
    """

    path: Name
    from_: Name = Field(alias="from")
    to: Name

    @property
    def key(self) -> PathKey:
        """Directed path, as measurements name it."""
        return PathKey(self.path, self.from_, self.to)


class MeasurementTest(Direction):
    """Tests of one direction of one path, with their periods.

    ``source`` and ``destination`` are the measurement addresses that the edges pin to this path
    (spec section 2: a test must be pinned to one candidate path).

    :param source: address of the sender.
    :param destination: address of the receiver.
    :param throughput_period: time between two throughput tests; no throughput tests without it.
    :param throughput_duration: sending time of a throughput test.
    :param streams: parallel TCP streams of a throughput test.
    :param rtt_period: time between two round-trip tests; no round-trip tests without it.
    :param rtt_count: packets of a round-trip test.
    :param latency_period: time between two one-way latency tests; no latency tests without it.
    :param latency_packets: packets of a latency test.
    :param latency_interval: time between two packets of a latency test.
    :param throughput_rate: maximum rate of the test; without it a test offers the path's capacity.
    """

    source: Address
    destination: Address
    throughput_period: Span | None = None
    throughput_duration: Span = 10.0
    throughput_rate: PositiveRate | None = None
    streams: int = Field(default=1, ge=1, le=64)
    rtt_period: Span | None = None
    rtt_count: int = Field(default=10, ge=1, le=1000)
    latency_period: Span | None = None
    latency_packets: int = Field(default=100, ge=2, le=100_000)
    latency_interval: Span = 0.01

    def _problems(self) -> Iterator[str]:
        if self.source == self.destination:
            yield f"destination: is the source itself; for example {self.source + 1}"
        if self.source.version != self.destination.version:
            example = "10.2.0.11" if self.source.version == 4 else "2001:db8::11"
            yield f"destination: is of another version of IP than the source; for example {example}"
        throughput, rtt, latency = self.throughput_period, self.rtt_period, self.latency_period
        if throughput is None and rtt is None and latency is None:
            yield "throughput_period: is missing, and so are the other periods; for example 4 h"
        if throughput is not None and throughput <= self.throughput_duration:
            cause = f"one test takes {format_duration(self.throughput_duration)}"
            yield f"throughput_period: {cause}; for example 4 h"
        sending = self.latency_packets * self.latency_interval
        if latency is not None and latency <= sending:
            longer = format_duration(60 * max(1.0, sending))
            yield f"latency_period: one test takes {format_duration(sending)}; for example {longer}"


def mesh_tests(mesh: Mapping[str, Mapping[str, Address]]) -> Iterator[MeasurementTest]:
    """Yield the tests of both directions of every path of a mesh.

    :param mesh: by path and site the measurement address.
    """
    for path, addresses in mesh.items():
        for (from_, source), (to, destination) in permutations(addresses.items(), 2):
            ends = {"path": path, "from": from_, "to": to, "source": source, "destination": destination}
            yield MeasurementTest.model_validate(ends | MESH_PERIODS)


class BackgroundTest(Direction):
    """Continuous test of one-way delay, jitter and loss between the addresses of a configured test.

    :param packets: packets of one result; ``packets`` times ``interval`` is the time between results.
    :param interval: seconds between packets.
    """

    packets: int = Field(default=600, ge=10, le=100_000)
    interval: Span = 0.1

    def _problems(self) -> Iterator[str]:
        if not 1 <= self.period <= 600:
            example = f"for example {format_duration(60 / self.packets)}"
            yield f"interval: times packets is not 1 s to 10 min, the time between two results; {example}"

    @property
    def period(self) -> float:
        """Seconds between results."""
        return self.packets * self.interval


class HostMetrics(Section):
    """Periodic metrics of the host of an ADON measurement point.

    :param metrics: names of the point's metrics; ``host`` is the host itself
        (docs/custom-metrics-and-tcp-advice.md).
    :param period: time between two values.
    """

    metrics: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(
        default=("host",), min_length=1
    )
    period: Annotated[Span, Field(ge=1, le=600)] = 5.0


class Retention(Section):
    """Retention of the archive; roll-ups keep minimum, mean, maximum and quantiles.

    :param raw: single values.
    :param minutes: roll-ups of minutes.
    :param hours: roll-ups of hours.
    """

    raw: Span = 90 * 86_400.0
    minutes: Span = 400 * 86_400.0
    hours: Span = 10 * 365 * 86_400.0


class Ingest(Section):
    """Server to which measurement points push results.

    :param certificate: PEM file, with its key in ``key``; without it plain HTTP, for loopback only.
    :param trust: TOML file with the tokens of the known points.
    :param host: address to listen on.
    :param port: TCP port; 0: any free port.
    :param key: PEM file with the certificate's private key.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8443
    certificate: File | None = None
    key: File | None = None
    trust: File

    def _problems(self) -> Iterator[str]:
        if (self.certificate is None) != (self.key is None):
            yield "key: a certificate and its key belong together; for example certificate: c.pem, key: c.key"
        if self.certificate is None and not is_loopback(self.host):
            yield f"certificate: is required to listen on {self.host}; for example c.pem, or host: 127.0.0.1"


class ResultArchive(Section):
    """Measurement archive of perfSONAR that is read periodically.

    :param kind: kind of the archive.
    :param url: base URL.
    :param verify: verification of its certificate.
    :param period: between two readings.
    """

    kind: Literal["opensearch"]
    url: Url
    verify: Verify = "system"
    period: Span = 60.0


class RabbitQueue(Section):
    """RabbitMQ queue with results of pScheduler's archiver.

    :param url_file: file with the AMQP URL, which contains a password.
    :param queue: name of the queue.
    """

    url_file: File
    queue: str = Field(min_length=1, max_length=255)


class Mail(Section):
    """Mail server for alarms.

    :param host: host name of the mail server.
    :param port: its TCP port.
    :param sender: address of the sender of mails.
    :param security: encryption of the connection.
    :param user: name to authenticate with; no authentication without it.
    :param password_file: file with the password.
    """

    host: str
    port: Port = 25
    sender: str = Field(pattern=r"^[^@\s]+@[^@\s]+$", examples=["adon@example.edu"])
    security: Literal["starttls", "tls", "none"] = "starttls"
    user: str | None = None
    password_file: str | None = None


class Notify(Section):
    """Delivery of alarms by mail and webhooks.

    :param mail: mail server; without it no mails are sent.
    :param webhook_secret_file: file with the key that signs every webhook call (HMAC).
    :param webhook_hosts: permitted hosts of webhooks.
    """

    mail: Mail | None = None
    webhook_secret_file: str | None = None
    webhook_hosts: tuple[str, ...] = ()


class Measurements(Section):
    """Measurement points, tests, archives and notifications.

    :param mesh: by path the measurement address at each of its two sites. Both directions are tested with
        :data:`MESH_PERIODS`, except those that have an entry in ``tests``.
    :param agreement: the measurement level agreement: per path or link, the bits/s that tests may offer
        at any instant (spec section 5); without an entry the path's capacity.
    :param around_throughput: real pScheduler servers keep twelve seconds free for a test of three.
    :param notice: seconds before its start at which points receive a test; pScheduler needs ten.
    :param archive_url: the archive's database; SQLite in the data folder if absent.
    :param psconfig: pSConfig template whose tasks become part of the plan.
    :param background: continuous tests, which are not part of the plan.
    :param host_metrics: metrics of the host, by measurement point.
    :param points: measurement points, by site.
    :param tests: tests, each of one direction of a path.
    :param window: length of the period in which the best value of a path is searched.
    :param retention: retention of values in the archive.
    :param ingest: server to which measurement points push results.
    :param archives: archives that are read periodically.
    :param rabbitmq: queue with results.
    :param notify: delivery of alarms.
    :param around_others: the same for the other tests.
    :param publish_psconfig: whether the plan of tests is a public pSConfig template.
    :param follow_templates: whether tests are as frequent as the registered application templates need.
    """

    points: Frozen[Name, MeasurementPoint] = FrozenMap()
    tests: tuple[MeasurementTest, ...] = ()
    mesh: Frozen[Name, MeshEnds] = FrozenMap()
    background: tuple[BackgroundTest, ...] = ()
    host_metrics: Frozen[Name, HostMetrics] = FrozenMap()
    window: Span = 7 * 86_400.0
    agreement: Frozen[Name, PositiveRate] = FrozenMap()
    notice: Span = 15.0
    around_throughput: Span = 9.0
    around_others: Span = 6.0
    retention: Retention = Retention()
    archive_url: DatabaseUrl | None = None
    ingest: Ingest | None = None
    archives: tuple[ResultArchive, ...] = ()
    rabbitmq: RabbitQueue | None = None
    notify: Notify = Notify()
    psconfig: str | None = None
    publish_psconfig: bool = False
    follow_templates: bool = False

    @model_validator(mode="after")
    def _with_mesh(self) -> Self:
        known = {test.key for test in self.tests}
        added = [test for test in mesh_tests(self.mesh) if test.key not in known]
        object.__setattr__(self, "tests", (*self.tests, *added))
        return self

    def _problems(self) -> Iterator[str | Problem]:
        seen: dict[PathKey, str] = {}
        tested = sorted(test.key for test in self.tests)
        for number, each in enumerate(self.background):
            field = f"background.{number}.path"
            if each.key not in tested:
                known = ", ".join(map(str, tested)) or "none"
                yield f"{field}: no test of {each.key} has addresses for it; known are {known}"
            if (first := seen.setdefault(each.key, field)) != field:
                cause = f"{first} has the same direction; expected one entry for each direction"
                yield Problem(field, cause, code="duplicate")

    @property
    def one_way(self) -> frozenset[PathKey]:
        """Directed paths with tests of one-way delay and loss."""
        planned = {test.key for test in self.tests if test.latency_period is not None}
        return frozenset(planned | {each.key for each in self.background})

    @property
    def throughput(self) -> frozenset[PathKey]:
        """Directed paths with throughput tests."""
        return frozenset(test.key for test in self.tests if test.throughput_period is not None)
