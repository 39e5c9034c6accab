"""What commands that measure share: trains as typed, agents, and an early end that keeps what there is."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from adon.errors import InvalidInput
from apps.cli.rounds import told

if TYPE_CHECKING:
    import asyncio

    from adon.config.instances import Instances
    from measurement.instances import Instance
    from measurement.probes.agent_client import AgentClient, ConnectAgent
    from measurement.probes.probe_types import TrainShape

EXIT_INTERRUPTED = 130
ENDING = (signal.SIGINT, signal.SIGTERM)

T = TypeVar("T")


def shape(text: str, *, back: bool = False) -> TrainShape:
    """A train as ``--train`` has it: bursts, ``x``, packets of each.

    :param back: whether targets are to send such a train back.
    :raises InvalidInput: if it is none, or no agent would send it.
    """
    from measurement.probes.probe_types import Train, TrainBack, TrainShape

    bursts, _, burst = text.partition("x")
    if not (bursts.isdecimal() and burst.isdecimal()):
        raise InvalidInput.of("--train", f"{text[:40]!r} is no train such as 10x200")
    with told("--train"):
        found = TrainShape(bursts=int(bursts), burst=int(burst))
        return (TrainBack if back else Train)(found).shape


def connecting(listed: Instances) -> ConnectAgent:
    """How the agents of an instances file are connected to.

    :raises InvalidInput: if it names no key, or a file that holds none.
    :raises Unavailable: if the key cannot be read.
    """
    from measurement.probes.agent_client import AgentClient
    from measurement.probes.secure_channel import read_key

    if listed.key_file is None:
        raise InvalidInput.of("key_file", "is required; the key of the probe agents")
    with told("key_file"):
        key = read_key(listed.key_file)

    async def connect(instance: Instance) -> AgentClient:
        return await AgentClient.connect(instance, key)

    return connect


def until_interrupted(work: Callable[[asyncio.Event], Awaitable[T]]) -> T:
    """Do it to its end; an interrupt sets the event instead of ending the program."""
    import asyncio

    async def doing() -> T:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        for number in ENDING:
            loop.add_signal_handler(number, stop.set)
        try:
            return await work(stop)
        finally:
            for number in ENDING:
                loop.remove_signal_handler(number)

    return asyncio.run(doing())


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Within, an interrupt does not end the program; whether there was one is asked of what this gives."""
    told = list[int]()
    before = {number: signal.signal(number, lambda which, _: told.append(which)) for number in ENDING}
    try:
        yield lambda: bool(told)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
