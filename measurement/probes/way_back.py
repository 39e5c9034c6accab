"""What a target sends to who asks it, on the same way as its answers: a train, or sandwiches.

A target sends nothing of this before a connection is authenticated, and then only to where genuine packets of
that connection came from, if that is the connection's own address: otherwise who knows the key could have
others sent to, by a false source.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Protocol

from measurement.instances import Instance
from measurement.probes import wire
from measurement.probes.documents import value_from_json, value_to_json
from measurement.probes.failing import named
from measurement.probes.findings import Failure, ProbeError
from measurement.probes.line import Line
from measurement.probes.orders import SandwichBack, TrainBack
from measurement.probes.sandwich import Apart, send_sandwiches
from measurement.probes.threads import Threads
from measurement.probes.train import Shape
from measurement.probes.train_sockets import QUIET, Sent, TrainReceiver, send_train
from measurement.probes.udp import Numbers, UdpPath

_LOOK = 0.05
_ASKER = "who-asks"


class Receiver(Protocol):
    """Notes what comes, in a thread."""

    @property
    def batches(self) -> int:
        """While this grows, something comes."""

    def receive(self, seconds: float, ended: Any) -> None:
        """Do so until the last came, or this long."""

    def stop(self) -> None:
        """Take no more."""


async def until_quiet(receiver: Receiver, taking: asyncio.Future[None]) -> None:
    """Wait until the last packet came, or none for a while; then no more is taken.

    :param taking: what the receiver does, in its thread.
    """
    before, quiet = -1, 0.0
    while not taking.done() and quiet < QUIET:
        quiet = 0.0 if receiver.batches != before else quiet + _LOOK
        before = receiver.batches
        await asyncio.wait([taking], timeout=_LOOK)
    receiver.stop()
    await asyncio.wait([taking])
    taking.result()


def train_from(path: UdpPath, keys: wire.Keys, shape: Shape, first: int) -> TrainReceiver:
    """Who asks: notes a train that the target sends.  The path's socket is the receiver's from now on.

    :param first: the number of its first packet.
    """
    return TrainReceiver(path.timed.socket, keys, shape, first, wire.Kind.BACK)


def asker(source: tuple[Any, ...] | None, peer: str) -> Instance:
    """The target: where to send.

    :param source: where the connection's last genuine packet came from.
    :param peer: the address of the connection's other end.
    :raises ProbeError: ``bad-order`` if there is none, or not this one's own.
    """
    if source is None:
        raise ProbeError(Failure.BAD_ORDER, "no packet of this connection has come before")
    if source[0] != peer:
        raise ProbeError(
            Failure.BAD_ORDER, f"packets came from {source[0]}, the connection from {peer}: nothing is sent"
        )
    try:
        return Instance(_ASKER, str(source[0]), int(source[1]))
    except ValueError as error:
        raise ProbeError(Failure.BAD_ORDER, f"where packets came from: {error}") from None


async def send_train_back(message: Mapping[str, Any], to: Instance, line: Line, threads: Threads) -> Any:
    """The target: send a train; what was sent, as JSON.

    :param message: with the ``shape``, and the number of the ``first`` packet.
    :raises ProbeError: as the network said.
    :raises ValueError: if the message is wrong, or wants too much; also ``KeyError`` and ``TypeError``.
    """
    shape = TrainBack(value_from_json(Shape, message["shape"], "shape")).shape
    first = _number(message, shape.burst * shape.bursts)
    work = partial(send_train, kind=wire.Kind.BACK)
    with _path_back(to, line, first) as path:
        sent: Sent = await threads.run(work, path, shape, first)
    return value_to_json(sent)


async def send_sandwiches_back(message: Mapping[str, Any], to: Instance, line: Line, threads: Threads) -> Any:
    """The target: send sandwiches; how far apart they were, as JSON.

    :param message: with the ``sandwich``, and the number of the ``first`` packet.
    :raises ProbeError: as the network said.
    :raises ValueError: likewise.
    """
    asked = value_from_json(SandwichBack, message["sandwich"], "sandwich")
    first = _number(message, 3 * asked.count)
    with _path_back(to, line, first) as path:
        sent: Apart = await threads.run(send_sandwiches, path, asked)
    return value_to_json(sent)


def as_asked(probe: SandwichBack) -> dict[str, Any]:
    """Sandwiches as the message to the target has them."""
    return {name: value for name, value in value_to_json(probe).items() if name != "kind"}


def _number(message: Mapping[str, Any], count: int) -> int:
    first = int(message["first"])
    if not 0 <= first < 2**32 - count:
        raise ValueError(f"first: {first} is no packet's number")
    return first


@contextlib.contextmanager
def _path_back(to: Instance, line: Line, first: int) -> Iterator[UdpPath]:
    """A path from the agent's own port; errors of the network have names.

    :param first: the number of the first packet.
    """
    try:
        path = UdpPath(to, line.keys, Numbers(first), line.socket.getsockname()[:2])
        with contextlib.closing(path):
            yield path
    except OSError as error:
        raise named(error, "the way back") from None
