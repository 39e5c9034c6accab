"""Both ends of real transfers on one machine, told what to send on standard input, line by line as JSON.

``{"send": 7, "to": [["10.64.0.2", 1000000], ...]}`` sends all of these at once, each over a connection of its
own, and answers ``{"sent": 7}`` when the last byte of the last has arrived.  ``{"left": 7}`` is answered by
``{"left": 7, "bytes": [...]}``: what has still to be sent of each.  Everything that arrives is thrown away.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
from typing import Any

PORT = 5201
CHUNK = 1 << 16


class Sending:
    """Some transfers under way."""

    def __init__(self, number: int, to: list[tuple[str, int]]) -> None:
        self.number = number
        self.left = [size for _, size in to]
        self._threads = [
            threading.Thread(target=self._send, args=(index, address), daemon=True)
            for index, (address, _) in enumerate(to)
        ]

    def run(self) -> None:
        """Send all, and say when that is over."""
        for thread in self._threads:
            thread.start()
        for thread in self._threads:
            thread.join()
        say({"sent": self.number})

    def _send(self, index: int, address: str) -> None:
        chunk = memoryview(bytes(CHUNK))
        with socket.create_connection((address, PORT)) as to:
            while self.left[index]:
                self.left[index] -= to.send(chunk[: min(CHUNK, self.left[index])])
            to.shutdown(socket.SHUT_WR)
            to.recv(1)  # the other end closes when it has everything


_saying = threading.Lock()


def say(message: dict[str, Any]) -> None:
    """One line of answer."""
    with _saying:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def discard(connection: socket.socket) -> None:
    """Take everything that comes."""
    buffer = bytearray(1 << 18)
    with connection, contextlib.suppress(ConnectionError):
        while connection.recv_into(buffer):
            pass


def accept(listener: socket.socket) -> None:
    """Take everybody who comes."""
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=discard, args=(connection,), daemon=True).start()


def main() -> None:
    """Until standard input ends."""
    listener = socket.create_server(("", PORT), backlog=128)
    threading.Thread(target=accept, args=(listener,), daemon=True).start()
    say({"ready": True})
    sendings: dict[int, Sending] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if "left" in asked:
            say({"left": asked["left"], "bytes": sendings[asked["left"]].left})
            continue
        made = sendings[asked["send"]] = Sending(asked["send"], [(a, int(n)) for a, n in asked["to"]])
        threading.Thread(target=made.run, daemon=True).start()


if __name__ == "__main__":
    main()
