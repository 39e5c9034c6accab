"""The delay line: every packet that comes in by a TUN device goes back by it, later.

For kernels without netem.  How late, and which are lost, is looked up in a table that whoever built the
cloud writes (:mod:`~mininet_topos.cloud.delays`), so a path can change while packets are under way.  It sees
IP packets, hence delays ICMP, UDP and TCP alike.  TCP's segments come as the senders' kernels hand them on,
up to 64 KiB at once with the header of ``virtio_net``, and are handed back so: that is what makes it cheap.
Where packets are lost, each one comes by itself, as loss is by packet.

A process of its own::

    python -m mininet_topos.cloud.line TABLE SEED [--single] DEVICE...

prints ``ready`` when the devices are there, and runs until it is ended.  What it carries was measured:
docs/testbed.md.
"""

from __future__ import annotations

import argparse
import fcntl
import gc
import heapq
import mmap
import os
import random
import select
import struct
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from mininet_topos.cloud.delays import ENTRY, SIZE, TTL

TUN = Path("/dev/net/tun")
TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TUN, IFF_NO_PI, IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
CHECKSUMS, SEGMENTS = 0x01, 0x02
"""``TUN_F_CSUM`` and ``TUN_F_TSO4`` (linux/if_tun.h)."""
HEADER = 10
"""Bytes of ``struct virtio_net_hdr`` before each packet."""
SOURCE, DESTINATION, TTL_AT, CHECKSUM_AT = HEADER + 15, HEADER + 19, HEADER + 8, HEADER + 10
LONGEST = HEADER + 65_535
AT_ONCE = 16
"""Packets read before it is looked who is due: more would make those late."""
PRIORITY = 10


def opened(device: str, single: bool) -> int:
    """A descriptor of a new TUN device; it is gone with the descriptor."""
    descriptor = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(
        descriptor, TUNSETIFF, struct.pack("16sH", device.encode(), IFF_TUN | IFF_NO_PI | IFF_VNET_HDR)
    )
    fcntl.ioctl(descriptor, TUNSETOFFLOAD, 0 if single else CHECKSUMS | SEGMENTS)
    return descriptor


def one_hop_less(packet: bytes) -> bytes:
    """The packet as if the router that it comes to next were none; its checksum by RFC 1624, equation 3."""
    changed = bytearray(packet)
    changed[TTL_AT] = min(255, packet[TTL_AT] + 1)
    old, new = packet[TTL_AT] << 8, changed[TTL_AT] << 8
    (checksum,) = struct.unpack_from("!H", packet, CHECKSUM_AT)
    total = (~checksum & 0xFFFF) + (~old & 0xFFFF) + new
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    struct.pack_into("!H", changed, CHECKSUM_AT, ~total & 0xFFFF)
    return bytes(changed)


def run(descriptors: Sequence[int], table: mmap.mmap, chance: random.Random) -> None:
    """Carry packets for ever.  Written for speed: names are local, and nothing is called that need not be."""
    waiting: list[tuple[float, int, int, bytes]] = []
    number = 0
    push, pop, now, read, write = heapq.heappush, heapq.heappop, time.monotonic, os.read, os.write
    looked_up, bits = ENTRY.unpack_from, chance.getrandbits
    while True:
        wait = max(0.0, waiting[0][0] - now()) if waiting else None
        readable, _, _ = select.select(descriptors, (), (), wait)
        for descriptor in readable:
            came = now()
            for _ in range(AT_ONCE):
                try:
                    packet = read(descriptor, LONGEST)
                except BlockingIOError:
                    break
                place = (packet[SOURCE] << 8 | packet[DESTINATION]) * ENTRY.size
                delay, loss, flags = looked_up(table, place)
                if loss and bits(32) <= loss:
                    continue
                if flags & TTL:
                    packet = one_hop_less(packet)
                number += 1
                push(waiting, (came + delay * 1e-9, number, descriptor, packet))
        due = now()
        while waiting and waiting[0][0] <= due:
            _, _, descriptor, packet = pop(waiting)
            write(descriptor, packet)


def main() -> None:
    """Open the devices and run."""
    parser = argparse.ArgumentParser(description="the delay line of an emulated cloud")
    parser.add_argument("table", type=Path)
    parser.add_argument("seed", type=int)
    parser.add_argument("devices", nargs="+")
    parser.add_argument("--single", action="store_true", help="TCP's segments one by one")
    arguments = parser.parse_args()
    with arguments.table.open("rb") as file, mmap.mmap(file.fileno(), SIZE, access=mmap.ACCESS_READ) as table:
        descriptors = [opened(device, arguments.single) for device in arguments.devices]
        hurry()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        run(descriptors, table, random.Random(arguments.seed))  # noqa: S311 - which packets are lost


def hurry() -> None:
    """Go before others, who would be seen as delays; without a pause to collect garbage: there is none."""
    gc.disable()
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except PermissionError:  # where real-time priorities are rationed (sched(7))
        os.setpriority(os.PRIO_PROCESS, 0, -20)


if __name__ == "__main__":
    main()
