"""A flow as if it had asked for something else: to decide about it without anything being kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from adon.broker.flow import Flow
from adon.broker.world import World

NOBODY = 0
"""A number that no flow has."""


@contextmanager
def supposed(world: World, flow: Flow, **changes: object) -> Iterator[Flow]:
    """The flow with another request; the register forgets it afterwards."""
    request = flow.request.model_copy(update=changes)
    size = request.size if "size" in changes else flow.transfer_size
    try:
        yield replace(flow, number=NOBODY, request=request, transfer_size=size, booking=None)
    finally:
        world.flows.forget(NOBODY)
