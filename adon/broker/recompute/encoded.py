"""What a decision saw, as text: what the store keeps, which need not know what is in it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from adon.values import FrozenMap


@dataclass(frozen=True, slots=True)
class Encoded:
    """A snapshot as text.

    :param parts: text by digest: those that its encoder had not encoded before.
    """

    decision: str
    text: str
    parts: Mapping[str, str] = field(default_factory=FrozenMap)

    @property
    def digest(self) -> str:
        """The name of the whole."""
        return digest(self.text)


def digest(text: str) -> str:
    """SHA-256 (FIPS 180-4) as 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()
