"""The TCP side of an agent: who may ask, and what is done about what they ask."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from measurement.probes import wire
from measurement.probes.documents import order_from_json, report_to_json, value_from_json, value_to_json
from measurement.probes.findings import Failure, ProbeError
from measurement.probes.guarding import Allowance
from measurement.probes.line import Line, keep, refusal
from measurement.probes.orders import LONGEST_ECHO, SHORTEST_UDP, Throughput, Train
from measurement.probes.prober import Prober
from measurement.probes.responder import Responder
from measurement.probes.sessions import Allowances
from measurement.probes.streams import drain, echo
from measurement.probes.threads import Loads, Threads
from measurement.probes.train import Shape
from measurement.probes.train_sockets import LONGEST_SEND, TrainReceiver, train_socket
from measurement.probes.way_back import asker, send_sandwiches_back, send_train_back, until_quiet

LOG = logging.getLogger(__name__)
_BACKLOG = 256
_SPEAKS_WITHIN = 5
"""Seconds in which a client says its hello."""
_OUT_OF_FILES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


@dataclass(frozen=True, slots=True)
class Limits:
    """What an agent takes.

    :param packets: UDP probes that are answered, per source.
    :param connections: new connections, per source.
    :param strangers: connections at a time that have not proved that they know the key.
    :param known: connections at a time that have.
    :param loads: trains and transfers at a time.
    """

    packets: Allowance = Allowance(2000, 4000)  # noqa: RUF009 - frozen
    connections: Allowance = Allowance(100, 400)  # noqa: RUF009 - frozen
    strangers: int = 256
    known: int = 2000
    loads: int = 8


class Service:
    """An agent: responder and prober on one port number.

    :raises OSError: if the address is taken, or not ours.
    """

    def __init__(self, address: str, port: int, key: bytes, limits: Limits = Limits()) -> None:
        self._key = key
        self._limits = limits
        self._connections = Allowances(limits.connections, time.monotonic)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._listener = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            # The system keeps those to itself that say nothing: who times a handshake, or fills our tables.
            self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, _SPEAKS_WITHIN)
            self._listener.bind((address, port))
            self._listener.listen(_BACKLOG)
            self.port = int(self._listener.getsockname()[1])
            self._responder = Responder(address, self.port, Allowances(limits.packets, time.monotonic))
        except OSError:
            self._listener.close()
            raise
        self._threads = Threads()
        self._loads = Loads(limits.loads)
        self._prober = Prober(key, self._threads, self._loads)
        self._strangers = self._known = 0
        self._tasks = set[asyncio.Task[None]]()

    async def run(self) -> None:
        """Serve until cancelled; then everything that is under way ends, too."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._responder.socket, self._responder.readable)
        try:
            while True:
                try:
                    sock, source = await loop.sock_accept(self._listener)
                except OSError as error:
                    LOG.warning('event=not_accepted cause="%s"', error.strerror)
                    await asyncio.sleep(0.5 if error.errno in _OUT_OF_FILES else 0)
                    continue
                self._welcome(sock, str(source[0]))
        finally:
            loop.remove_reader(self._responder.socket)
            self._listener.close()
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)
            self._threads.close()
            self._responder.close()

    def _welcome(self, sock: socket.socket, source: str) -> None:
        if self._strangers >= self._limits.strangers or not self._connections.taken(source):
            LOG.info("event=connection_refused source=%s", source)
            sock.close()
            return
        self._begin(self._conversation(sock, source))

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _conversation(self, sock: socket.socket, source: str) -> None:
        with contextlib.closing(sock):
            self._strangers += 1
            try:
                keep(sock)
                line = await Line.accept(sock, self._key)
            except (wire.WireError, OSError, ProbeError) as error:
                LOG.info('event=not_known source=%s cause="%s"', source, error)
                return
            finally:
                self._strangers -= 1
            if self._known >= self._limits.known:
                LOG.warning("event=too_many_connections source=%s", source)
                return
            self._known += 1
            self._responder.open(line.keys)
            conversation = Conversation(
                line, self._responder, self._prober, self._threads, self._loads, self._begin
            )
            try:
                await conversation.run()
            except ProbeError:
                LOG.debug("event=ended source=%s", source)
            except (wire.WireError, ValueError) as error:
                LOG.warning('event=nonsense source=%s cause="%s"', source, error)
            except Exception:  # a task's outermost guard
                LOG.exception("event=fault source=%s", source)
            finally:
                conversation.end()
                self._responder.end(line.keys)
                self._known -= 1


