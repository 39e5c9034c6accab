"""Self-service: when a researcher may register a template without a performance engineer."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from adon.config.parts import Section

Share = Annotated[float, Field(gt=0, le=1)]


class SelfService(Section):
    """What is asked of the earlier template that a new one is like (docs/template-drafts.md).

    :param similarity: at least so alike.
    :param outcomes: its flows left at least so many.
    :param kept: at least this share of them kept the QSpec, by the lower end of Wilson's interval.
    """

    similarity: Share = 0.9
    outcomes: int = Field(default=20, ge=1)
    kept: Share = 0.8
