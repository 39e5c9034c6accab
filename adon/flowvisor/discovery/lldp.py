"""LLDP probes for link discovery (IEEE 802.1AB), from values to bytes and back.

A probe is an ordinary LLDPDU (chassis id, port id, time to live, port description), so that the LLDP tools of
hosts and campus switches show the port at the other end.  Discovery uses only the organisationally specific
TLV (802.1AB 8.6) after these::

    version 1, dpid 8, port 4, sequence 8, sent at 8 (µs), controller 8, length of name 1, network, MAC 16

The MAC is HMAC-SHA256 (RFC 2104, truncated to 16 bytes) over the LLDPDU before it, with a key that only the
controller has.  A host can neither forge nor move a link.  It can *relay* a received frame, which a MAC does
not prevent.  :mod:`adon.flowvisor.discovery.link` excludes links at ports of hosts, and
:mod:`adon.flowvisor.discovery.link_discovery` limits the age of a frame.

The organisation has an administratively assigned local address block (IEEE 802c), because the project owns no
OUI.  The destination is *nearest bridge*: frames do not pass a bridge, so a link is a wire.

:func:`parse_frame` never raises.
"""

from __future__ import annotations

import hmac
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from ipaddress import IPv4Address, IPv6Address

from adon.flowvisor.rules.match import ETH_TYPE_LLDP

NEAREST_BRIDGE = bytes.fromhex("0180c200000e")
"""802.1AB 7.1: constrained to one wire."""
ORGANISATION = bytes.fromhex("02ad0e")
PROBE_SUBTYPE = 1
VERSION = 1
MAC_SIZE = 16
KEY_SIZE = 32
CONTROLLER_SIZE = 8
MAX_TEXT = 80
"""Maximum characters of a neighbour's text."""

_FIXED = struct.Struct("!BQIQQ8sB")
_LOCALLY_ASSIGNED = 7
_ETHERNET_HEADER = 14


class Tlv(IntEnum):
    """TLV types that discovery reads (802.1AB table 8-1)."""

    END = 0
    CHASSIS = 1
    PORT = 2
    TTL = 3
    PORT_DESCRIPTION = 4
    SYSTEM_NAME = 5
    ORGANISATION = 127


@dataclass(frozen=True, slots=True)
class Identity:
    """Identity of the sender of probes.

    :param network: the configured name; probes of another ADON network are foreign.
    :param controller: 8 bytes of this run, which distinguish the probes of a standby controller with the same
        key.
    :param key: 32 secret bytes.
    :raises ValueError: for a controller or key of another size, or a name that does not fit.
    """

    network: str
    controller: bytes
    key: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.key) != KEY_SIZE:
            raise ValueError(f"key: {len(self.key)} bytes; expected {KEY_SIZE}")
        if len(self.controller) != CONTROLLER_SIZE:
            raise ValueError(f"controller: {len(self.controller)} bytes; expected {CONTROLLER_SIZE}")
        if len(self.network.encode()) > 255:
            raise ValueError("network: the name is longer than 255 bytes")


@dataclass(frozen=True, slots=True)
class Probe:
    """Content of a verified probe.

    :param port: the port's number at the sender.
    :param sequence: grows with every frame of one controller.
    :param sent_at: seconds since the epoch, by the controller's clock.
    """

    dpid: int
    port: int
    sequence: int
    sent_at: float
    controller: bytes


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Content of another system's LLDP frame, as printable texts.

    :param ttl: validity, s; 0 means that the system shuts down.
    """

    chassis: str
    port: str
    system: str
    ttl: int


@dataclass(frozen=True, slots=True)
class InvalidFrame:
    """A refused frame and the reason.

    :param forged: True for a probe with a wrong signature.
    """

    why: str
    forged: bool = False


def probe_frame(identity: Identity, probe: Probe, name: str, mac: str, ttl: int) -> bytes:
    """Return the Ethernet frame of a probe.

    :param name: the port's name, sent as its description.
    :param mac: the port's own address; empty if unknown.
    :param ttl: validity for other systems, s.
    """
    source = bytes.fromhex(mac.replace(":", "")) if mac else b"\x02" + probe.dpid.to_bytes(8, "big")[3:]
    network = identity.network.encode()
    ours = _FIXED.pack(
        VERSION,
        probe.dpid,
        probe.port,
        probe.sequence,
        round(probe.sent_at * 1e6),
        probe.controller,
        len(network),
    )
    body = ORGANISATION + bytes([PROBE_SUBTYPE]) + ours + network
    signed = b"".join(
        [
            _tlv(Tlv.CHASSIS, bytes([_LOCALLY_ASSIGNED]) + f"dpid:{probe.dpid:016x}".encode()),
            _tlv(Tlv.PORT, bytes([_LOCALLY_ASSIGNED]) + str(probe.port).encode()),
            _tlv(Tlv.TTL, struct.pack("!H", min(ttl, 0xFFFF))),
            _tlv(Tlv.PORT_DESCRIPTION, to_printable(name.encode(errors="replace"))[:63].encode()),
            _header(Tlv.ORGANISATION, len(body) + MAC_SIZE),
            body,
        ]
    )
    ethernet = NEAREST_BRIDGE + source + struct.pack("!H", ETH_TYPE_LLDP)
    return ethernet + signed + _mac(identity, signed) + _tlv(Tlv.END, b"")


def parse_frame(frame: bytes, identity: Identity) -> Probe | Neighbour | InvalidFrame:
    """Return the content of a frame: a probe, another system's presence, or a refusal."""
    if len(frame) < _ETHERNET_HEADER or frame[12:14] != struct.pack("!H", ETH_TYPE_LLDP):
        return InvalidFrame("not an untagged LLDP frame")
    unit = frame[_ETHERNET_HEADER:]
    try:
        tlvs = list(_tlvs(unit))
        for _, kind, value in tlvs:
            if kind == Tlv.ORGANISATION and value[:4] == ORGANISATION + bytes([PROBE_SUBTYPE]):
                return _verify_probe(unit, tlvs, identity)
        return _read_neighbour(tlvs)
    except ValueError as error:
        return InvalidFrame(str(error))


