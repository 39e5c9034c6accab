"""Connections of switches: os-ken's protocol machine on a socket loop of our own.

os-ken's own loop (4.2, native hub) has four habits that a campus edge cannot afford, so only its parsers,
its handshake and its events are used:

- a switch that is gone is noticed only when the next keep-alive fails, up to two intervals later: here
  the end of the connection is the event;
- the thread that sends is never woken again after that, so each reconnect leaves threads behind;
- sending blocks when 16 messages wait: here it never does (nothing may delay a decision);
- a HELLO with an element of length 0 (OpenFlow 1.3.5, 7.5.1) is parsed for ever, before anybody knows
  who sent it.

A switch is asked for an echo when it was silent for :data:`SILENCE_S`, and is gone when it stays silent.
"""

from __future__ import annotations

import logging
import queue
import socket
import struct
import threading
import time
from collections.abc import Iterator

from os_ken import cfg
from os_ken.base.app_manager import OSKenApp
from os_ken.controller import ofp_event
from os_ken.controller.controller import Datapath
from os_ken.controller.handler import DEAD_DISPATCHER
from os_ken.controller.ofp_handler import OFPHandler
from os_ken.exception import OSKenException

from adon.errors import Unavailable
from adon.flowvisor import openflow

log = logging.getLogger(__name__)

SILENCE_S = 5.0
"""Silence after which an echo is asked for; also the longest that one write may take."""
SILENT_TIMES = 3
"""So many times in a row, and the switch is gone."""
OUTBOX_LIMIT = 10_000
"""Messages that may wait for one switch before it counts as gone."""
HEADER_SIZE = 8
OFPT_HELLO = 0


class Handshake(OFPHandler):  # type: ignore[misc]
    """os-ken's handshake, without the listener that comes with it."""

    def start(self) -> None:
        """Start the application's event thread only."""
        OSKenApp.start(self)


class Connection(Datapath):  # type: ignore[misc]
    """One switch's connection; see the module's text."""

    def __init__(self, connection: socket.socket, address: object) -> None:
        self._outbox: queue.SimpleQueue[tuple[bytes, bool] | None] = queue.SimpleQueue()
        super().__init__(connection, address)
        connection.settimeout(SILENCE_S)

    def send(self, buf: bytes, close_socket: bool = False) -> bool:
        """Queue bytes for the switch and return at once; False if it takes no more."""
        if self.state == DEAD_DISPATCHER:
            return False
        if self._outbox.qsize() >= OUTBOX_LIMIT:
            log.error("event=switch.slow address=%s waiting=%d", self.address, OUTBOX_LIMIT)
            self.close()
            return False
        self._outbox.put((bytes(buf), close_socket))
        return True

    def close(self) -> None:
        """End the connection: observers are told now, and the threads of it wake up."""
        self.set_state(DEAD_DISPATCHER)
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            log.debug("event=switch.closed-already address=%s", self.address)
        self._outbox.put(None)

    def serve(self) -> None:
        """Talk to the switch until the connection ends."""
        writer = threading.Thread(target=self._write_out, name=f"of-write-{self.address}", daemon=True)
        writer.start()
        try:
            self.send_msg(self.ofproto_parser.OFPHello(self))
            for version, kind, xid, data in self._messages():
                self._dispatch(version, kind, xid, data)
        finally:
            self.close()
            writer.join()
            self.socket.close()
            self.is_active = False

    def _messages(self) -> Iterator[tuple[int, int, int, bytes]]:
        """Whole messages: version, type, transaction id, bytes.

        :raises ValueError: for bytes that are not OpenFlow.
        """
        while (header := self._exactly(HEADER_SIZE)) is not None:
            version, kind, length, xid = struct.unpack("!BBHI", header)
            if length < HEADER_SIZE:
                raise ValueError(f"a message of length {length}")
            body = self._exactly(length - HEADER_SIZE)
            if body is None:
                return
            if kind == OFPT_HELLO:
                _check_hello(body)
            elif version != self.ofproto.OFP_VERSION:
                raise ValueError(f"a message of OpenFlow version 0x{version:02x}")
            yield version, kind, xid, header + body

    def _exactly(self, size: int) -> bytes | None:
        """So many bytes; None when the connection is over, or the switch silent for too long."""
        data, silent = b"", 0
        while len(data) < size:
            try:
                part = self.socket.recv(size - len(data))
            except TimeoutError:
                silent += 1
                if silent > SILENT_TIMES:
                    log.warning("event=switch.silent address=%s seconds=%g", self.address, silent * SILENCE_S)
                    return None
                self.send_msg(self.ofproto_parser.OFPEchoRequest(self))
                continue
            except OSError:
                return None
            if not part or self.state == DEAD_DISPATCHER:
                return None
            data, silent = data + part, 0
        return data

    def _dispatch(self, version: int, kind: int, xid: int, data: bytes) -> None:
        """Parse one message and give it to os-ken's handshake and to whoever observes, as os-ken does."""
        message = openflow.parsed(self, version, kind, xid, data)
        if message is None or self.ofp_brick is None:
            return
        event = ofp_event.ofp_msg_to_ev(message)
        self.ofp_brick.send_event_to_observers(event, self.state)
        for handler in list(self.ofp_brick.get_handlers(event, self.state)):
            handler(event)

    def _write_out(self) -> None:
        while (entry := self._outbox.get()) is not None:
            data, last = entry
            try:
                self.socket.sendall(data)
            except OSError as error:
                log.warning("event=switch.unwritable address=%s error=%r", self.address, str(error))
                last = True
            if last:
                break
        self.close()


def _check_hello(body: bytes) -> None:
    """Refuse a HELLO whose elements do not add up: os-ken's parser would not end.

    :raises ValueError: for an element shorter than its own header, or longer than the message.
    """
    offset = 0
    while offset < len(body):
        length = struct.unpack_from("!H", body, offset + 2)[0] if offset + 4 <= len(body) else 0
        if length < 4 or offset + length > len(body):
            raise ValueError(f"a HELLO element of length {length}")
        offset += (length + 7) // 8 * 8


def configure() -> None:
    """Give os-ken its options; it reads nothing from our command line."""
    cfg.CONF(args=[], project="os_ken")


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


def accept(listener: socket.socket) -> None:
    """Serve each switch that connects in a thread of its own: the body of the listening thread."""
    while True:
        try:
            connection, address = listener.accept()
        except OSError as error:
            log.warning("event=of.accept error=%r", error.strerror)
            time.sleep(0.2)  # out of descriptors: let some go before the next attempt
            continue
        threading.Thread(
            target=_serve, args=(connection, address), name=f"of-read-{address}", daemon=True
        ).start()


def _serve(connection: socket.socket, address: object) -> None:
    try:
        Connection(connection, address).serve()
    except (ValueError, OSKenException, struct.error) as error:
        log.warning("event=of.malformed address=%s error=%r", address, str(error))
    except Exception:
        # The outermost guard of a connection's thread: one switch's nonsense must not reach the others.
        log.exception("event=of.connection-failed address=%s", address)
