"""A task as it is posted: test, schedule, reference, key; pure.

``schedule`` is always there: without it a server answers 500.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from measurement.pscheduler.iso8601 import format_duration, format_timestamp
from measurement.pscheduler.specs import TestRequest


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a task runs.

    :param slip: seconds a run may start late; without slip a conflict kills it.
    :param start: seconds from posting; None means as soon as possible.
    :param start_at: absolute start by the server's clock, to the nearest whole second; a server starts a
        task whose time has passed at once.
    :param repeat: seconds between runs; None means one run.
    :param until: absolute end of a repeating task.
    :raises ValueError: for a repeat interval of zero, which stops a real server's scheduler, or two starts.
    """

    slip: float = 300.0
    start: float | None = None
    repeat: float | None = None
    until: float | None = None
    max_runs: int | None = None
    start_at: float | None = None

    def __post_init__(self) -> None:
        if self.start is not None and self.start_at is not None:
            raise ValueError("start: is given twice, from posting and absolute")
        if self.repeat is not None and not self.repeat > 0:
            raise ValueError(f"repeat: {self.repeat!r} must be above zero")

    @property
    def document(self) -> dict[str, object]:
        """The ``schedule`` object of a task."""
        fields: dict[str, object] = {"slip": format_duration(self.slip)}
        if self.start is not None:
            fields["start"] = format_duration(self.start)
        if self.start_at is not None:
            fields["start"] = format_timestamp(round(self.start_at))
        if self.repeat is not None:
            fields["repeat"] = format_duration(self.repeat)
        if self.until is not None:
            fields["until"] = format_timestamp(self.until)
        if self.max_runs is not None:
            fields["max-runs"] = self.max_runs
        return fields


def body(test: TestRequest, schedule: Schedule, reference: Mapping[str, str], key: str) -> dict[str, object]:
    """What is posted."""
    return {
        "schema": 1,
        "test": test.document,
        "schedule": schedule.document,
        "reference": dict(reference),
        "_key": key,
    }


def new_key(secret: bytes | None, reference: str) -> str:
    """The key of a task: random, or derived, so that who has the secret can cancel it after a restart.

    A task of two participants can be cancelled with its key only.
    """
    if secret is None:
        return secrets.token_urlsafe(24)
    return hmac.new(secret, reference.encode(), hashlib.sha256).hexdigest()