def is_lldp(frame: bytes) -> bool:
    """Return whether an Ethernet frame is untagged LLDP."""
    return frame[12:14] == ETH_TYPE_LLDP.to_bytes(2, "big")


def to_printable(raw: bytes) -> str:
    """Return the bytes of another system as a short printable text."""
    text = raw.rstrip(b"\0").decode("utf-8", "replace")[:MAX_TEXT]
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def _header(kind: int, length: int) -> bytes:
    return struct.pack("!H", kind << 9 | length)


def _tlv(kind: int, value: bytes) -> bytes:
    return _header(kind, len(value)) + value


def _mac(identity: Identity, signed: bytes) -> bytes:
    return hmac.digest(identity.key, signed, "sha256")[:MAC_SIZE]


def _tlvs(unit: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield value offset, type and value of each TLV, in the order and number of 802.1AB 9.2.7.

    :raises ValueError: for a unit that is not well-formed.
    """
    offset, number = 0, 0
    while True:
        if offset + 2 > len(unit):
            raise ValueError("the LLDPDU does not end")
        (header,) = struct.unpack_from("!H", unit, offset)
        kind, length, offset = header >> 9, header & 0x1FF, offset + 2
        value = unit[offset : offset + length]
        if len(value) < length:
            raise ValueError("a TLV is longer than the frame")
        _check_place(number, kind, length)
        yield offset, kind, value
        if kind == Tlv.END:
            return
        offset, number = offset + length, number + 1


_FIRST = (Tlv.CHASSIS, Tlv.PORT, Tlv.TTL)
_LENGTHS: Mapping[int, tuple[int, int]] = {
    Tlv.END: (0, 0),
    Tlv.CHASSIS: (2, 256),
    Tlv.PORT: (2, 256),
    Tlv.TTL: (2, 511),
    Tlv.ORGANISATION: (4, 511),
}
"""Minimum and maximum length of limited values, per type."""


def _check_place(number: int, kind: int, length: int) -> None:
    if number < len(_FIRST):
        if kind != _FIRST[number]:
            raise ValueError(f"TLV {number + 1} is of type {kind}, not {_FIRST[number].name.lower()}")
    elif kind in _FIRST:
        raise ValueError(f"a second TLV of type {kind}")
    least, most = _LENGTHS.get(kind, (0, 511))
    if not least <= length <= most:
        raise ValueError(f"a TLV of type {kind} of {length} bytes")


def _verify_probe(
    unit: bytes, tlvs: list[tuple[int, int, bytes]], identity: Identity
) -> Probe | Neighbour | InvalidFrame:
    """Verify a probe; its TLV is the last before the end, and its MAC covers all before it."""
    start, kind, value = tlvs[-2]
    body = value[4:]
    if kind != Tlv.ORGANISATION or len(body) < _FIXED.size + MAC_SIZE:
        return InvalidFrame("a malformed probe", forged=True)
    version, dpid, port, sequence, sent, controller, size = _FIXED.unpack_from(body)
    network = body[_FIXED.size : -MAC_SIZE]
    if version != VERSION or size != len(network):
        return InvalidFrame(f"a probe of version {version}, or of the wrong size", forged=True)
    if network != identity.network.encode():
        return replace(_read_neighbour(tlvs), system=f"ADON network {to_printable(network)}")
    end = start + len(value) - MAC_SIZE
    if not hmac.compare_digest(unit[end : end + MAC_SIZE], _mac(identity, unit[:end])):
        return InvalidFrame("a probe of this network with a wrong signature", forged=True)
    return Probe(dpid, port, sequence, sent / 1e6, controller)


def _read_neighbour(tlvs: list[tuple[int, int, bytes]]) -> Neighbour:
    chassis, port, ttl = (value for _, _, value in tlvs[:3])
    system = next((value for _, kind, value in tlvs if kind == Tlv.SYSTEM_NAME), b"")
    return Neighbour(
        chassis=_id_text(chassis, mac=4, network=5),
        port=_id_text(port, mac=3, network=4),
        system=to_printable(system),
        ttl=struct.unpack_from("!H", ttl)[0],
    )


def _id_text(value: bytes, *, mac: int, network: int) -> str:
    """Return a chassis or port id by its subtype (802.1AB tables 8-2 and 8-3)."""
    subtype, rest = value[0], value[1:]
    if subtype == mac and len(rest) == 6:
        return rest.hex(":")
    if subtype == network and (rest[0], len(rest)) == (1, 5):
        return str(IPv4Address(rest[1:]))
    if subtype == network and (rest[0], len(rest)) == (2, 17):
        return str(IPv6Address(rest[1:]))
    return to_printable(rest)
