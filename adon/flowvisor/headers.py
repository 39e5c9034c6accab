"""What tells connections apart, cut out of a frame as it stands on the wire.

For packets of which thousands come in a second: what is only compared is not turned into numbers or text.
The bytes are IPv4 (RFC 791, 3.1) or IPv6 without extension headers (RFC 8200, 3), and the ports, which are
the first four bytes of TCP, UDP and SCTP alike.  Everything else is left to nobody: None.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

from adon.flowvisor.flowspace import Connection

_IPV4, _IPV6 = b"\x08\x00", b"\x86\xdd"
_WITH_PORTS = frozenset({6, 17, 132})
_LENGTH_4, _LENGTH_6 = 1 + 2 * 4 + 2, 1 + 2 * 16 + 2

Service = bytes
"""Protocol, source, destination, port there: all of a connection but the port that it comes from."""


def service(frame: bytes) -> tuple[Service, bytes] | None:
    """The service that an untagged frame goes to, and the port that it comes from (two bytes).

    None for a frame without ports, a later fragment, or one that is cut off.
    """
    kind = frame[12:14]
    if kind == _IPV4 and len(frame) >= 38 and frame[23] in _WITH_PORTS:
        if frame[14] == 0x45 and not (frame[21] or frame[20] & 0x1F):
            return frame[23:24] + frame[26:34] + frame[36:38], frame[34:36]
        return _with_options(frame)
    if kind == _IPV6 and len(frame) >= 58 and frame[14] >> 4 == 6 and frame[20] in _WITH_PORTS:
        return frame[20:21] + frame[22:54] + frame[56:58], frame[54:56]
    return None


def _with_options(frame: bytes) -> tuple[Service, bytes] | None:
    ports = 14 + (frame[14] & 0xF) * 4
    whole = not (frame[21] or frame[20] & 0x1F)
    if frame[14] >> 4 != 4 or ports < 34 or len(frame) < ports + 4 or not whole:
        return None
    return frame[23:24] + frame[26:34] + frame[ports + 2 : ports + 4], frame[ports : ports + 2]


def connection(known: Service) -> Connection:
    """The connections to a service, as a flowspace has them.

    :raises ValueError: for bytes that :func:`service` did not give.
    """
    port = int.from_bytes(known[-2:])
    if len(known) == _LENGTH_4:
        return Connection(IPv4Address(known[1:5]), IPv4Address(known[5:9]), known[0], port)
    if len(known) == _LENGTH_6:
        return Connection(IPv6Address(known[1:17]), IPv6Address(known[17:33]), known[0], port)
    raise ValueError(f"{known.hex()} is no service")
