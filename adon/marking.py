"""Marking of flows for other networks: DSCP for their queues, scitags for their statistics.

**DSCP.**  Six bits in every packet, written by the edges
(:class:`~adon.flowvisor.rules.rule_compiler.Treatment`). People write a number or a name: the class selectors
of RFC 2474 (CS0-CS7), the assured forwarding classes of RFC 2597 (AF11-AF43), EF (RFC 3246), VOICE-ADMIT (RFC
5865), LE for scavenger traffic (RFC 8622), or a service class of RFC 4594 (figure 4; low-priority data has LE
since RFC 8622).

**Scitags** (www.scitags.org) say which experiment, or community, and which activity a transfer belongs to:
nine and six bits.  One number names both, ``experiment << 6 | activity``.  They travel in two ways:

- in the IPv6 **flow label** of the sender's own packets (draft-cc-v6ops-wlcg-flow-label-marking).  Its
  20 bits, E being entropy that the sender chooses per connection, C0 the lowest bit of the experiment
  (so these are in reversed order)::

      E E C0 C1 C2 C3 C4 C5 C6 C7 C8 E A5 A4 A3 A2 A1 A0 E E

  The label is the sending host's to set: RFC 6437, section 3, wants networks to leave it as it is.  So
  ADON computes it for the DTN (:meth:`Scitags.flow_label`), and no switch writes it.
- in a **firefly**: a UDP packet to port 10514 for one connection, syslog's header (RFC 5424) and a JSON
  object (schema firefly version 1) that says who sends what to whom since when (:func:`firefly`).

No clock, no socket, no chance: times and entropy are arguments.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

FIREFLY_PORT = 10_514
LOCAL0, INFORMATIONAL = 16, 6
"""Syslog's facility and severity of a firefly (RFC 5424, 6.2.1)."""

DSCP_NAMES: dict[str, int] = {
    **{f"CS{number}": number << 3 for number in range(8)},
    **{f"AF{row}{drop}": row << 3 | drop << 1 for row in (1, 2, 3, 4) for drop in (1, 2, 3)},
    "EF": 46,
    "VOICE-ADMIT": 44,
    "LE": 1,
}

SERVICE_CLASSES: dict[str, int] = {
    "network-control": DSCP_NAMES["CS6"],
    "telephony": DSCP_NAMES["EF"],
    "signaling": DSCP_NAMES["CS5"],
    "multimedia-conferencing": DSCP_NAMES["AF41"],
    "real-time-interactive": DSCP_NAMES["CS4"],
    "multimedia-streaming": DSCP_NAMES["AF31"],
    "broadcast-video": DSCP_NAMES["CS3"],
    "low-latency-data": DSCP_NAMES["AF21"],
    "oam": DSCP_NAMES["CS2"],
    "high-throughput-data": DSCP_NAMES["AF11"],
    "standard": DSCP_NAMES["CS0"],
    "low-priority-data": DSCP_NAMES["LE"],
}
"""Service classes of RFC 4594 with the first DSCP of each."""


def parse_dscp(value: object) -> int:
    """Return a DSCP from its number or one of its names.

    :raises ValueError: for anything else.
    """
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 63:
        return value
    if isinstance(value, str):
        found = DSCP_NAMES.get(value.upper(), SERVICE_CLASSES.get(value.lower()))
        if found is not None:
            return found
    raise ValueError(f"{str(value)[:40]!r} is not a DSCP; write 0 to 63, or a name such as LE, AF11, EF")


def dscp_text(dscp: int) -> str:
    """Return the name of a DSCP, such as ``LE``; its number without a name."""
    return next((name for name, value in DSCP_NAMES.items() if value == dscp), str(dscp))


Dscp = Annotated[int, BeforeValidator(parse_dscp)]
"""Pydantic field of a DSCP, by number or name."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Scitags(_Value):
    """Experiment or community of a transfer, and its activity.

    :param experiment: 1 to 511; scitags reserve 0 for no experiment.
    :param activity: 0 to 63; 0 for an unknown activity.
    """

    experiment: int = Field(ge=1, le=(1 << 9) - 1)
    activity: int = Field(default=0, ge=0, le=(1 << 6) - 1)

    @property
    def number(self) -> int:
        """Both as one number, as transfer tools expect it (``scitag.flow``)."""
        return self.experiment << 6 | self.activity

    def flow_label(self, entropy: int = 0) -> int:
        """Return the 20 bits of the IPv6 flow label.

        :param entropy: five bits for the positions E in the module's docstring.
        :raises ValueError: if it does not fit five bits.
        """
        if not 0 <= entropy < 1 << 5:
            raise ValueError(f"entropy {entropy} does not fit five bits")
        backwards = int(f"{self.experiment:09b}"[::-1], 2)
        first, middle, last = entropy >> 3, entropy >> 2 & 1, entropy & 3
        return first << 18 | backwards << 9 | middle << 8 | self.activity << 2 | last


class Marking(_Value):
    """Marking of the packets and flows of a template or request; None for no mark."""

    dscp: Dscp | None = None
    scitags: Scitags | None = None

    def over(self, other: Marking | None) -> Marking:
        """Return this marking, with the values of the other one in place of None."""
        if other is None:
            return self
        return Marking(
            dscp=other.dscp if self.dscp is None else self.dscp,
            scitags=other.scitags if self.scitags is None else self.scitags,
        )


@dataclass(frozen=True, slots=True)
class FireflyFlow:
    """Connection of a firefly; addresses as text, times in seconds since the epoch.

    :param ended: end of the connection; None if it is open.
    :param sent: bytes that the source sent; None if unknown.
    """

    source: str
    destination: str
    protocol: Literal["tcp", "udp"]
    source_port: int
    destination_port: int
    started: float
    ended: float | None = None
    sent: int | None = None


def firefly(tags: Scitags, about: FireflyFlow, now: float, host: str, application: str = "adon") -> bytes:
    """Return the payload of a firefly: ``start`` of an open connection, ``end`` of a closed one.

    :param host: the reporting host in syslog's header: printable ASCII without blanks.
    :raises ValueError: for a port or a host that the format cannot hold.
    """
    for port in (about.source_port, about.destination_port):
        if not 1 <= port <= 65_535:
            raise ValueError(f"port: {port} is out of range; expected 1 to 65535")
    if not 1 <= len(host) <= 255 or not all("!" <= letter <= "~" for letter in host):
        raise ValueError(f"{host!r} is no host name for syslog")
    head = f"<{LOCAL0 << 3 | INFORMATIONAL}>1 {_time(now)} {host} {application} - firefly-json - "
    return (head + json.dumps(_body(tags, about, now, application), separators=(",", ":"))).encode()


def _body(tags: Scitags, about: FireflyFlow, now: float, application: str) -> dict[str, Any]:
    life = {
        "state": "start" if about.ended is None else "end",
        "current-time": _time(now),
        "start-time": _time(about.started),
    }
    if about.ended is not None:
        life["end-time"] = _time(about.ended)
    body: dict[str, Any] = {
        "version": 1,
        "flow-lifecycle": life,
        "flow-id": {
            "afi": "ipv6" if ":" in about.source else "ipv4",
            "src-ip": about.source,
            "dst-ip": about.destination,
            "protocol": about.protocol,
            "src-port": about.source_port,
            "dst-port": about.destination_port,
        },
        "context": {
            "experiment-id": tags.experiment,
            "activity-id": tags.activity,
            "application": application,
        },
    }
    if about.sent is not None:
        body["usage"] = {"sent": about.sent}
    return body


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")
