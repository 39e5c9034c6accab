"""What the API answers about waiting: what a flow waits for, and its place in the queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import Field

from apps.rest.models import View
from apps.rest.times import Time


class WaitingView(View):
    """What a waiting flow waits for."""

    id: str
    at: Time
    phase: str = Field(description="asleep, calm, hurried (its deadline is near) or due (reserved)")
    before: int = Field(description="flows that are before it")
    waiting: int = Field(description="all flows that wait")
    expires_at: Time | None
    not_overtaken_from: Time | None = Field(
        description="no flow that comes later than this is ever before it"
    )
    claims: bool = Field(description="what it waits for is kept for it")
    waits_for: list[str]

    @classmethod
    def answered(cls, body: Mapping[str, Any]) -> Self:
        """What the controller answered."""
        return cls.model_validate(body)