class Conversation:
    """One authenticated connection, from the side that is asked."""

    def __init__(
        self,
        line: Line,
        responder: Responder,
        prober: Prober,
        threads: Threads,
        loads: Loads,
        begin: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
    ) -> None:
        self._line = line
        self._responder = responder
        self._prober = prober
        self._threads = threads
        self._loads = loads
        self._begin = begin
        self._orders = set[asyncio.Task[None]]()
        self._train: tuple[TrainReceiver, asyncio.Task[None]] | None = None

    async def run(self) -> None:
        """Answer until the other side ends it, or hands the connection over to a measurement.

        :raises ProbeError: at its end.
        :raises ValueError: if what comes makes no sense.
        """
        while True:
            message = await self._line.receive(wire.MOST_ORDER)
            what = message.get("do")
            if what == "probe":
                task = self._begin(self._order(message))
                self._orders.add(task)
                task.add_done_callback(self._orders.discard)
            elif what in ("echo", "drain"):
                await self._measured(message, self._echo if what == "echo" else self._drain)
                return
            else:
                await self._line.send(await self._answer(what, message))

    def end(self) -> None:
        """What is under way for it ends."""
        for task in self._orders:
            task.cancel()
        if self._train is not None:
            self._train[0].stop()

    async def _order(self, message: dict[str, Any]) -> None:
        number = {"id": message.get("id")}
        try:
            order = order_from_json(message.get("order"))
        except ValueError as error:
            answer = refusal(ProbeError(Failure.BAD_ORDER, str(error)))
        else:
            answer = {"ok": report_to_json(await self._prober.carry_out(order))}
        with contextlib.suppress(ProbeError):  # who asked is gone
            await self._line.send(number | answer)

    async def _answer(self, what: object, message: dict[str, Any]) -> dict[str, Any]:
        try:
            match what:
                case "status":
                    session = self._responder.session(self._line.keys)
                    counts = ("limited", "forged", "repeated")
                    return {"ok": {name: getattr(session, name) for name in counts}}
                case "train":
                    self._receive_train(message)
                    return {"ok": None}
                case "arrived":
                    return {"ok": await self._arrived(message)}
                case "train-back" | "sandwich-back":
                    source = self._responder.session(self._line.keys).source
                    to = asker(source, str(self._line.socket.getpeername()[0]))
                    send = send_train_back if what == "train-back" else send_sandwiches_back
                    with self._loads.one():
                        return {"ok": await send(message, to, self._line, self._threads)}
            return refusal(ProbeError(Failure.BAD_ORDER, f"do: {str(what)[:80]!r} is unknown"))
        except ProbeError as error:
            return refusal(error)
        except (KeyError, TypeError, ValueError) as error:
            return refusal(ProbeError(Failure.BAD_ORDER, f"{what}: {error}"))

    def _receive_train(self, message: dict[str, Any]) -> None:
        shape: Shape = Train(value_from_json(Shape, message["shape"], "shape")).shape
        source = self._responder.session(self._line.keys).source
        if source is None:
            raise ProbeError(Failure.BAD_ORDER, "train: no packet of this connection has come before")
        if self._train is not None:
            raise ProbeError(Failure.BUSY, "train: one is under way on this connection")
        self._loads.must_be_free()
        first, local = int(message["first"]), self._line.socket.getsockname()[:2]
        try:
            receiver = TrainReceiver(train_socket(local, source), self._line.keys, shape, first)
        except OSError as error:
            raise ProbeError(Failure.FAULT, f"train: no socket for it: {error.strerror}") from None
        self._train = (receiver, self._begin(self._taking(receiver)))

    async def _taking(self, receiver: TrainReceiver) -> None:
        with self._loads.one():
            await self._threads.run(receiver.receive, 3 * LONGEST_SEND)

    async def _arrived(self, message: dict[str, Any]) -> Any:
        if self._train is None:
            raise ProbeError(Failure.BAD_ORDER, "arrived: no train is under way")
        (receiver, task), self._train = self._train, None
        await until_quiet(receiver, task)
        return value_to_json(receiver.came(int(message["segments"])))

    async def _measured(
        self, message: dict[str, Any], work: Callable[[dict[str, Any]], Coroutine[Any, Any, None]]
    ) -> None:
        try:
            await work(message)
        except ProbeError as error:
            await self._line.send(refusal(error))
        except (KeyError, TypeError, ValueError) as error:
            await self._line.send(refusal(ProbeError(Failure.BAD_ORDER, str(error))))

    async def _echo(self, message: dict[str, Any]) -> None:
        length = int(message["length"])
        if not SHORTEST_UDP <= length <= LONGEST_ECHO:
            raise ProbeError(Failure.BAD_ORDER, f"length: {length} is not a length of echoes")
        await self._line.send({"ok": None})
        await self._threads.run(echo, self._line.socket, self._line.keys, length)

    async def _drain(self, message: dict[str, Any]) -> None:
        asked = Throughput(int(message["intervals"]), float(message["interval"]))
        with self._loads.one():
            await self._line.send({"ok": None})
            arguments = (self._line.socket, asked.intervals, asked.interval)
            counts = await self._threads.run(drain, *arguments)
        self._line.socket.setblocking(False)
        await self._line.send({"ok": counts})
