"""A long path between two TUN interfaces, in user space: rate, propagation delay, a queue that drops.

Where the kernel has no netem.  ``delay FD FD RATE DELAY QUEUE``: packets read from one descriptor are written
to the other when they would arrive: after those before them have been sent at RATE bits/s, and DELAY seconds
later.  Who would wait for more than QUEUE seconds is dropped.  The kernel's own TCP runs on both sides, and
sees a real RTT.
"""

from __future__ import annotations

import fcntl
import os
import selectors
import struct
import sys
import time
from collections import deque

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
LARGEST = 65_535
BATCH = 64


def open_tun(name: str) -> int:
    """A TUN interface of this name in this network namespace; it lives as long as the descriptor."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return device


class Direction:
    """Packets on their way from one descriptor to the other."""

    def __init__(self, source: int, sink: int, rate: float, delay: float, queue: float) -> None:
        self.source, self.sink = source, sink
        self.rate, self.delay, self.queue = rate, delay, queue
        self.free_at = 0.0
        self.under_way: deque[tuple[float, bytes]] = deque()

    def take(self, now: float) -> None:
        """Read what is there."""
        for _ in range(BATCH):
            try:
                packet = os.read(self.source, LARGEST)
            except BlockingIOError:
                return
            begins = max(now, self.free_at)
            if begins - now <= self.queue:
                self.free_at = begins + len(packet) * 8 / self.rate
                self.under_way.append((self.free_at + self.delay, packet))

    def give(self, now: float) -> float | None:
        """Write what has arrived; when the next one does."""
        while self.under_way and self.under_way[0][0] <= now:
            try:
                os.write(self.sink, self.under_way.popleft()[1])
            except OSError:
                continue  # the other side is not up (yet), or full: lost, as on any path
        return self.under_way[0][0] if self.under_way else None


def main() -> None:
    near, far = int(sys.argv[1]), int(sys.argv[2])
    shape = tuple(map(float, sys.argv[3:6]))
    ways = {near: Direction(near, far, *shape), far: Direction(far, near, *shape)}
    selector = selectors.DefaultSelector()
    for source in ways:
        selector.register(source, selectors.EVENT_READ)
    pause: float | None = None
    while True:
        for key, _ in selector.select(pause):
            ways[key.fd].take(time.monotonic())
        now = time.monotonic()
        due = [at for way in ways.values() if (at := way.give(now)) is not None]
        pause = max(0.0, min(due) - now) if due else None


if __name__ == "__main__":
    main()
