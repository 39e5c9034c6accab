"""Probe agents for commands that measure: trains, connections, and interrupts that keep the results."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from adon.errors import InvalidInput
from apps.cli.common import option_errors

if TYPE_CHECKING:
    import asyncio

    from adon.config.instances import Instances
    from measurement.instances import Instance
    from measurement.probes.agent_client import AgentClient, ConnectAgent
    from measurement.probes.probe_types import TrainShape

ENDING = (signal.SIGINT, signal.SIGTERM)

T = TypeVar("T")


def parse_train(text: str, *, back: bool = False) -> TrainShape:
    """Return a train in the form of ``--train``: bursts, ``x``, packets of each.

    :param back: whether targets send such a train back.
    :raises InvalidInput: for another text, or a train that no agent sends.
    """
    from measurement.probes.probe_types import Train, TrainBack, TrainShape

    bursts, _, burst = text.partition("x")
    if not (bursts.isdecimal() and burst.isdecimal()):
        raise InvalidInput.of("--train", f"{text[:40]!r} is not a train; expected for example 10x200")
    with option_errors("--train"):
        found = TrainShape(bursts=int(bursts), burst=int(burst))
        return (TrainBack if back else Train)(found).shape


def connect_agents(listed: Instances) -> ConnectAgent:
    """Return the function that connects to an agent of an instances file.

    :raises InvalidInput: if it names no key, or a file without a key.
    :raises Unavailable: if the key cannot be read.
    """
    from measurement.probes.agent_client import AgentClient
    from measurement.probes.secure_channel import read_key

    if listed.key_file is None:
        raise InvalidInput.of("key_file", "is required; the key of the probe agents")
    with option_errors("key_file"):
        key = read_key(listed.key_file)

    async def connect(instance: Instance) -> AgentClient:
        return await AgentClient.connect(instance, key)

    return connect


def run_until_interrupted(work: Callable[[asyncio.Event], Awaitable[T]]) -> T:
    """Run to the end; an interrupt sets the event instead of ending the program."""
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
def catch_interrupts() -> Iterator[Callable[[], bool]]:
    """Keep interrupts from ending the program; yield a function that returns whether there was one."""
    received = list[int]()
    before = {number: signal.signal(number, lambda which, _: received.append(which)) for number in ENDING}
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
