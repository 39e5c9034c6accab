"""Section ``controller``: addresses, TLS, connections of switches, high availability, web limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from adon.config.types import CertificateName, File, Network, PerSecond, Port, Section, Span, is_loopback
from adon.units import Duration, format_duration

OpenFlowVersion = Literal["1.3", "1.4"]


class ControllerTls(Section):
    """Mutual TLS with the switches: each side shows a certificate.

    :param certificate: PEM file with the controller's certificate (and the chain up to the CA, if any).
    :param key: PEM file with its private key.
    :param ca: PEM file with the CAs of the switches' certificates.
    :param names: permitted names (CN or DNS) of switches' certificates, in addition to those of
        ``switches.NAME.certificate``; without it, every certificate of the CA may connect.
    """

    certificate: File
    key: File
    ca: File
    names: tuple[CertificateName, ...] | None = None


class Connections(Section):
    """Limits of the connections of switches.

    :param echo_interval: time between two echo requests to a switch.
    :param echo_misses: silent intervals after the first, after which a switch counts as disconnected.
    :param handshake: maximum time from the TCP connection to the switch's ports; slower switches are refused.
    :param half_open: maximum number of simultaneous connections without a known switch.
    :param half_open_per_address: maximum number of them from one address.
    :param packet_ins_per_second: maximum rate of one switch (R18); ``null`` for no limit.
    :param packet_ins_per_port: maximum rate of one port of a switch; ``null`` for no limit.
    """

    echo_interval: Annotated[Span, Field(ge=0.1, le=300)] = 5.0
    echo_misses: int = Field(default=3, ge=1, le=20)
    handshake: Annotated[Duration, Field(ge=0.5, le=120)] = 10.0
    half_open: int = Field(default=256, ge=1, le=10_000)
    half_open_per_address: int = Field(default=32, ge=1, le=10_000)
    packet_ins_per_second: PerSecond | None = 1_000.0
    packet_ins_per_port: PerSecond | None = 200.0


class HighAvailability(Section):
    """High availability of several controllers that share a PostgreSQL database.

    :param name: name of this controller in logs and answers; by default the host's name.
    :param lease: time after which another controller replaces a silent active controller.
    """

    name: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    lease: Annotated[Span, Field(ge=1, le=60)] = 5.0


class Rate(Section):
    """Maximum number of requests in any period of a length.

    ``requests`` is also the burst; divided by the length it is the sustained rate.

    :param requests: number of requests.
    :param per: length of the period.
    """

    requests: int = Field(ge=1, le=100_000)
    per: Span


def _rate(requests: int, per: str) -> Rate:
    return Rate.model_validate({"requests": requests, "per": per})


class WebLimits(Section):
    """Limits of requests and listeners.

    :param reads, writes: reading and changing requests of one user to the API.
    :param inside: requests of the dashboard's pages for one user; one page sends about twenty.
    :param anonymous: requests to the API without an identity, from one address.
    :param sign_in: attempts to sign in, and tokens that are not valid, from one address.
    :param streams: simultaneous listeners to events.
    :param streams_per_user: listeners to events of one user.
    :param connections: open connections.
    """

    reads: Rate = _rate(100, "5 s")
    writes: Rate = _rate(30, "10 s")
    inside: Rate = _rate(400, "5 s")
    anonymous: Rate = _rate(50, "5 s")
    sign_in: Rate = _rate(30, "60 s")
    streams: int = Field(default=1000, ge=1, le=10_000)
    streams_per_user: int = Field(default=50, ge=1, le=10_000)
    connections: int = Field(default=2000, ge=10, le=60_000)

    @property
    def rates(self) -> Mapping[str, Rate]:
        """Rates by their names."""
        names = ("reads", "writes", "inside", "anonymous", "sign_in")
        return {name: getattr(self, name) for name in names}


DAY_S = 86_400.0


class Credentials(Section):
    """Lifetimes of tokens and sessions (docs/access.md).

    :param token_lifetime: default lifetime of a token.
    :param longest_token_lifetime: maximum lifetime of a token.
    :param session_idle: time without a request after which a user must sign in again.
    :param session_lifetime: time after which a user must sign in again in any case.
    :param most_tokens: maximum number of valid tokens of one user.
    """

    token_lifetime: Span = 90 * DAY_S
    longest_token_lifetime: Span = 366 * DAY_S
    session_idle: Span = 2 * 3600.0
    session_lifetime: Span = 12 * 3600.0
    most_tokens: int = Field(default=50, ge=1, le=10_000)

    def _problems(self) -> Iterator[str]:
        if self.token_lifetime > self.longest_token_lifetime:
            longest = format_duration(self.longest_token_lifetime)
            yield f"token_lifetime: is above longest_token_lifetime; for example {longest}"
        if self.session_idle > self.session_lifetime:
            lifetime = format_duration(self.session_lifetime)
            yield f"session_idle: is above session_lifetime; for example {lifetime}"


class Controller(Section):
    """Addresses of the three processes, and the connections of switches (docs/switch-connections.md).

    :param plain_tcp: permits switches without TLS at an address that other hosts can reach.
    :param openflow_versions: permitted versions; 1.3 is chosen whenever a switch offers it.
    :param openflow_host: address that the OpenFlow port listens on.
    :param openflow_port: TCP port that switches connect to.
    :param tls: certificates for the connections of switches; plain TCP without it.
    :param connections: limits of the connections of switches.
    :param web_host: address that the web process listens on.
    :param web_port: TCP port of the REST API and the dashboard.
    :param web_limits: limits of requests to the web process.
    :param web_proxies: reverse proxies whose X-Forwarded-For and -Proto headers are trusted.
    :param ha: one of several controllers.
    """

    openflow_host: str = "127.0.0.1"
    openflow_port: Port = 6653
    tls: ControllerTls | None = None
    plain_tcp: bool = False
    openflow_versions: tuple[OpenFlowVersion, ...] = ("1.3", "1.4")
    connections: Connections = Connections()
    web_host: str = "127.0.0.1"
    web_port: Port = 8080
    web_proxies: tuple[Network, ...] = ()
    web_limits: WebLimits = WebLimits()
    ha: HighAvailability | None = None

    def _problems(self) -> Iterator[str]:
        if self.tls is not None and self.plain_tcp:
            yield "plain_tcp: contradicts tls, which permits no plain TCP; write plain_tcp: false, or no tls"
        if self.tls is None and not self.plain_tcp and not is_loopback(self.openflow_host):
            cause = f"is required to listen on {self.openflow_host}, where other hosts can connect"
            example = "for example {certificate: c.pem, key: c.key, ca: ca.pem}"
            yield f"tls: {cause}; {example}, or plain_tcp: true on a closed management network"
        if "1.3" not in self.openflow_versions:
            yield 'openflow_versions: 1.3 is missing, which every switch supports; for example ["1.3", "1.4"]'
