"""Connections of switches: os-ken's parsers and events on a socket loop of our own.

os-ken's own loop (4.2, native hub) has habits that a campus edge cannot afford, so only its parsers, the
end of its handshake and its events are used:

- a switch that is gone is noticed only when the next keep-alive fails, up to two intervals later: here
  the end of the connection is the event;
- the thread that sends is never woken again after that, so each reconnect leaves threads behind;
- sending blocks when 16 messages wait: here it never does (nothing may delay a decision);
- a length of 0 inside a message is parsed for ever: here every message is checked first
  (:mod:`adon.flowvisor.openflow.message_validation`);
- the version that is spoken is the highest, not the one we measured: here 1.3 where a switch has it
  (:mod:`adon.flowvisor.openflow.wire`).

A connection is *half open* until the switch has said who it is and which ports it has; for that it has a
deadline, whatever it sends.  Afterwards it is asked for an echo every ``echo_interval``, and is gone when
nothing comes for ``echo_misses`` intervals more.
"""

from __future__ import annotations

import logging
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from os_ken import cfg
from os_ken.base.app_manager import OSKenApp
from os_ken.controller import ofp_event
from os_ken.controller.controller import Datapath
from os_ken.controller.handler import (
    CONFIG_DISPATCHER,
    DEAD_DISPATCHER,
    HANDSHAKE_DISPATCHER,
    MAIN_DISPATCHER,
    set_ev_handler,
)
from os_ken.controller.ofp_handler import OFPHandler

from adon.flowvisor.openflow import message_validation, messages, wire
from adon.flowvisor.openflow.packets import PacketIn, read_packet_in
from adon.flowvisor.rules.cookie import Kind, cookie_kind
from adon.flowvisor.topology.path import dpid_text
from apps.campus_edge.gate import Gate, Refused
from apps.campus_edge.limits import Claim, PacketIns
from apps.campus_edge.outbox import Outbox
from apps.campus_edge.streams import Stream
from apps.campus_edge.tls import TLS_RECORD

log = logging.getLogger(__name__)

HELLO_PATIENCE_S = 1.0
"""A switch that waits for our HELLO gets it after so long: one of 1.3."""
HALF_OPEN_BYTES = 4 << 20
"""A switch that needs more than this to say who it is, is none."""
AT_ONCE_BYTES = 16_384
"""So much fits into a socket that can be written: Linux says so when a third of its buffer is free."""
HEADER = struct.Struct("!BBHI")
HEADER_SIZE = HEADER.size
SHOWN_AT_ONCE = 256
"""Of the packets that come together, so many are one event."""
OFPT_HELLO, OFPT_ECHO_REPLY, OFPT_PACKET_IN, OFPT_MULTIPART_REPLY = 0, 3, 10, 19
OWN_XID = 1
N_TABLES_AT = 20
"""Where in OFPT_FEATURES_REPLY the number of tables is (OpenFlow 1.3.5, 7.3.1)."""
_ANY_STATE = [HANDSHAKE_DISPATCHER, CONFIG_DISPATCHER, MAIN_DISPATCHER]


class Handshake(OFPHandler):  # type: ignore[misc]
    """os-ken's handshake after the HELLO, without the listener that comes with it."""

    def start(self) -> None:
        """Start the application's event thread only."""
        OSKenApp.start(self)

    @set_ev_handler(ofp_event.EventOFPErrorMsg, _ANY_STATE)  # type: ignore[untyped-decorator]
    def error_msg_handler(self, event: Any) -> None:
        """Nothing: the switchboard counts and logs errors; os-ken's own reads the switch's text as ASCII."""


