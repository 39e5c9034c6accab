"""How long what proves an identity may be good."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from pydantic import Field, model_validator

from adon.config.parts import Section, Span, raise_all

DAY_S = 86_400.0


class Credentials(Section):
    """Lifetimes of tokens and sessions (docs/access.md).

    :param token_lifetime: of a token for which nobody says another.
    :param longest_token_lifetime: that one may ask for.
    :param session_idle: without a request for so long, one must sign in again.
    :param session_lifetime: after so long one must in any case.
    :param most_tokens: of one user that are good at a time.
    """

    token_lifetime: Span = 90 * DAY_S
    longest_token_lifetime: Span = 366 * DAY_S
    session_idle: Span = 2 * 3600.0
    session_lifetime: Span = 12 * 3600.0
    most_tokens: int = Field(default=50, ge=1, le=10_000)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        raise_all(self._wrong())
        return self

    def _wrong(self) -> Iterator[str]:
        if self.token_lifetime > self.longest_token_lifetime:
            yield "token_lifetime: is above longest_token_lifetime"
        if self.session_idle > self.session_lifetime:
            yield "session_idle: is above session_lifetime"
