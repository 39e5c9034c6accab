"""Lists of orders and shapes as JSON, for the messages between processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from measurement.model import from_json, to_json
from measurement.sites.model import MOST_SHAPES, JobOrder, Shape

Json = dict[str, Any]
AT_ONCE = 50
"""Orders in one message, which has its largest size."""


def shapes_to_json(shapes: Iterable[Shape]) -> Json:
    """Shapes as an object."""
    return {"items": to_json(tuple(shapes), tuple[Shape, ...])}


def shapes_from_json(body: Mapping[str, Any]) -> tuple[Shape, ...]:
    """The inverse of :func:`shapes_to_json`; at most as many as a site is asked about.

    :raises ValueError: for what is none.
    """
    return from_json(tuple[Shape, ...], body.get("items"))[:MOST_SHAPES]


def orders_to_json(orders: Iterable[JobOrder]) -> Iterator[Json]:
    """All orders, some to a message; ``first`` says which message begins the list."""
    listed = [to_json(order) for order in orders]
    for begin in range(0, max(1, len(listed)), AT_ONCE):
        yield {"items": listed[begin : begin + AT_ONCE], "first": begin == 0}
