from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from measurement.health.model import Pair
from mininet_topos.cloud import delays
from mininet_topos.cloud.description import Cloud, Guest, Path, Router
from mininet_topos.cloud.line import HEADER, one_hop_less


def checksum(header: bytes) -> int:
    """RFC 1071."""
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@given(st.binary(min_size=20, max_size=20), st.integers(0, 254))
def test_a_hop_less_is_a_ttl_more_with_the_right_checksum(header, ttl):
    made = bytearray(header)
    made[8], made[10:12] = ttl, b"\0\0"
    made[10:12] = checksum(bytes(made)).to_bytes(2, "big")
    packet = bytes(HEADER) + bytes(made) + b"data"
    changed = one_hop_less(packet)
    inner = changed[HEADER : HEADER + 20]
    assert inner[8] == ttl + 1
    assert checksum(inner) == 0
    assert inner[:8] + inner[9:10] + inner[12:] == bytes(made[:8] + made[9:10] + made[12:])
    assert changed[:HEADER] + changed[HEADER + 20 :] == packet[:HEADER] + packet[HEADER + 20 :]


def cloud(path: Path) -> Cloud:
    guests = (Guest("one", "core", machine="m"), Guest("other", "core", machine="m"), Guest("third", "core"))
    return Cloud("c", (Router("core"),), guests, {Pair("one", "other"): path})


def said(table: bytes, source: int, destination: int) -> tuple[int, int, int]:
    found: tuple[int, int, int] = delays.ENTRY.unpack_from(table, (source << 8 | destination) * 12)
    return found


def test_the_table_says_what_befalls_packets():
    table = delays.filled(cloud(Path(delay=0.25, loss=0.5)))
    assert len(table) == delays.SIZE
    assert said(table, 1, 2) == (250_000_000, round(0.5 * (2**32 - 1)), delays.TTL)
    assert said(table, 2, 1) == (0, 0, delays.TTL)
    assert said(table, 1, 3) == (0, 0, 0)


def test_a_change_is_of_one_entry(tmp_path):
    file = tmp_path / "table"
    before, after = cloud(Path(delay=0.1)), cloud(Path(delay=0.2, loss=1.0))
    file.write_bytes(delays.filled(before))
    delays.change(file, after, Pair("one", "other"))
    assert file.read_bytes() == delays.filled(after)
