"""Who asks: packet trains to a target, and trains and sandwiches from it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from measurement.probes import orders
from measurement.probes.contact import ANSWER_TIMEOUT, Contact
from measurement.probes.documents import value_from_json, value_to_json
from measurement.probes.findings import Failure, ProbeError, TrainFound, Widened
from measurement.probes.line import Line
from measurement.probes.sandwich import Apart, SandwichReceiver
from measurement.probes.threads import Threads
from measurement.probes.train_sockets import LONGEST_SEND, Came, Sent, send_train
from measurement.probes.way_back import Receiver, as_asked, train_from, until_quiet
from measurement.probes.weighing import weighed


async def train(probe: orders.Train, contact: Contact, threads: Threads) -> TrainFound:
    """A train to the target.

    :raises ProbeError: why there is none.
    :raises OSError: as the network said.
    """
    line, way = await contact.line(), await contact.way()
    # Long packets alone beforehand: virtual links let those of any length pass that come several at a time.
    heard = await _shown(contact, threads, max(1, probe.echoes), there=probe.shape.packet)
    with way.path() as path:
        first = path.reserve(probe.shape.burst * probe.shape.bursts)
        shape = value_to_json(probe.shape)
        await line.ask("train", ANSWER_TIMEOUT, shape=shape, first=first)
        sent = await threads.run(send_train, path, probe.shape, first)
        answer = await line.ask("arrived", ANSWER_TIMEOUT + LONGEST_SEND, segments=probe.segments)
        came = value_from_json(Came, answer, "arrived")
        if came.stepped:
            raise ProbeError(Failure.CLOCK_STEPPED, "the receiver's clock was set during the train")
        path.time_again()
    return _weighed(probe, sent, came, heard)


async def train_back(probe: orders.TrainBack, contact: Contact, threads: Threads) -> TrainFound:
    """A train from the target.

    :raises ProbeError: why there is none.
    :raises OSError: as the network said.
    """
    line, way = await contact.line(), await contact.way()
    heard = await _shown(contact, threads, max(1, probe.echoes), back=probe.shape.packet)
    with way.last() as path:
        first = path.reserve(probe.shape.burst * probe.shape.bursts)
        receiver = train_from(path, line.keys, probe.shape, first)
        asked = {"shape": value_to_json(probe.shape), "first": first}
        answer = await _sent_back(line, threads, "train-back", asked, receiver)
        sent = value_from_json(Sent, answer, "sent")
        came = receiver.came(probe.segments)
    if came.stepped:
        raise ProbeError(Failure.CLOCK_STEPPED, "our clock was set during the train")
    return _weighed(probe, sent, came, heard)


async def sandwich_back(probe: orders.SandwichBack, contact: Contact, threads: Threads) -> Widened:
    """Sandwiches from the target.

    :raises ProbeError: why there are none.
    :raises OSError: as the network said.
    """
    line, way = await contact.line(), await contact.way()
    await _shown(contact, threads, 1)
    with way.path() as path:
        first = path.reserve(3 * probe.count)
        receiver = SandwichReceiver(path, probe, first)
        asked = {"sandwich": as_asked(probe), "first": first}
        answer = await _sent_back(line, threads, "sandwich-back", asked, receiver)
        found = receiver.found(value_from_json(Apart, answer, "sent"))
    way.saw(found, back=True)
    return found


async def _shown(
    contact: Contact, threads: Threads, echoes: int, there: int = 0, back: int = 0
) -> tuple[float, ...]:
    """Round trips on the path: the target knows where it begins from here on.

    :param there, back: as :meth:`measurement.probes.way.Way.show` has them.
    :raises ProbeError: ``unreachable`` or ``limited`` if there are none, ``too-large``.
    """
    way = await contact.way()
    heard = way.known(echoes, there, back)
    if heard is None:
        heard = await threads.run(way.show, echoes, there, back)
    if not heard:
        await contact.must_not_be_limited()
        raise ProbeError(Failure.UNREACHABLE, "its agent takes connections, but no UDP packets")
    return heard


async def _sent_back(
    line: Line, threads: Threads, what: str, asked: dict[str, Any], receiver: Receiver
) -> Any:
    """Have the target send, and take what comes; its answer."""
    longest = orders.LONGEST_BACK + LONGEST_SEND + ANSWER_TIMEOUT
    taking = asyncio.ensure_future(threads.run(receiver.receive, longest))
    try:
        answer = await line.ask(what, longest, **asked)
        await until_quiet(receiver, taking)
        return answer
    finally:
        receiver.stop()
        await asyncio.gather(taking, return_exceptions=True)


def _weighed(
    probe: orders.Train | orders.TrainBack, sent: Sent, came: Came, heard: tuple[float, ...]
) -> TrainFound:
    """What is found by a train of which so much was sent.

    :raises ProbeError: ``bad-order`` if not even a burst was.
    """
    if sent.bursts == 0:
        raise ProbeError(
            Failure.BAD_ORDER,
            f"a burst of {probe.shape.burst} packets takes this path above {LONGEST_SEND:g} s",
        )
    rtt = min(heard) if probe.echoes else None
    return weighed(replace(probe.shape, bursts=sent.bursts), came, rtt)
