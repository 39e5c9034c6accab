"""Compute sites at work: a desk for each, and what the controller says to them.

A site that hangs delays no other, and nothing of this runs in the controller.  Only the collector that
measures speaks to sites; what it is told meanwhile it keeps.  What a job is about is the controller's: it
names the program, the text comes from the configuration here.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from adon.config import Configuration
from apps.collector import adapters
from apps.collector.desk import Desk
from apps.collector.keeper import Tell
from apps.link import LinkClient
from measurement.errors import shorten
from measurement.model import from_json, to_json
from measurement.sites import codec
from measurement.sites.model import JobNews, JobOrder

LOG = logging.getLogger(__name__)
ASKED = "sites.asked"
"""What is sent when we listen: the controller then says what is to be done about sites."""


class Desks:
    """The desks of all sites, and what the controller says to them."""

    def __init__(self, desks: Mapping[str, Desk], tell: Tell, clock: Callable[[], float] = time.time) -> None:
        self._desks = desks
        self._tell = tell
        self._clock = clock

    def shapes(self, payload: Mapping[str, Any]) -> None:
        """For which sizes of request T_q is wanted."""
        try:
            wanted = codec.shapes_from_json(payload)
        except ValueError:
            _bad("shapes", payload)
            return
        for desk in self._desks.values():
            desk.ask_for(wanted)

    def order(self, payload: Mapping[str, Any]) -> None:
        """One order, just given."""
        self._order(payload, again=False)

    def orders(self, payload: Mapping[str, Any]) -> None:
        """All orders there are, as far as they go into one message: the controller has just come."""
        if payload.get("first") is True:
            for desk in self._desks.values():
                desk.begin_anew()
        items = payload.get("items")
        for item in items if isinstance(items, list) else ():
            self._order(item, again=True)

    def _order(self, payload: Mapping[str, Any], *, again: bool) -> None:
        try:
            order = from_json(JobOrder, payload)
        except ValueError:
            _bad("job", payload)
            return
        desk = self._desks.get(order.site)
        if desk is not None:
            desk.take(order, again=again)
            return
        why = f"compute site {order.site} has no adapter any more"
        news = JobNews(order.number, self._clock(), None, error=why, refused=True)
        self._tell.send("job", to_json(news))


@contextmanager
def working(configuration: Configuration, link: LinkClient, leads: Callable[[], bool]) -> Iterator[None]:
    """Ask every compute site that has an adapter, and work on its jobs, until the end of the context."""
    desks = {
        name: Desk(name, site.adapter, partial(adapters.build, site, site.adapter), link, leads)
        for name, site in configuration.compute.items()
        if site.adapter is not None
    }
    told = Desks(desks, link)
    link.on("shapes", told.shapes)
    link.on("jobs", told.orders)
    link.on("job", told.order)
    link.send(ASKED, {})
    for desk in desks.values():
        desk.start()
    try:
        yield
    finally:
        for desk in desks.values():
            desk.stop()


def _bad(kind: str, payload: object) -> None:
    LOG.error("event=bad_message kind=%s payload=%s", kind, shorten(str(payload)))
