"""Numbered packets: sent at a rate, received, and seen on interfaces, with the kernel's own time.

``python -m benchmarks.packets send FILE RATE ADDRESS PORT``, ``receive FILE PORT``, ``sniff FILE
INTERFACE...``, ``arrive FILE INTERFACE PORT``: each runs until SIGTERM, then writes FILE.  Who receives takes
the time from the kernel (SO_TIMESTAMPNS, CLOCK_REALTIME), so it does not matter when Python gets round to
reading: it reads every :data:`NAP_S`, since a wake-up per packet would take the processors from what is
measured; it says ``ready`` when nothing escapes it any more.

The sender keeps to a schedule, and does not make up for more than :data:`CATCH_UP_S`: after the machine
was busy elsewhere, a burst would test buffers, not rules.
"""

from __future__ import annotations

import json
import signal
import socket
import struct
import subprocess
import sys
import time
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SO_TIMESTAMPNS = 35
"""Of Linux; Python 3.11 has no name for it."""
CATCH_UP_S = 0.002
NAP_S = 0.01
SIZE = 200
RECEIVE_BUFFER = 8 << 20
SO_RCVBUFFORCE = 33
ETH_ALL, ETH_VLAN, ETH_IPV4, TCP, UDP = 0x0003, 0x8100, 0x0800, 6, 17

_NUMBER = struct.Struct("!I")
_TIME = struct.Struct("@qq")


def main() -> None:
    """One of the three, until SIGTERM."""
    what, file, *rest = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    match what:
        case "send":
            send(Path(file), int(rest[0]), rest[1], int(rest[2]))
        case "receive":
            receive(Path(file), int(rest[0]))
        case "sniff":
            sniff(Path(file), rest)
        case "arrive":
            arrive(Path(file), rest[0], int(rest[1]))
        case _:
            raise SystemExit(f"there is no {what!r}")


def send(file: Path, rate: int, address: str, port: int) -> None:
    """Send numbered packets; the file says how many."""
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.connect((address, port))
    number, padding = 0, bytes(SIZE - _NUMBER.size)
    due = time.monotonic()
    try:
        while True:
            due = max(due + 1 / rate, time.monotonic() - CATCH_UP_S)
            time.sleep(max(0.0, due - time.monotonic()))
            sender.send(_NUMBER.pack(number) + padding)
            number += 1
    finally:
        file.write_text(json.dumps({"sent": number}))


def receive(file: Path, port: int) -> None:
    """Note the number and the time of every packet, in the order in which they arrive."""
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    _stamped(receiver)
    receiver.bind(("", port))
    with _recorded(file) as records:
        while True:
            for data, at, _ in _waiting(receiver, 64):
                records.extend((_NUMBER.unpack_from(data)[0], at))
            time.sleep(NAP_S)


def sniff(file: Path, interfaces: list[str]) -> None:
    """Note interface (by its place in the list), UDP port, number and time of every packet that leaves."""
    taps = [_tap(name, ETH_ALL) for name in interfaces]
    with _recorded(file) as records:
        while True:
            for place, tap in enumerate(taps):
                for data, at, sender in _waiting(tap, 96):
                    found = numbered(data) if sender[2] == socket.PACKET_OUTGOING else None
                    if found is not None:
                        records.extend((place, *found, at))
            time.sleep(NAP_S)


def arrive(file: Path, interface: str, port: int) -> None:
    """Note the time of every TCP segment with data that arrives for a port."""
    tap = _tap(interface, ETH_IPV4)
    with _recorded(file) as records:
        while True:
            for data, at, sender in _waiting(tap, 96):
                if sender[2] == socket.PACKET_HOST and carries(data, port):
                    records.append(at)
            time.sleep(NAP_S)


def carries(frame: bytes, port: int) -> bool:
    """Whether an untagged IPv4 frame is a TCP segment with data for this port."""
    if len(frame) < 54 or frame[23] != TCP or int.from_bytes(frame[36:38], "big") != port:
        return False
    length = int.from_bytes(frame[16:18], "big")
    return length > (frame[14] & 15) * 4 + (frame[46] >> 4) * 4


def numbered(frame: bytes) -> tuple[int, int] | None:
    """Destination port and number of one of our packets; None for any other frame."""
    kind, begins = int.from_bytes(frame[12:14], "big"), 14
    if kind == ETH_VLAN:
        kind, begins = int.from_bytes(frame[16:18], "big"), 18
    if kind != ETH_IPV4 or len(frame) < begins + 32 or frame[begins + 9] != UDP:
        return None
    port = int.from_bytes(frame[begins + 22 : begins + 24], "big")
    return port, _NUMBER.unpack_from(frame, begins + 28)[0]


def read(file: Path, width: int) -> list[tuple[int, ...]]:
    """The records of a file, of so many numbers each."""
    numbers = array("Q", file.read_bytes())
    return list(zip(*(numbers[place::width] for place in range(width)), strict=True))


def await_ready(listener: subprocess.Popen[Any]) -> None:
    """Wait until a receiver or sniffer, started with a pipe, notes all that comes."""
    assert listener.stdout is not None
    if not listener.stdout.readline():
        raise RuntimeError("a listener ended before it began")


def _tap(interface: str, kind: int) -> socket.socket:
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(kind))
    _stamped(tap)
    tap.bind((interface, 0))
    return tap


def _stamped(made: socket.socket) -> None:
    made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER)
    made.setblocking(False)


def _waiting(reader: socket.socket, size: int) -> Iterator[tuple[bytes, int, Any]]:
    """What has come: the beginning of each packet, its time in nanoseconds, its sender."""
    while True:
        try:
            data, ancillary, _, sender = reader.recvmsg(size, 64)
        except BlockingIOError:
            return
        seconds, nanoseconds = _TIME.unpack_from(ancillary[0][2])
        yield data, seconds * 1_000_000_000 + nanoseconds, sender


@contextmanager
def _recorded(file: Path) -> Iterator[array[int]]:
    records = array("Q")
    try:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        yield records
    finally:
        file.write_bytes(records.tobytes())


if __name__ == "__main__":
    main()
