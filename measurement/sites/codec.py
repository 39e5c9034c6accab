"""Reports, orders, news and shapes as JSON, for the messages between processes.

What comes in is checked by the values' own rules; whatever it was, a ``ValueError`` says what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from measurement.sites.model import MOST_SHAPES, JobNews, JobOrder, Shape, SiteReport

Json = dict[str, Any]
AT_ONCE = 50
"""Orders in one message, which has its largest size."""


@cache
def _reports() -> TypeAdapter[SiteReport]:
    return TypeAdapter(SiteReport)


@cache
def _orders() -> TypeAdapter[JobOrder]:
    return TypeAdapter(JobOrder)


@cache
def _news() -> TypeAdapter[JobNews]:
    return TypeAdapter(JobNews)


@cache
def _shapes() -> TypeAdapter[tuple[Shape, ...]]:
    return TypeAdapter(tuple[Shape, ...])


def report_to_json(report: SiteReport) -> Json:
    """A report as an object."""
    body: Json = _reports().dump_python(report, mode="json")
    return body


def report_from_json(body: Mapping[str, Any]) -> SiteReport:
    """The inverse of :func:`report_to_json`.

    :raises ValueError: for what is none.
    """
    return _reports().validate_python(body)


def order_to_json(order: JobOrder) -> Json:
    """An order as an object."""
    body: Json = _orders().dump_python(order, mode="json")
    return body


def order_from_json(body: Mapping[str, Any]) -> JobOrder:
    """The inverse of :func:`order_to_json`.

    :raises ValueError: for what is none.
    """
    return _orders().validate_python(body)


def news_to_json(news: JobNews) -> Json:
    """News as an object."""
    body: Json = _news().dump_python(news, mode="json")
    return body


def news_from_json(body: Mapping[str, Any]) -> JobNews:
    """The inverse of :func:`news_to_json`.

    :raises ValueError: for what is none.
    """
    return _news().validate_python(body)


def shapes_to_json(shapes: Iterable[Shape]) -> Json:
    """Shapes as an object."""
    return {"items": _shapes().dump_python(tuple(shapes), mode="json")}


def shapes_from_json(body: Mapping[str, Any]) -> tuple[Shape, ...]:
    """The inverse of :func:`shapes_to_json`; at most as many as a site is asked about.

    :raises ValueError: for what is none.
    """
    return _shapes().validate_python(body.get("items"))[:MOST_SHAPES]


def orders_to_json(orders: Iterable[JobOrder]) -> Iterator[Json]:
    """All orders, some to a message; ``first`` says which message begins the list."""
    listed = [order_to_json(order) for order in orders]
    for begin in range(0, max(1, len(listed)), AT_ONCE):
        yield {"items": listed[begin : begin + AT_ONCE], "first": begin == 0}