class Connection(Datapath):  # type: ignore[misc]
    """One switch's connection; see the module's text.

    :param names: that its certificate proves.
    """

    def __init__(
        self, connection: socket.socket, address: Any, stream: Stream, names: frozenset[str], gate: Gate
    ) -> None:
        self._gate = gate
        self._stream = stream
        self._names = names
        self._outbox = Outbox()
        self._buffer = bytearray()
        self._taken = 0  # bytes of the buffer that are parsed already
        self._host = str(address[0])
        self._identified = False
        self._heard_at = self._opened_at = time.monotonic()
        self._echo_at = self._opened_at
        self._echo_xid: int | None = None
        self._said = 0
        self.n_tables = 0
        """Tables 0 to one less; known when ``id`` is."""
        settings = gate.terms.connections
        self._shown: list[tuple[int, bytes]] = []
        self._packet_ins = PacketIns(settings.packet_ins_per_second, settings.packet_ins_per_port)
        super().__init__(connection, address)
        self.set_version(wire.PREFERRED)

    # -- for the switchboard -------------------------------------------------------------------------------

    def send(self, buf: bytes, close_socket: bool = False, sent: Callable[[], None] | None = None) -> bool:
        """Send whole messages to the switch, or queue them, and return at once; False if it takes no more.

        :param sent: called, by the thread that writes, when the last byte left.
        """
        if self.state == DEAD_DISPATCHER:
            return False
        if not close_socket and self._sent_at_once(bytes(buf)):
            if sent is not None:
                sent()
            return True
        if not self._outbox.put(bytes(buf), last=close_socket, sent=sent):
            log.error("event=switch.slow address=%s reason=%r", self._host, "too much waits for it")
            self.close()
            return False
        return True

    def _sent_at_once(self, data: bytes) -> bool:
        """Write a little that the transport takes without waiting; False if it must be queued."""
        if len(data) > AT_ONCE_BYTES or not self._outbox.claim():
            return False
        try:
            if not self._stream.writable():
                return False
            self._stream.sendall(data)
        except OSError as error:
            self._unwritable(error)
            return False
        finally:
            self._outbox.release()
        return True

    def _unwritable(self, error: OSError) -> None:
        log.warning("event=switch.unwritable address=%s error=%r", self._host, str(error))
        self.close()

    def close(self) -> None:
        """End the connection: observers are told now, and the threads of it wake up."""
        self.set_state(DEAD_DISPATCHER)
        self._stream.shutdown()
        self._outbox.end()

    @property
    def claim(self) -> Claim:
        """How well this connection proves to be the switch that it says it is."""
        proven = self.id is not None and self._gate.terms.identity.proven(self.id, self._names)
        return Claim(self._host, proven, time.monotonic() - self._heard_at)

    @property
    def patience_s(self) -> float:
        """A switch that is there is never silent for longer: it answers an echo per interval."""
        return 1.5 * self._gate.terms.connections.echo_interval

    # -- the reading thread --------------------------------------------------------------------------------

    def set_state(self, state: str) -> None:
        """As os-ken's; a switch that completed its handshake is half open no more."""
        if state == MAIN_DISPATCHER and not self._identified:
            self._identified = True
            self._gate.half_open.leave(self._host)
        super().set_state(state)

    def serve(self) -> None:
        """Talk to the switch until the connection ends.

        :raises Refused: if it must end for a reason that is worth a line.
        """
        writer = threading.Thread(target=self._write_out, name=f"of-write-{self.address}", daemon=True)
        writer.start()
        try:
            if self._agree():
                for version, kind, xid, data in self._messages():
                    self._take(version, kind, xid, data)
        finally:
            self.close()
            writer.join()
            self._stream.close()
            self.is_active = False
            if not self._identified:
                self._gate.half_open.leave(self._host)

    def _agree(self) -> bool:
        """Exchange HELLOs and ask for the features; False if the switch hung up before."""
        ours = self._gate.terms.versions
        answered = self._has(HEADER_SIZE, time.monotonic() + HELLO_PATIENCE_S)
        if answered is None:
            ours = frozenset({wire.PREFERRED})
            self.send(wire.hello(ours, OWN_XID))
        message = self._message()
        if message is None:
            return False
        version, kind, xid, data = message
        if kind != OFPT_HELLO:
            tls = version == TLS_RECORD
            raise Refused(
                "malformed", "it speaks TLS, and this port plain TCP" if tls else "it says no HELLO"
            )
        try:
            theirs = wire.read_versions(version, data[HEADER_SIZE:])
        except ValueError as error:
            raise Refused("malformed", str(error)) from error
        chosen = wire.choose_version(theirs, ours)
        if chosen is None:
            self._disagree(version, theirs, xid, said_hello=answered is None)
            return False
        self.set_version(chosen)
        if answered is not None:
            self.send(wire.hello({chosen}, OWN_XID))
        self.set_state(CONFIG_DISPATCHER)
        self.send_msg(self.ofproto_parser.OFPFeaturesRequest(self))
        return True

    def _disagree(self, version: int, theirs: frozenset[int], xid: int, *, said_hello: bool) -> None:
        """Tell the switch, and the log, that no version is common; wait until it was told."""
        ours = self._gate.terms.versions
        text = f"no common version: it offers {_versions(theirs)}, and we speak {_versions(ours)}"
        if not said_hello:
            self.send(wire.hello(ours, OWN_XID))
        self.send(wire.hello_failed(max(1, min(version, max(ours))), text, xid), close_socket=True)
        while self._has(1, self._half_open_until):
            self._taken = len(self._buffer)  # until the writer ends the connection, after the error
        raise Refused("version", text)

    def _messages(self) -> Iterator[tuple[int, int, int, bytes]]:
        """Whole messages: version, type, transaction id, bytes.

        :raises Refused: for bytes that are not OpenFlow of the version agreed on.
        """
        while (message := self._message()) is not None:
            if message[0] != self.ofproto.OFP_VERSION:
                raise Refused("malformed", f"a message of OpenFlow version 0x{message[0]:02x}")
            yield message

    def _message(self) -> tuple[int, int, int, bytes] | None:
        if not self._has(HEADER_SIZE):
            return None
        version, kind, length, xid = HEADER.unpack_from(self._buffer, self._taken)
        if length < HEADER_SIZE:
            raise Refused("malformed", f"a message of length {length}")
        if not self._has(length):
            return None
        data = bytes(self._buffer[self._taken : self._taken + length])
        self._taken += length
        return version, kind, xid, data

    @property
    def _half_open_until(self) -> float:
        return self._opened_at + self._gate.terms.connections.handshake

    def _has(self, size: int, until: float | None = None) -> bool | None:
        """Whether so many bytes are there; False if the connection is over first, None if ``until`` is."""
        while len(self._buffer) - self._taken < size:
            if self._shown:
                self._hand_on()
            del self._buffer[: self._taken]
            self._taken = 0
            now = time.monotonic()
            if until is not None and now >= until:
                return None
            wake_at = self._keep_alive(now)
            try:
                part = self._stream.recv((wake_at if until is None else min(wake_at, until)) - now)
            except TimeoutError:
                self._give_up_if_silent()
                continue
            except OSError:
                return False
            if not part or self.state == DEAD_DISPATCHER:
                return False
            self._heard_at = time.monotonic()
            self._buffer += part
        return True

    def _keep_alive(self, now: float) -> float:
        """Ask for an echo when it is time; when to come back.

        :raises Refused: if the time to say who it is is over.
        """
        settings = self._gate.terms.connections
        if not self._identified:
            if now >= self._half_open_until:
                raise Refused("handshake", f"it did not say who it is within {settings.handshake:g} s")
            return self._half_open_until
        if now >= self._echo_at + settings.echo_interval:
            self._echo_at = now
            request = self.ofproto_parser.OFPEchoRequest(self)
            self._echo_xid = self.set_xid(request)
            self.send_msg(request)
        return self._echo_at + settings.echo_interval

    def _give_up_if_silent(self) -> None:
        """Called when nothing could be read: whoever stalled, bytes that wait in the socket count as heard.

        :raises Refused: if the switch has been silent for too long.
        """
        settings = self._gate.terms.connections
        silent = time.monotonic() - self._heard_at
        if self._identified and silent > settings.echo_interval * (settings.echo_misses + 1):
            raise Refused("silent", f"nothing came from {dpid_text(self.id)} for {silent:.1f} s")

    def _take(self, version: int, kind: int, xid: int, data: bytes) -> None:
        """Parse one message and give it to os-ken's handshake and to whoever observes, as os-ken does.

        :raises Refused: if it makes no sense, and the switch did not say yet who it is.
        """
        if not self._identified:
            self._half_open_bytes(len(data))
        if kind == OFPT_MULTIPART_REPLY and self.id is None:
            # os-ken would take the ports and call the handshake complete, with a switch that is nobody.
            raise Refused("malformed", "it reports something before it says who it is")
        try:
            message_validation.validate_message(version, kind, data)
            if kind == OFPT_PACKET_IN:
                packet = read_packet_in(data)
                if not self._lets_in(packet):
                    return
                if cookie_kind(packet.cookie) is Kind.REACTIVE:
                    self._show(packet)
                    return
            if kind == OFPT_ECHO_REPLY and xid == self._echo_xid:
                self._echo_xid = None
                self._gate.tally.echo(time.monotonic() - self._echo_at)
            message = messages.envelope(self, version, kind, xid, data)
            if message is None:
                message = self.ofproto_parser.msg_parser(self, version, kind, len(data), xid, data)
        except Exception as error:
            # os-ken's parsers raise whatever comes: AssertionError, KeyError, struct.error and its own.
            text = str(error) or type(error).__name__
            if not self._identified:
                raise Refused("malformed", text) from error
            # A switch that we know, with a message that we do not understand, still forwards.
            self._gate.record_malformed(dpid_text(self.id), text)
            return
        before = self.id
        self._dispatch(message)
        if self.id != before:
            self.n_tables = data[N_TABLES_AT]
            self._introduce(before)

    def _show(self, packet: PacketIn) -> None:
        """Packets that a reactive rule shows are handed on by themselves, those that come together as one.

        :raises ValueError: if the packet's port is not known.
        """
        if packet.in_port is None:
            raise ValueError("a packet-in without the port that the packet came in by")
        self._shown.append((packet.in_port, packet.frame))
        if len(self._shown) >= SHOWN_AT_ONCE:
            self._hand_on()

    def _hand_on(self) -> None:
        packets, self._shown = tuple(self._shown), []
        self._gate.shown(self, packets)

    def _half_open_bytes(self, size: int) -> None:
        self._said += size
        if self._said > HALF_OPEN_BYTES:
            raise Refused("handshake", f"it did not say who it is within {HALF_OPEN_BYTES >> 20} MB")

    def _lets_in(self, packet: PacketIn) -> bool:
        verdict = self._packet_ins.verdict(packet.cookie, packet.in_port, time.monotonic())
        if verdict == "taken" and self._identified:
            return True
        self._gate.tally.packet_in("early" if verdict == "taken" else verdict)
        return False

    def _dispatch(self, message: Any) -> None:
        if self.ofp_brick is None:
            return
        event = ofp_event.ofp_msg_to_ev(message)
        self.ofp_brick.send_event_to_observers(event, self.state)
        for handler in list(self.ofp_brick.get_handlers(event, self.state)):
            handler(event)

    def _introduce(self, before: int | None) -> None:
        """The switch said which it is: its certificate must not say otherwise; its pace applies from here."""
        if before is not None:
            raise Refused("malformed", f"it was {dpid_text(before)} and is {dpid_text(self.id)}")
        impostor = self._gate.terms.identity.impostor(self.id, self._names)
        if impostor is not None:
            raise Refused("certificate", f"it says it is {dpid_text(self.id)}, but {impostor}")
        pace = self._gate.terms.paces.get(self.id)
        if pace is not None:
            self._outbox.pace(pace)

    # -- the writing thread --------------------------------------------------------------------------------

    def _write_out(self) -> None:
        while (entry := self._outbox.take()) is not None:
            try:
                self._stream.sendall(entry.data)
            except OSError as error:
                self._unwritable(error)
                break
            if entry.sent is not None:
                entry.sent()
            if entry.last:
                break
        self.close()


def _versions(numbers: frozenset[int]) -> str:
    return ", ".join(map(wire.version_text, sorted(numbers))) or "none"


def configure() -> None:
    """Give os-ken its options; it reads nothing from our command line."""
    cfg.CONF(args=[], project="os_ken")
