"""Programs that run on this machine as those of a testbed's hosts do, and ports for them."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Sequence
from typing import Any

ADDRESS = "127.0.0.1"


def popen(_host: str, argv: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
    """Start a program here, whatever the host; as :meth:`mininet_topos.testbed.Testbed.popen`."""
    return subprocess.Popen(list(argv), **options)


def free_port() -> int:
    """Return a TCP port of the loopback interface that no program uses now."""
    with socket.create_server((ADDRESS, 0)) as server:
        return int(server.getsockname()[1])
