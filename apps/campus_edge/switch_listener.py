"""The port that switches connect to: a socket, and a thread for each connection that comes.

Whoever reaches the port must not be able to end the thread that listens: what cannot be served is closed,
and the next one is waited for.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from typing import Any

from adon.errors import Unavailable
from apps.campus_edge.connections import Connection
from apps.campus_edge.gate import Gate, Refused

log = logging.getLogger(__name__)


def listen(host: str, port: int) -> socket.socket:
    """The socket that switches connect to.

    :raises Unavailable: if the port cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise Unavailable(
            f"controller.openflow_port: cannot listen on {host} port {port}: {error.strerror}"
        ) from error


def accept(listener: socket.socket, gate: Gate) -> None:
    """Serve each switch that connects in a thread of its own: the body of the listening thread."""
    while True:
        try:
            connection, address = listener.accept()
        except OSError as error:
            log.warning("event=of.accept error=%r", error.strerror)
            time.sleep(0.2)  # out of descriptors: let some go before the next attempt
            continue
        full = gate.half_open.enter(str(address[0]))
        if full is not None:
            connection.close()
            gate.record_refusal(str(address[0]), Refused("half_open", full))
            continue
        reader = threading.Thread(
            target=_serve, args=(connection, address, gate), name=f"of-read-{address}", daemon=True
        )
        try:
            reader.start()
        except RuntimeError as error:  # the machine has no thread left for us; the listener must live on
            log.warning("event=of.accept error=%r", str(error))
            gate.half_open.leave(str(address[0]))
            connection.close()


def _serve(connection: socket.socket, address: Any, gate: Gate) -> None:
    host = str(address[0])
    try:
        _open(connection, address, gate).serve()
    except Refused as refusal:
        gate.record_refusal(host, refusal)
    except OSError as error:
        gate.record_refusal(host, Refused("hung_up", str(error)))
    except Exception:
        # The outermost guard of a connection's thread: one switch's nonsense must not reach the others.
        log.exception("event=of.connection-failed address=%s", host)
    finally:
        connection.close()


def _open(connection: socket.socket, address: Any, gate: Gate) -> Connection:
    """The connection after TLS; what is not opened is half open no more."""
    try:
        deadline = time.monotonic() + gate.terms.connections.handshake
        stream, names = gate.stream(connection, deadline)
        return Connection(connection, address, stream, names, gate)
    except BaseException:
        gate.half_open.leave(str(address[0]))
        raise
