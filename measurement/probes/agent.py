"""Probe agent of an instance: answers the probes of others, and carries out orders.

One thread accepts connections, one answers UDP packets, and each connection has a thread of its own.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from measurement.instances import Instance
from measurement.probes import probe_types, wire
from measurement.probes.documents import from_document, to_document
from measurement.probes.findings import FailureCause, ProbeError, translate_os_error
from measurement.probes.packet_sequence import LONGEST_SEND, PacketPlan, SequenceReceiver, send_sequence
from measurement.probes.probe_types import ProbeOrder, TcpEcho, Throughput, check_range
from measurement.probes.prober import LoadSlots, Prober
from measurement.probes.replay_protection import RateLimit, SourceLimiter
from measurement.probes.responder import Responder, Session
from measurement.probes.round_trip import StopSignal
from measurement.probes.secure_channel import SecureChannel, refusal
from measurement.probes.tcp_probes import count_stream, echo_stream
from measurement.probes.udp_path import UdpPath
from measurement.probes.wire import PacketKind

LOG = logging.getLogger(__name__)
_BACKLOG = 256
_FIRST_BYTES_WITHIN = 5
"""Seconds in which a client sends its hello."""
_OUT_OF_RESOURCES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """Limits of an agent.

    :param packets: UDP probes that are answered, per source.
    :param connections: new connections, per source.
    :param unauthenticated: connections at a time that have not proved that they know the key.
    :param authenticated: connections at a time that have.
    :param loads: trains and transfers at a time.
    """

    packets: RateLimit = RateLimit(2000, 4000)  # noqa: RUF009 - frozen
    connections: RateLimit = RateLimit(100, 400)  # noqa: RUF009 - frozen
    unauthenticated: int = 256
    authenticated: int = 2000
    loads: int = 8


class ProbeAgent:
    """Agent on one port number, TCP and UDP.

    :raises OSError: if the address is in use, or not this host's.
    """

    def __init__(self, address: str, port: int, key: bytes, limits: AgentLimits = AgentLimits()) -> None:
        self._key = key
        self._sources = SourceLimiter(limits.connections, time.monotonic)
        self._unauthenticated = threading.Semaphore(limits.unauthenticated)
        self._authenticated = threading.Semaphore(limits.authenticated)
        self._stop = threading.Event()
        self._listener = _listen(address, port)
        try:
            self.port = int(self._listener.getsockname()[1])
            limiter = SourceLimiter(limits.packets, time.monotonic)
            self._responder = Responder(address, self.port, limiter)
        except OSError:
            self._listener.close()
            raise
        self._slots = LoadSlots(limits.loads)
        self._prober = Prober(key, self._slots)

    def run(self) -> None:
        """Serve until :meth:`stop` is called; everything that is under way ends, too."""
        responding = threading.Thread(target=self._responder.serve, args=(self._stop,), name="responder")
        responding.start()
        try:
            while not self._stop.is_set():
                self._accept()
        finally:
            self._stop.set()
            self._listener.close()
            responding.join()
            self._responder.close()

    def stop(self) -> None:
        """End :meth:`run`; a signal handler may call this, because that thread never locks the event."""
        self._stop.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes accept()

    def _accept(self) -> None:
        try:
            sock, address = self._listener.accept()
        except OSError as error:
            if not self._stop.is_set():
                LOG.warning('event=not_accepted cause="%s"', error.strerror)
                time.sleep(0.5 if error.errno in _OUT_OF_RESOURCES else 0.0)
            return
        source = str(address[0])
        if not self._sources.take_token(source) or not self._unauthenticated.acquire(blocking=False):
            LOG.info("event=connection_refused source=%s", source)
            sock.close()
            return
        try:
            threading.Thread(target=self._serve_client, args=(sock, source), daemon=True).start()
        except RuntimeError as error:  # the system's limit of threads
            LOG.warning('event=connection_refused source=%s cause="%s"', source, error)
            self._unauthenticated.release()
            sock.close()

    def _serve_client(self, sock: socket.socket, source: str) -> None:
        with contextlib.closing(sock):
            try:
                channel = SecureChannel.accept(sock, self._key)
            except (wire.WireError, OSError) as error:
                LOG.info('event=not_authenticated source=%s cause="%s"', source, error)
                return
            finally:
                self._unauthenticated.release()
            if not self._authenticated.acquire(blocking=False):
                LOG.warning("event=too_many_connections source=%s", source)
                return
            session = self._responder.open_session(channel.keys)
            try:
                AgentConnection(channel, session, self._prober, self._slots, self._stop).serve()
            except OSError:
                LOG.debug("event=ended source=%s", source)
            except ValueError as error:
                LOG.warning('event=invalid_message source=%s cause="%s"', source, error)
            except Exception:  # a thread's outermost guard
                LOG.exception("event=fault source=%s", source)
            finally:
                self._responder.close_session(session)
                self._authenticated.release()


class ClientStop:
    """Set when the agent stops, or the client of a connection has closed it."""

    def __init__(self, agent: StopSignal, channel: SecureChannel) -> None:
        self._agent = agent
        self._channel = channel

    def is_set(self) -> bool:
        """Return whether nobody needs the result any more."""
        return self._agent.is_set() or self._channel.peer_has_closed()


class AgentConnection:
    """One authenticated connection, from the agent's side."""

    def __init__(
        self, channel: SecureChannel, session: Session, prober: Prober, slots: LoadSlots, stop: StopSignal
    ) -> None:
        self._channel = channel
        self._session = session
        self._prober = prober
        self._slots = slots
        self._stop = ClientStop(stop, channel)
        self._agent_stop = stop

    def serve(self) -> None:
        """Answer requests until the client ends the connection, or a probe takes it over.

        :raises OSError: when the connection ends.
        :raises ValueError: for an invalid message.
        """
        self._channel.greet()
        what = ""
        while what not in _LAST_REQUESTS:
            message = self._channel.receive(limit=wire.MAX_REQUEST)
            what = str(message.get("do"))
            self._channel.send(self._answer(what, message))

    def _answer(self, what: str, message: Mapping[str, Any]) -> dict[str, Any]:
        if what not in _REQUESTS:
            return refusal(ProbeError(FailureCause.BAD_ORDER, f"do: {what[:80]!r} is unknown"))
        try:
            return {"ok": _REQUESTS[what](self, message)}
        except ProbeError as error:
            return refusal(error)
        except OSError as error:
            return refusal(translate_os_error(error, what))
        except (KeyError, TypeError, ValueError) as error:
            return refusal(ProbeError(FailureCause.BAD_ORDER, f"{what}: {error}"))

    def _probe(self, message: Mapping[str, Any]) -> Any:
        try:
            order = from_document(ProbeOrder, message.get("order"), "order")
        except ValueError as error:
            raise ProbeError(FailureCause.BAD_ORDER, str(error)) from None
        report = self._prober.carry_out(order, self._stop)
        if self._stop.is_set():
            raise ProbeError(FailureCause.VANISHED, "the agent stops: the order was not carried out")
        return to_document(report)

    def _status(self, _: Mapping[str, Any]) -> dict[str, int]:
        return {name: getattr(self._session, name) for name in ("limited", "forged", "repeated")}

    def _receive_sequence(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Receive a sequence; the client sends it after an answer, and then another message."""
        plan, first = _read_plan(message)
        longest = plan.seconds + 3 * LONGEST_SEND
        with self._take_slot(plan), self._client_path(first) as path:
            receiver = SequenceReceiver(
                path.socket, self._channel.keys, plan.packets, first, PacketKind.SEQUENCE
            )
            self._channel.send({"ok": None})
            receiver.receive(self._channel.socket, longest, self._agent_stop)
            self._channel.receive(longest, wire.MAX_REQUEST)
            return receiver.arrivals().to_json(plan.packets)

    def _send_sequence(self, message: Mapping[str, Any]) -> Any:
        plan, first = _read_plan(message)
        check_range("seconds", plan.seconds, 0, probe_types.LONGEST_BACK)
        with self._take_slot(plan), self._client_path(first) as path:
            return to_document(send_sequence(path, plan, first, PacketKind.SEQUENCE_BACK, self._stop))

    def _client_path(self, first: int) -> contextlib.closing[UdpPath]:
        """Return the path to the client, from the agent's own port.

        A holder of the key could have packets sent to another host, by a false source: only the address of
        the connection is accepted.
        """
        source, peer = self._session.source, self._channel.client_address
        if source is None:
            raise ProbeError(FailureCause.BAD_ORDER, "no packet of this connection has arrived before")
        if source[0] != peer:
            cause = f"packets came from {source[0]}, the connection from {peer}: nothing is sent"
            raise ProbeError(FailureCause.BAD_ORDER, cause)
        client = Instance("client", peer, int(source[1]))
        local = self._channel.socket.getsockname()[:2]
        return contextlib.closing(UdpPath(client, self._channel.keys, first, local))

    def _take_slot(self, plan: PacketPlan) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext() if plan.burst is None else self._slots.take()

    def _echo_stream(self, message: Mapping[str, Any]) -> None:
        probe = TcpEcho(int(message["length"]))
        self._channel.send({"ok": None})
        echo_stream(self._channel.socket, self._channel.keys, probe.length, self._agent_stop)

    def _count_stream(self, message: Mapping[str, Any]) -> list[int]:
        probe = Throughput(int(message["intervals"]), float(message["interval"]))
        with self._slots.take():
            self._channel.send({"ok": None})
            return count_stream(self._channel.socket, probe.intervals, probe.interval, self._agent_stop)


_REQUESTS: Mapping[str, Callable[[AgentConnection, Mapping[str, Any]], Any]] = {
    "probe": AgentConnection._probe,
    "status": AgentConnection._status,
    "receive": AgentConnection._receive_sequence,
    "send": AgentConnection._send_sequence,
    "echo": AgentConnection._echo_stream,
    "count": AgentConnection._count_stream,
}
_LAST_REQUESTS = ("echo", "count")
"""After these the connection has been used for a stream."""


def _read_plan(message: Mapping[str, Any]) -> tuple[PacketPlan, int]:
    """Return the plan of a sequence, and the number of its first packet."""
    plan = from_document(PacketPlan, message["plan"], "plan")
    first = int(message["first"])
    check_range("first", first, 0, 2**32 - plan.packets - 1)
    return plan, first


def _listen(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # The system keeps silent connections to itself: of clients that time a handshake, or of floods.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, _FIRST_BYTES_WITHIN)
        listener.bind((address, port))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener
