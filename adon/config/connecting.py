"""How switches connect to the controller: who they must prove to be, and how much they may ask of it."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from adon.config.parts import Section, Span
from adon.units import Duration

OpenFlowVersion = Literal["1.3", "1.4"]
PerSecond = Annotated[float, Field(gt=0, le=1_000_000)]


def _certificate_name(text: str) -> str:
    # Compared without regard to case, as DNS names are; exact otherwise: no wildcards.
    if text != text.strip() or not text.isprintable():
        raise ValueError(f"{text!r} is not a name such as edge1.example.edu")
    if "*" in text:
        raise ValueError(f"{text!r} is a wildcard; a switch has a name of its own")
    return text.lower()


CertificateName = Annotated[str, Field(min_length=1, max_length=253), AfterValidator(_certificate_name)]


class ControllerTls(Section):
    """TLS towards the switches, both ways: each side shows a certificate.

    :param certificate: PEM file with ours (and the chain up to the CA, if there is one).
    :param key: PEM file with its private key.
    :param ca: PEM file with the certificates that may sign a switch's.
    :param names: the only names (CN or DNS) a switch's certificate may have, beside those that
        ``switches.NAME.certificate`` binds; left out, every certificate of the CA may connect.
    """

    certificate: str
    key: str
    ca: str
    names: tuple[CertificateName, ...] | None = None


class Connections(Section):
    """What the connections of switches may cost us.

    :param echo_interval: between two echo requests to a switch.
    :param echo_misses: so many intervals without a byte after the first, and the switch is gone.
    :param handshake: from the TCP connection to the switch's ports; who is slower is refused.
    :param half_open: connections at a time of which we do not know whose they are.
    :param half_open_per_address: the same from one address.
    :param packet_ins_per_second: of one switch (R18); ``null``: as many as come.
    :param packet_ins_per_port: of one port of a switch; ``null``: as many as come.
    """

    echo_interval: Annotated[Span, Field(ge=0.1, le=300)] = 5.0
    echo_misses: int = Field(default=3, ge=1, le=20)
    handshake: Annotated[Duration, Field(ge=0.5, le=120)] = 10.0
    half_open: int = Field(default=256, ge=1, le=10_000)
    half_open_per_address: int = Field(default=32, ge=1, le=10_000)
    packet_ins_per_second: PerSecond | None = 1_000.0
    packet_ins_per_port: PerSecond | None = 200.0


def is_loopback(host: str) -> bool:
    """Whether this address to listen on is reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def transport_problems(host: str, tls: ControllerTls | None, plain_tcp: bool) -> Iterator[str]:
    """Why the OpenFlow port must not be opened so, as ``field: text``."""
    if tls is not None and plain_tcp:
        yield "plain_tcp: a port with tls speaks nothing else; leave one of the two out"
    if tls is None and not plain_tcp and not is_loopback(host):
        yield (
            f"tls: is needed to listen on {host}: without it whoever reaches the port can pass for a switch "
            "(plain_tcp: true opens it all the same, for a management network that nobody else is on)"
        )
