"""How much of a TCP stream may be under way at a time: buffers that are set, not tuned by the kernel.

Whoever sets SO_RCVBUF to W gets 2 W of memory, of which the kernel advertises half: a window of W bytes
(socket(7), tcp(7)).  The sender's buffer is set to the same: it holds what was sent and not acknowledged.
Either alone would bound the stream; set on both ends they are what a person tunes with ``net.ipv4.tcp_rmem``
and ``tcp_wmem`` ([ADON] 5.3, figures 23 and 24), for these sockets only.  Setting them turns the kernel's
automatic tuning off, as it does for a person.

A window must be set before the connection is made: the scale of the window is agreed upon in its first two
packets (RFC 7323, 2.2).  Newer kernels let the advertised half grow with the size of packets (Linux 6.6); so
the window is clamped as well.
"""

from __future__ import annotations

import socket
from typing import Literal

LEAST = 4096
"""Bytes: below it the kernel takes its own minimum (tcp(7): 2048 to send, 256 to receive, doubled)."""
MOST = 1 << 30

# <asm-generic/socket.h>: as SO_SNDBUF and SO_RCVBUF, beyond what net.core allows; for CAP_NET_ADMIN.
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33


class NotGiven(OSError):
    """The kernel gives less than was asked for."""


Buffer = Literal["send", "receive"]
_OPTIONS = {"send": (SO_SNDBUFFORCE, socket.SO_SNDBUF), "receive": (SO_RCVBUFFORCE, socket.SO_RCVBUF)}
_BOUNDS = {"send": "net.core.wmem_max", "receive": "net.core.rmem_max"}


def limit(sock: socket.socket, buffer: Buffer, window: int) -> None:
    """Set one buffer of a socket that is not connected yet.

    :raises NotGiven: naming the setting that forbids it.
    """
    forced, ordinary = _OPTIONS[buffer]
    try:
        sock.setsockopt(socket.SOL_SOCKET, forced, window)
    except PermissionError:
        sock.setsockopt(socket.SOL_SOCKET, ordinary, window)
    given = sock.getsockopt(socket.SOL_SOCKET, ordinary) // 2
    if given < window:
        raise NotGiven(f"window: the kernel gives {given} of {window} bytes: raise {_BOUNDS[buffer]}")


def clamp(sock: socket.socket, window: int) -> None:
    """Bound what an accepted stream advertises; the receiving end's."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, window)
