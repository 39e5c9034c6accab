"""Numbered packets: sent at a rate, received, and seen on interfaces, with the kernel's own time.

``python -m benchmarks.packets send FILE RATE ADDRESS PORT...``, ``receive FILE PORT...``, ``sniff FILE
INTERFACE...``: each runs until SIGTERM, then writes FILE.  A flow is a port; RATE is of each.  Receivers take
the time from the kernel (SO_TIMESTAMPNS, CLOCK_REALTIME), so it does not matter when Python reads.  They read
every :data:`NAP_S`, since a wake-up per packet would take the processors from what is measured, and say
``ready`` when nothing escapes them any more.

The sender keeps to a schedule, and does not make up for more than :data:`CATCH_UP_S`: after the machine
was busy elsewhere, a burst would test buffers, not rules.
"""

from __future__ import annotations

import errno
import json
import signal
import socket
import struct
import subprocess
import sys
import time
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SO_TIMESTAMPNS = 35
"""Of Linux; Python 3.11 has no name for it."""
CATCH_UP_S = 0.002
NAP_S = 0.01
SIZE = 200
WIDTHS = {"receive": 3, "sniff": 4}
"""Numbers of a record: port, number, time; a sniffer's begins with the place of the interface."""
RECEIVE_BUFFER = 8 << 20
SO_RCVBUFFORCE = 33
ETH_ALL, ETH_VLAN, ETH_IPV4, UDP = 0x0003, 0x8100, 0x0800, 17

_NUMBER = struct.Struct("!I")
_TIME = struct.Struct("@qq")


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


def send(file: Path, rate: int, address: str, ports: Sequence[int]) -> None:
    """Send numbered packets of each flow in turn; the file says how many of each."""
    senders = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in ports]
    for sender, port in zip(senders, ports, strict=True):
        sender.connect((address, port))
    sent, padding = 0, bytes(SIZE - _NUMBER.size)
    due = time.monotonic()
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
    """Note port, number and time of every packet, of each flow in the order in which they arrive."""
    receivers = {port: socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for port in ports}
    for port, receiver in receivers.items():
        _stamped(receiver)
        receiver.bind(("", port))
    with _recorded(file) as records:
        while True:
            for port, receiver in receivers.items():
                for data, at, _ in _waiting(receiver, 64):
                    records.extend((port, _NUMBER.unpack_from(data)[0], at))
            time.sleep(NAP_S)


def sniff(file: Path, interfaces: list[str]) -> None:
    """Note interface (by its place in the list), UDP port, number and time of every packet that leaves."""
    taps = [_tap(name) for name in interfaces]
    with _recorded(file) as records:
        while True:
            for place, tap in enumerate(taps):
                for data, at, sender in _waiting(tap, 96):
                    found = numbered(data) if sender[2] == socket.PACKET_OUTGOING else None
                    if found is not None:
                        records.extend((place, *found, at))
            time.sleep(NAP_S)


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


def await_ready(listener: subprocess.Popen[Any]) -> None:
    """Wait until a receiver or sniffer, started with a pipe, notes all that comes."""
    assert listener.stdout is not None
    if not listener.stdout.readline():
        raise RuntimeError("a listener ended before it began")


def _tap(interface: str) -> socket.socket:
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_ALL))
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
        except OSError as error:
            if error.errno != errno.ENETDOWN:  # told once of an interface that was taken down
                raise
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
