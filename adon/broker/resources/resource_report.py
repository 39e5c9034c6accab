"""The read-out of the compute sites: what each has and offers, what flows hold of it, what is free now."""

from __future__ import annotations

from collections.abc import Mapping

from adon.broker.resources.amounts import KINDS
from adon.broker.resources.book import Book, Who
from adon.broker.resources.offer import Offer


def site_json(offer: Offer, book: Book, now: float) -> Mapping[str, object]:
    """One site as plain JSON values, SI units; what is not limited is not among the ``limits``."""
    wait = offer.queue_wait
    held = zip(KINDS, book.held.vector, strict=True)
    return {
        "name": offer.name,
        "campus": offer.campus,
        "limits": dict(book.limits.known_limits()),
        "held": {kind: amount for kind, amount in held if amount},
        "free": dict(book.free(now, now, now, Who("")).known_limits()),
        "flows": [f"f-{number}" for number in book.holds],
        "overdrawn": [one.words for one in book.find_shortages(now)],
        "node_rate": offer.node_rate,
        "queue_wait": None if wait is None else wait.mean,
        "queue_wait_deviation": None if wait is None else wait.deviation,
        "price_per_node_hour": offer.price_per_node_hour,
        "origin": offer.origin,
        "why": offer.why,
    }
