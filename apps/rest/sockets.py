"""Where the web process listens: on a socket that is handed to it, or one it opens itself.

``adon serve`` passes the number of a descriptor.  systemd (``sd_listen_fds(3)``) passes descriptor 3 and
says so with ``LISTEN_FDS``, and with ``LISTEN_PID`` for whom it is meant: the socket of another process
is not for us.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

FIRST = 3
"""The first descriptor that systemd passes."""


def inherited(environment: Mapping[str, str], pid: int) -> int | None:
    """The descriptor that systemd's protocol hands to this process, or None.

    A supervisor in between cannot know our process id beforehand and leaves ``LISTEN_PID`` out.
    """
    if environment.get("LISTEN_FDS") != "1":
        return None
    meant_for = environment.get("LISTEN_PID")
    return FIRST if meant_for is None or meant_for == str(pid) else None


def listening(host: str, port: int, descriptor: int | None) -> socket.socket:
    """The socket to serve on.

    :param descriptor: a listening socket that was handed to us; None to open one.
    :raises OSError: if the address is taken, or the descriptor is no socket.
    """
    if descriptor is None:
        descriptor = socket.create_server((host, port), backlog=128).detach()
    os.set_inheritable(descriptor, False)
    # Made of a descriptor, a socket knows that its protocol is TCP, and so do those that it accepts:
    # asyncio turns Nagle's algorithm off (RFC 896) for no others, and every answer would wait 40 ms.
    return socket.socket(fileno=descriptor)
