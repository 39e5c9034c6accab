"""UDP side of an agent: answers genuine packets with as many bytes, and no other packet."""

from __future__ import annotations

import logging
import socket
import time
from dataclasses import dataclass, field, replace
from typing import Any

from measurement.probes import kernel_timestamps as timestamps
from measurement.probes import wire
from measurement.probes.kernel_timestamps import PacketInfo
from measurement.probes.replay_protection import ReplayWindow, SourceLimiter
from measurement.probes.round_trip import SLICE, StopSignal
from measurement.probes.wire import PacketKind, ProbePacket

LOG = logging.getLogger(__name__)
_BUFFER = 1 << 17
_RECEIVE_BUFFER = 1 << 20


@dataclass(slots=True)
class Session:
    """Packets of one connection, as they have arrived so far.

    :param source: where the last genuine packet came from; None before the first.
    :param limited, forged, repeated: packets that were not answered, by cause.
    """

    keys: wire.ConnectionKeys
    window: ReplayWindow = field(default_factory=ReplayWindow)
    source: tuple[Any, ...] | None = None
    limited: int = 0
    forged: int = 0
    repeated: int = 0

    def accept(self, data: bytes, source: tuple[Any, ...], info: PacketInfo) -> ProbePacket | None:
        """Note a packet that names this session; return the answer to it, if any."""
        packet = wire.read_packet(data, self.keys.packets)
        if packet is None or packet.kind in (PacketKind.ANSWER, PacketKind.SEQUENCE_BACK):
            self.forged += 1
            return None
        window = self.window.accept(packet.number)
        if window is None:
            self.repeated += 1
            return None
        after = self.window.has(packet.number - 1)
        self.window, self.source = window, source
        if packet.kind != PacketKind.ECHO or info.software is None:
            return None
        return replace(packet, kind=PacketKind.ANSWER, received=info.software, ttl=info.ttl or 0, after=after)


class Responder:
    """Answers the packets of open sessions, in a thread of its own.

    :param limiter: how often each source is answered.
    :raises OSError: if the address is in use, or not this host's.
    """

    def __init__(self, address: str, port: int, limiter: SourceLimiter) -> None:
        self._limiter = limiter
        self._sessions = dict[bytes, Session]()
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        try:
            # The socket of a sequence is bound to the same port, and connected to the sender.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
            timestamps.enable_receive_timestamps(self._socket)
            timestamps.enable_hop_limits(self._socket)
            self._socket.settimeout(SLICE)
            self._socket.bind((address, port))
        except OSError:
            self._socket.close()
            raise

    def open_session(self, keys: wire.ConnectionKeys) -> Session:
        """Answer the packets of this connection from now on."""
        session = self._sessions[keys.session] = Session(keys)
        return session

    def close_session(self, session: Session) -> None:
        """Answer them no more."""
        self._sessions.pop(session.keys.session, None)

    def serve(self, stop: StopSignal) -> None:
        """Answer packets until the signal is set."""
        while not stop.is_set():
            try:
                data, ancillary, _, source = self._socket.recvmsg(_BUFFER, timestamps.ANCILLARY)
            except TimeoutError:
                continue
            except OSError as error:  # an ICMP message about an answer
                LOG.info('event=udp_error cause="%s"', error.strerror)
                continue
            info = timestamps.read_packet_info(ancillary)
            if info.software is None:
                info = replace(info, software=time.time_ns())
            self.handle_packet(data, source, info)

    def handle_packet(self, data: bytes, source: tuple[Any, ...], info: PacketInfo) -> None:
        """Answer one packet, if it is to be answered."""
        name = wire.read_session(data)
        session = None if name is None else self._sessions.get(name)
        answer = None if session is None else session.accept(data, source, info)
        if session is None or answer is None:
            return
        if not self._limiter.take_token(source[0]):
            session.limited += 1
            return
        seal = wire.seal_answer(answer, session.keys.packets, len(data))
        try:
            # The stay is read as late as possible: the rest is in the measured round trip.
            self._socket.sendto(seal(max(0, time.time_ns() - answer.received)), source)
        except OSError as error:
            LOG.info('event=answer_not_sent cause="%s"', error.strerror)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
