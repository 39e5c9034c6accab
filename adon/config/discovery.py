"""How links between switches are found and watched."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from adon.config.parts import Section, Span
from adon.units import Duration


class LinkDiscovery(Section):
    """Link discovery by LLDP (docs/discovery.md); off unless asked for: an edge without links needs none.

    :param hello: between two frames of a port; below one second the controller itself becomes the load (R14).
    :param dead_after: a link is gone when so many in a row were missed.
    :param debounce: a port that came up is trusted after so long; one that went down is never waited for.
    :param flap_penalty: a link that went down twice is not used for so long; each further time doubles it.
    :param flap_penalty_cap: but it is never longer.
    :param flap_forgiven: one failure is forgotten for each such time without another.
    :param key_file: holds 64 hex digits, the key that signs frames: controllers that stand by for each other
        share it. Without one a new key is made at every start.
    """

    enabled: bool = False
    hello: Annotated[Span, Field(ge=1, le=60)] = 1.0
    dead_after: int = Field(default=3, ge=2, le=20)
    debounce: Annotated[Duration, Field(ge=0.1, le=30)] = 1.0
    flap_penalty: Span = 10.0
    flap_penalty_cap: Span = 600.0
    flap_forgiven: Span = 60.0
    key_file: str | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.flap_penalty_cap < self.flap_penalty:
            raise ValueError("flap_penalty_cap: is shorter than flap_penalty, the first penalty")
        return self

    @property
    def window(self) -> float:
        """How long a hello is believed, s: until so many were missed, and half an interval for their way."""
        return (self.dead_after + 0.5) * self.hello
