"""High availability: two or more controllers, of which one is active (docs/high-availability.md)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from adon.config.parts import Section, Span


class HighAvailability(Section):
    """This controller is one of several that share a PostgreSQL database.

    :param name: what this one is called in logs and answers; the host's name if none is given.
    :param lease: how long an active controller that is heard of no more keeps the others waiting.
    """

    name: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    lease: Annotated[Span, Field(ge=1, le=60)] = 5.0
