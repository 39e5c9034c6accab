"""Decoder of a switch's features: :class:`~adon.flowvisor.rules.switch_features.SwitchFeatures`.

:mod:`adon.flowvisor.openflow.encode` has the requests: tables and their capacity (1.3.5, 7.3.5.4 and
7.3.5.5), groups (7.3.5.8), meters (7.3.5.11), queues (7.3.6; since 1.4 a multipart reply, 1.4.1 7.3.5.16).
The replies may arrive in any order and in parts.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_4 as ofp14

from adon.flowvisor.openflow.encode import GROUP_TYPES
from adon.flowvisor.openflow.oxm import ADDRESS_FIELDS, PORT_FIELDS
from adon.flowvisor.openflow.wire import BODY, HEADER, MULTIPART, V13, entries
from adon.flowvisor.rules.switch_features import PortQueue, SwitchFeatures, TableCapacity
from adon.values import FrozenMap

_TABLE = struct.Struct("!B3xIQQ")
_TABLE_FEATURES = struct.Struct("!HB5x32sQQII")
_GROUP_FEATURES = struct.Struct("!II4I4I")
_METER_FEATURES = struct.Struct("!III")
_QUEUE = struct.Struct("!IIH6x")

_NAMES: Mapping[int, str] = {
    ofp.OXM_OF_IN_PORT: "in_port",
    ofp.OXM_OF_VLAN_VID: "vlan",
    ofp.OXM_OF_ETH_TYPE: "eth_type",
    ofp.OXM_OF_IP_PROTO: "ip_proto",
    ofp.OXM_OF_METADATA: "metadata",
    **{fields[end]: ("ip_src", "ip_dst")[end] for fields in ADDRESS_FIELDS.values() for end in (0, 1)},
    **{fields[end]: ("tp_src", "tp_dst")[end] for fields in PORT_FIELDS.values() for end in (0, 1)},
}
"""Names of the fields; an address counts if either version of IP can be matched."""
_BY_NUMBER = {header >> 9: name for header, name in _NAMES.items()}

NO_LIMIT = 1000
"""Maximum rate of a queue in tenths of a percent; a greater value means no limit (7.2.2)."""


def read_features(version: int, n_tables: int, replies: Iterable[bytes]) -> SwitchFeatures:
    """Return the features of a switch.

    :param n_tables: from its OFPT_FEATURES_REPLY (7.3.1).
    :param replies: whole messages; errors and other messages are skipped.
    :raises ValueError: for an invalid reply.
    """
    active: dict[int, int] = {}
    rooms: dict[int, TableCapacity] = {}
    groups: dict[str, int] | None = None
    meters: int | None = None
    queues: dict[int, list[PortQueue]] | None = None
    for data in replies:
        kind = _kind(data)
        try:
            if kind == ofp.OFPMP_TABLE:
                active.update(_active(data))
            elif kind == ofp.OFPMP_TABLE_FEATURES:
                rooms.update(_rooms(data))
            elif kind == ofp.OFPMP_GROUP_FEATURES:
                groups = _groups(data)
            elif kind == ofp.OFPMP_METER_FEATURES:
                meters = _meters(data)
            elif kind == ofp14.OFPMP_QUEUE_DESC:
                queues = {} if queues is None else queues
                for port, queue in _queues(data):
                    queues.setdefault(port, []).append(queue)
        except (struct.error, IndexError) as error:
            raise ValueError(f"a truncated reply of type {kind}: {error}") from error
    for number, count in active.items():
        rooms[number] = replace(rooms.get(number, TableCapacity()), active=count)
    return SwitchFeatures(
        version,
        n_tables,
        FrozenMap(dict(sorted(rooms.items()))),
        None if groups is None else FrozenMap(groups),
        meters,
        None if queues is None else FrozenMap({port: tuple(found) for port, found in queues.items()}),
    )


def _kind(data: bytes) -> int | None:
    """Return the type of a multipart reply; the queue message of 1.3 has the type of the later reply."""
    if len(data) >= BODY and data[1] == ofp.OFPT_QUEUE_GET_CONFIG_REPLY and data[0] == V13:
        return int(ofp14.OFPMP_QUEUE_DESC)
    if len(data) < BODY or data[1] != ofp.OFPT_MULTIPART_REPLY:
        return None
    return int(MULTIPART.unpack_from(data, HEADER.size)[0])


def _active(data: bytes) -> Iterator[tuple[int, int]]:
    for start in range(BODY, len(data), _TABLE.size):
        table, count, _, _ = _TABLE.unpack_from(data, start)
        yield table, count


def _rooms(data: bytes) -> Iterator[tuple[int, TableCapacity]]:
    for start, end in entries(data, BODY, len(data), least=_TABLE_FEATURES.size):
        _, table, _, _, _, _, most = _TABLE_FEATURES.unpack_from(data, start)
        fields: frozenset[str] | None = None
        for first, last in entries(data, start + _TABLE_FEATURES.size, end, at=2, least=4, aligned=True):
            if int.from_bytes(data[first : first + 2]) == ofp.OFPTFPT_MATCH:
                fields = frozenset(_fields(data[first + 4 : last]))
        yield table, TableCapacity(most=most, fields=fields)


def _fields(headers: bytes) -> Iterator[str]:
    offset = 0
    while offset + 4 <= len(headers):
        header = int.from_bytes(headers[offset : offset + 4])
        if header >> 9 in _BY_NUMBER:
            yield _BY_NUMBER[header >> 9]
        offset += 8 if header >> 16 == ofp.OFPXMC_EXPERIMENTER else 4


def _groups(data: bytes) -> dict[str, int]:
    types, _, *numbers = _GROUP_FEATURES.unpack_from(data, BODY)
    return {kind: numbers[number] for kind, number in GROUP_TYPES.items() if types & 1 << number}


def _meters(data: bytes) -> int:
    most, bands, capabilities = _METER_FEATURES.unpack_from(data, BODY)
    usable = bands & 1 << ofp.OFPMBT_DROP and capabilities & ofp.OFPMF_KBPS
    return int(most) if usable else 0


def _queues(data: bytes) -> Iterator[tuple[int, PortQueue]]:
    rate_at = 8 if data[0] == V13 else 4
    for start, end in entries(data, BODY, len(data), at=8, least=_QUEUE.size):
        number, port, _ = _QUEUE.unpack_from(data, start)
        if data[0] != V13:
            number, port = port, number
        limits: dict[int, float | None] = {}
        for first, _ in entries(data, start + _QUEUE.size, end, at=2):
            kind = int.from_bytes(data[first : first + 2])
            rate = int.from_bytes(data[first + rate_at : first + rate_at + 2])
            limits[kind] = rate / NO_LIMIT if rate <= NO_LIMIT else None
        yield port, PortQueue(number, limits.get(ofp.OFPQT_MIN_RATE), limits.get(ofp.OFPQT_MAX_RATE))
