"""A sender that is on and off by a schedule: ``python -m benchmarks.on_off ADDRESS BEGIN SCHEDULE``.

BEGIN is in seconds since 1970; SCHEDULE is JSON, ``[[on, off], ...]`` in seconds after that.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time
from contextlib import suppress

from benchmarks.transfer_ends import CHUNK, PORT


def main() -> None:
    """Send as fast as TCP lets while it is on."""
    address, begin, schedule = sys.argv[1], float(sys.argv[2]), json.loads(sys.argv[3])
    chunk = bytes(CHUNK)
    for on, off in schedule:
        time.sleep(max(0.0, begin + on - time.time()))
        with suppress(OSError), socket.create_connection((address, PORT), timeout=1.0) as to:
            # What still waits in the buffers when it goes off is dropped, not sent.
            to.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            to.settimeout(0.2)
            while time.time() < begin + off:
                with suppress(TimeoutError):
                    to.send(chunk)


if __name__ == "__main__":
    main()
