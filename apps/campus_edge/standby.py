"""The link of a controller that stands by: every command is refused, with the name of who is active.

It serves the same socket, so the web process of this host answers 503 with that name, and what it reads
from the shared database stays readable.  At the takeover this link is closed and the active one opened:
every process connects anew and is told what a new connection is told.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from adon.errors import Unavailable
from apps.link import LinkServer, Peer


def refusing(socket: Path, active: Callable[[], str]) -> LinkServer:
    """The link of a standby.

    :param active: who is active now, for people.
    """

    def receive(peer: Peer, kind: str, payload: dict[str, Any]) -> None:
        if kind == "hello" and peer.role == "collector":
            peer.send("standing", {"active": False})
        if "command" in payload:
            raise Unavailable(f"this controller stands by; the active one is {active()}", code="standby")

    return LinkServer(socket, receive)
