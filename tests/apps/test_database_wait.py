from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from adon.errors import (
    AdonError,
    Conflict,
    DatabaseUnavailable,
    InvalidInput,
    Unavailable,
    UnknownSchema,
    exit_status,
)
from apps.database_wait import wait_for
from measurement.errors import ArchiveError, ArchiveUnavailable

OUTAGES = (
    DatabaseUnavailable("the store does not answer"),
    ArchiveUnavailable("cannot read: connection refused"),
)


class Database:
    """Answers at the last of some attempts."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.pauses: list[float] = []

    def __call__(self) -> str:
        if self.errors:
            raise self.errors.pop(0)
        return "open"

    def clock(self) -> float:
        return sum(self.pauses)


@pytest.mark.parametrize("outage", OUTAGES, ids=["store", "archive"])
def test_outage_is_waited_for_with_pauses_that_grow(
    outage: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    database = Database(*[outage] * 40)
    assert wait_for("state", database, database.pauses.append, database.clock) == "open"
    assert database.pauses == [0.5, 1.0, *[2.0] * 38]
    said = [record.getMessage() for record in caplog.records]
    assert [line.partition(" cause=")[0] for line in said] == [
        "event=database.waiting database=state",
        "event=database.waiting database=state",  # again after a minute
        "event=database.answers database=state after_s=77.5",
    ]


def test_database_that_answers_is_not_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    database = Database()
    assert wait_for("state", database, database.pauses.append) == "open"
    assert (database.pauses, caplog.records) == ([], [])


@pytest.mark.parametrize(
    "error",
    [
        UnknownSchema("revision 0999"),
        Unavailable("there is no file"),
        InvalidInput.of("store", "is no URL"),
        ArchiveError("archive version 99"),
    ],
    ids=lambda error: error.code,
)
def test_other_errors_are_not_waited_for(error: Exception) -> None:
    database = Database(error)
    with pytest.raises(type(error)):
        wait_for("state", database, database.pauses.append)
    assert database.pauses == []


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (lambda: InvalidInput.of("store", "is no URL"), 2),
        (lambda: Conflict("controller.ha", "is missing"), 2),
        (lambda: UnknownSchema("revision 0999"), 2),
        (lambda: DatabaseUnavailable("does not answer"), 74),
        (lambda: Unavailable("the port is taken"), 1),
    ],
    ids=["input", "conflict", "schema", "outage", "other"],
)
def test_exit_status_2_is_for_input_only(error: Callable[[], AdonError], status: int) -> None:
    assert exit_status(error()) == status
