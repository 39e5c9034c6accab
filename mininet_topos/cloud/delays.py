"""The table that the delay line looks up: what befalls packets, by the last octets of both addresses.

A file of 65 536 entries that both map into memory: the builder of a cloud writes, the line reads.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from measurement.health.model import Pair
from mininet_topos.cloud.description import Cloud

ENTRY = struct.Struct("<III")
"""Nanoseconds of delay; the share that is lost, of 2**32 - 1; flags."""
SIZE = 65_536 * ENTRY.size
TTL = 1
"""A flag: the two are neighbours on one machine, and the router between them is none."""
ALL = 2**32 - 1


def entry(cloud: Cloud, pair: Pair) -> bytes:
    """What the table says of a path."""
    path = cloud.path(pair)
    return ENTRY.pack(round(path.delay * 1e9), round(path.loss * ALL), TTL * cloud.neighbours(pair))


def position(cloud: Cloud, pair: Pair) -> int:
    """Where it says so."""
    return (cloud.octet(pair.source) << 8 | cloud.octet(pair.destination)) * ENTRY.size


def filled(cloud: Cloud) -> bytes:
    """The whole table."""
    table = bytearray(SIZE)
    for one in cloud.guests:
        for other in cloud.guests:
            if one is not other:
                pair = Pair(one.name, other.name)
                table[position(cloud, pair) : position(cloud, pair) + ENTRY.size] = entry(cloud, pair)
    return bytes(table)


def change(file: Path, cloud: Cloud, pair: Pair) -> None:
    """Let the line know of a path that is not as it was."""
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), SIZE) as table:
        table[position(cloud, pair) : position(cloud, pair) + ENTRY.size] = entry(cloud, pair)
