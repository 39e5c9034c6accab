"""The UDP side of an agent: answers genuine packets with as many bytes, and nothing else with anything."""

from __future__ import annotations

import logging
import socket
import time
from dataclasses import dataclass, replace
from typing import Any

from measurement.probes import stamps, wire
from measurement.probes.sessions import Allowances, Session

LOG = logging.getLogger(__name__)
_TURN = 64
"""Packets that are taken at a time, so that connections have their turn, too."""
_BUFFER = 1 << 17
_RECEIVE_BUFFER = 1 << 20


@dataclass(frozen=True, slots=True)
class Reply:
    """What is to be done about a packet.

    :param packet: to be sent back; None for nothing.
    :param session: as it is from now on.
    """

    packet: wire.Packet | None
    session: Session


def judged(session: Session, data: bytes, source: tuple[Any, ...], said: stamps.Beside) -> Reply:
    """What a packet that claims to be of this session gets.  No clocks: the answer's stay is added later."""
    packet = wire.unpacked(data, session.keys.packets)
    if packet is None or packet.kind in (wire.Kind.ANSWER, wire.Kind.BACK):
        return Reply(None, replace(session, forged=session.forged + 1))
    window = session.window.accepting(packet.number)
    if window is None:
        return Reply(None, replace(session, repeated=session.repeated + 1))
    known = replace(session, window=window, source=source)
    if packet.kind != wire.Kind.ECHO or said.software is None:
        return Reply(None, known)
    answer = wire.Packet(
        wire.Kind.ANSWER,
        packet.session,
        packet.number,
        received=said.software,
        ttl=said.ttl or 0,
        after=window.has(packet.number - 1),
    )
    return Reply(answer, known)


class Responder:
    """See the module's text.  It belongs to one event loop.

    :param allowances: how often each source is answered.
    :raises OSError: if the address is taken, or not ours.
    """

    def __init__(self, address: str, port: int, allowances: Allowances) -> None:
        self._allowances = allowances
        self._sessions = dict[bytes, Session]()
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        try:
            # A train's own socket is bound to the same port, and connected to who sends it.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
            stamps.receive_stamps(self.socket)
            stamps.hop_limits(self.socket)
            self.socket.bind((address, port))
        except OSError:
            self.socket.close()
            raise

    def open(self, keys: wire.Keys) -> None:
        """From now on, packets of this connection are answered."""
        self._sessions[keys.session] = Session(keys)

    def session(self, keys: wire.Keys) -> Session:
        """What has come of a connection's packets."""
        return self._sessions[keys.session]

    def end(self, keys: wire.Keys) -> None:
        """Packets of this connection are strangers' again."""
        self._sessions.pop(keys.session, None)

    def readable(self) -> None:
        """Take what has come; called by the event loop."""
        for _ in range(_TURN):
            try:
                data, ancillary, _, source = self.socket.recvmsg(_BUFFER, stamps.ANCILLARY)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                LOG.info('event=udp_error cause="%s"', error.strerror)  # an ICMP message about an answer
                continue
            said = stamps.beside(ancillary)
            self.take(
                data, source, said if said.software is not None else replace(said, software=time.time_ns())
            )

    def take(self, data: bytes, source: tuple[Any, ...], said: stamps.Beside) -> None:
        """Deal with one packet."""
        name = wire.session_of(data)
        session = None if name is None else self._sessions.get(name)
        if name is None or session is None:
            return
        reply = judged(session, data, source, said)
        if reply.packet is not None and not self._allowances.taken(source[0]):
            reply = Reply(None, replace(reply.session, limited=session.limited + 1))
        self._sessions[name] = reply.session
        if reply.packet is not None:
            self._send(reply.packet, session, len(data), source)

    def close(self) -> None:
        """Stop listening."""
        self.socket.close()

    def _send(self, answer: wire.Packet, session: Session, length: int, source: tuple[Any, ...]) -> None:
        sealed = wire.answering(answer, session.keys.packets, length, stamps.offset_now())
        try:
            # The stay is read as late as can be: what follows is in what the asker measures.
            self.socket.sendto(sealed(max(0, time.time_ns() - answer.received)), source)
        except OSError as error:
            LOG.info('event=answer_not_sent cause="%s"', error.strerror)
