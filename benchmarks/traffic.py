"""Numbered UDP packets of one or many flows: sent at a rate, received, and seen where they leave a switch.

``python -m benchmarks.traffic send FILE RATE ADDRESS PORT...``, ``receive FILE PORT...``,
``sniff FILE INTERFACE...``: each runs until SIGTERM and then writes FILE.  A flow is a destination port;
its packets are numbered from 0.  Times are the kernel's (SO_TIMESTAMPNS, CLOCK_REALTIME, nanoseconds), so it
does not matter when Python gets round to reading.

The sender keeps to a schedule and makes up for no more than :data:`CATCH_UP_S`: a burst after the machine was
busy elsewhere would test buffers.  Reordered is a packet whose number is smaller than that of one before it
(RFC 4737, 3.3).
"""

from __future__ import annotations

import itertools
import json
import select
import signal
import socket
import struct
import sys
import time
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CATCH_UP_S = 0.01
SIZE = 200
SO_TIMESTAMPNS, SO_RCVBUFFORCE = 35, 33
"""Of Linux; Python 3.11 has no names for them."""
RECEIVE_BUFFER = 8 << 20
ETH_VLAN, ETH_IPV4, UDP = 0x8100, 0x0800, 17
WIDTHS = {"receive": 3, "sniff": 4}
"""Records: port, number, time; and of the sniffer in front of them the place of the interface."""

_NUMBER = struct.Struct("!I")
_TIME = struct.Struct("@qq")


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What became of a flow's packets.

    :param gap_ms: the longest time between two arrivals.
    """

    sent: int
    lost: int
    duplicated: int
    reordered: int
    gap_ms: float


def arrivals(sent: int, records: Sequence[tuple[int, int]]) -> Arrivals:
    """What became of the packets 0 .. sent-1, from (number, time in ns) in the order of arrival."""
    largest, reordered = -1, 0
    for number, _ in records:
        reordered += number < largest
        largest = max(largest, number)
    sent = max(sent, largest + 1)  # a sender that is ended between a packet and its count
    times = [at for _, at in records]
    gap = max((after - before for before, after in itertools.pairwise(times)), default=0)
    different = len({number for number, _ in records})
    return Arrivals(sent, sent - different, len(records) - different, reordered, gap / 1e6)


def send(file: Path, rate: int, address: str, ports: Sequence[int]) -> None:
    """Send packets of each flow at this rate (packets/s); the file says how many of each."""
    senders = []
    for port in ports:
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sender.connect((address, port))
        senders.append(sender)
    sent, padding, due = 0, bytes(SIZE - _NUMBER.size), time.monotonic()
    try:
        while True:
            due = max(due + 1 / (rate * len(ports)), time.monotonic() - CATCH_UP_S)
            time.sleep(max(0.0, due - time.monotonic()))
            number, place = divmod(sent, len(ports))
            senders[place].send(_NUMBER.pack(number) + padding)
            sent += 1
    finally:
        full, more = divmod(sent, len(ports))
        file.write_text(json.dumps({port: full + (place < more) for place, port in enumerate(ports)}))


def receive(file: Path, ports: Sequence[int]) -> None:
    """Note port, number and time of every packet, in the order in which they arrive."""
    poll, flows = select.poll(), {}
    for port in ports:
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        _stamped(receiver)
        receiver.bind(("", port))
        poll.register(receiver, select.POLLIN)
        flows[receiver.fileno()] = (port, receiver)
    with _recorded(file) as records:
        while True:
            for descriptor, _ in poll.poll():
                port, receiver = flows[descriptor]
                data, ancillary, _, _ = receiver.recvmsg(64, 64)
                records.extend((port, _NUMBER.unpack_from(data)[0], _time(ancillary)))


def sniff(file: Path, interfaces: Sequence[str]) -> None:
    """Note interface (by its place), port, number and time of every packet of ours that leaves there."""
    poll, taps = select.poll(), {}
    for place, name in enumerate(interfaces):
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
        _stamped(tap)
        tap.bind((name, 0))
        poll.register(tap, select.POLLIN)
        taps[tap.fileno()] = (place, tap)
    with _recorded(file) as records:
        while True:
            for descriptor, _ in poll.poll():
                place, tap = taps[descriptor]
                try:
                    data, ancillary, _, sender = tap.recvmsg(96, 64)
                except OSError:
                    continue  # ENETDOWN, once: the interface was taken down
                found = numbered(data) if sender[2] == socket.PACKET_OUTGOING else None
                if found is not None:
                    records.extend((place, *found, _time(ancillary)))


def numbered(frame: bytes) -> tuple[int, int] | None:
    """Destination port and number of one of our packets; None for any other frame."""
    kind, begins = int.from_bytes(frame[12:14], "big"), 14
    if kind == ETH_VLAN:
        kind, begins = int.from_bytes(frame[16:18], "big"), 18
    if kind != ETH_IPV4 or len(frame) < begins + 32 or frame[begins + 9] != UDP:
        return None
    port = int.from_bytes(frame[begins + 22 : begins + 24], "big")
    return port, _NUMBER.unpack_from(frame, begins + 28)[0]


def read(file: Path, what: str) -> list[tuple[int, ...]]:
    """The records of a receiver's or a sniffer's file."""
    numbers, width = array("Q", file.read_bytes()), WIDTHS[what]
    return list(zip(*(numbers[place::width] for place in range(width)), strict=True))


def _stamped(made: socket.socket) -> None:
    made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER)


def _time(ancillary: list[tuple[int, int, bytes]]) -> int:
    seconds, nanoseconds = _TIME.unpack_from(ancillary[0][2])
    return int(seconds * 1_000_000_000 + nanoseconds)


@contextmanager
def _recorded(file: Path) -> Iterator[array[int]]:
    records = array("Q")
    try:
        yield records
    finally:
        file.write_bytes(records.tobytes())


def main() -> None:
    """One of the three, until SIGTERM."""
    what, file, *rest = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    match what:
        case "send":
            send(Path(file), int(rest[0]), rest[1], [int(port) for port in rest[2:]])
        case "receive":
            receive(Path(file), [int(port) for port in rest])
        case "sniff":
            sniff(Path(file), rest)
        case _:
            raise SystemExit(f"there is no {what!r}")


if __name__ == "__main__":
    main()
