"""Tasks at a Globus that keeps to the documents, over its own library and real HTTP."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from adon.config.transfers import Globus
from adon.transfers.machine import (
    Broke,
    Event,
    FlowStands,
    Patience,
    Phase,
    Prepared,
    Progressed,
    Started,
    Stopped,
    Succeeded,
    Transfer,
    Unanswered,
    step,
)
from adon.transfers.plan import End, Plan
from adon.transfers.wish import TransferOptions
from apps.movers.globus import GlobusTasks
from apps.movers.globus_login import login
from tests.apps.standin_globus import CLIENT, REFRESH, SECRET, StandIn, running

HERE, THERE = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))
PLAN = Plan("globus:campus", (End(HERE, "/data/run/"), End(THERE, "/in/run/")), folder=True)
NEW = Transfer(7, "adon/f-7/1", "globus:campus", phase=Phase.STARTING, go=True)
OPTIONS = TransferOptions()


@pytest.fixture
def globus() -> Iterator[StandIn]:
    with running() as server:
        yield server


def tasks(server: StandIn, secret: str = SECRET, **changes: Any) -> GlobusTasks:
    configured = {
        "client_id": CLIENT,
        "client_secret_file": "x",
        "transfer_url": server.url,
        "auth_url": server.url,
        "remotes": {"data": {"at": "mu-dtn", "collection": HERE, "data_access": True}},
        **changes,
    }
    return GlobusTasks(login(Globus.model_validate(configured), secret, 5.0))


def happens(transfer: Transfer, event: Event) -> Transfer:
    return step(transfer, event, 0.0, Patience(5, 1.0, 1.0), 1.0)


def begun(tool: GlobusTasks, transfer: Transfer = NEW, options: TransferOptions = OPTIONS) -> Transfer:
    """Begin as the loop does: the submission's id is kept before the task is submitted."""
    prepared = tool.begin(transfer, PLAN, options, None)
    assert isinstance(prepared, Prepared)
    kept = happens(transfer, prepared)
    return happens(kept, tool.begin(kept, PLAN, options, None))


def test_a_task_is_submitted_followed_and_done(globus: StandIn) -> None:
    tool = tasks(globus)
    running_ = begun(tool, options=TransferOptions(checksum=True))
    assert running_.phase is Phase.RUNNING
    sent = globus.submitted[str(running_.job)]
    assert (sent["source_endpoint"], sent["destination_endpoint"], sent["sync_level"]) == (HERE, THERE, 3)
    assert sent["verify_checksum"] is True
    item = sent["DATA"][0]
    assert (item["source_path"], item["destination_path"], item["recursive"]) == (
        "/data/run/",
        "/in/run/",
        True,
    )
    globus.task(running_.job, bytes_transferred=70, files=3, files_transferred=1)
    assert tool.look(running_, PLAN) == Progressed(70, None, 1, 3, "")
    globus.task(running_.job, status="SUCCEEDED", bytes_transferred=100)
    assert tool.look(replace(running_, kept=40), PLAN) == Succeeded(140)


def test_an_answer_that_is_lost_makes_no_second_task(globus: StandIn) -> None:
    tool = tasks(globus)
    kept = happens(NEW, tool.begin(NEW, PLAN, OPTIONS, None))
    globus.lost = 3  # also those of the library's own tries
    assert isinstance(tool.begin(kept, PLAN, OPTIONS, None), Unanswered)
    assert len(globus.tasks) == 1
    # A process that was killed meanwhile has its submission's id in its book, and asks anew.
    found = tasks(globus).begin(kept, PLAN, OPTIONS, None)
    assert found == Started(next(iter(globus.tasks)), kept.mark)
    assert len(globus.tasks) == 1


def test_a_task_that_nobody_heard_of_is_cancelled_too(globus: StandIn) -> None:
    tool = tasks(globus)
    kept = happens(NEW, tool.begin(NEW, PLAN, OPTIONS, None))
    globus.lost = 3
    tool.begin(kept, PLAN, OPTIONS, None)
    stopping = happens(kept, FlowStands(go=False, over=True))
    assert stopping.phase is Phase.STOPPING
    assert tool.stop(stopping, PLAN) == Stopped()
    assert [task["status"] for task in globus.tasks.values()] == ["FAILED"]


def test_it_is_stopped_with_what_it_has_brought_in_whole_files(globus: StandIn) -> None:
    tool = tasks(globus)
    one = begun(tool)
    globus.task(one.job, bytes_transferred=70, files_transferred=2)
    assert tool.stop(one, PLAN) == Stopped(70)
    done = begun(tool)
    globus.task(done.job, status="SUCCEEDED", bytes_transferred=100)
    assert tool.stop(done, PLAN) == Succeeded(100)


@pytest.mark.parametrize(
    ("fatal", "again", "words"),
    [
        ({"code": "FILE_NOT_FOUND", "description": "No such file"}, False, "No such file"),
        ({"code": "EXPIRED", "description": "It took too long"}, True, "It took too long"),
        ({"code": "CANCELED", "description": "canceled"}, False, "somebody cancelled"),
        (None, True, "not why"),
    ],
)
def test_a_task_that_failed_says_why(globus: StandIn, fatal: Any, again: bool, words: str) -> None:
    tool = tasks(globus)
    one = begun(tool)
    globus.task(one.job, status="FAILED", fatal_error=fatal, bytes_transferred=9)
    found = tool.look(one, PLAN)
    assert isinstance(found, Broke)
    assert (found.again, found.kept) == (again, 0)
    assert words in found.why


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"is_ok": False, "nice_status": "NO_SPACE", "nice_status_short_description": "disk full"},
            "disk full",
        ),
        ({"is_paused": True}, "paused by the administrator"),
        ({"status": "INACTIVE"}, "credentials have expired"),
    ],
)
def test_a_task_that_struggles_says_with_what(globus: StandIn, changes: Any, words: str) -> None:
    tool = tasks(globus)
    one = begun(tool)
    globus.task(one.job, **changes)
    found = tool.look(one, PLAN)
    assert isinstance(found, Progressed)
    assert words in found.trouble


def test_a_task_of_somebody_else_is_followed(globus: StandIn) -> None:
    tool = tasks(globus)
    theirs = str(begun(tool).job)
    plan = Plan("globus:campus", attach=theirs)
    assert tool.begin(NEW, plan, OPTIONS, None) == Started(theirs, "attached")
    unknown = tool.begin(NEW, Plan("globus:campus", attach=str(uuid.UUID(int=9))), OPTIONS, None)
    assert isinstance(unknown, Broke)
    assert not unknown.again


def test_a_token_that_is_not_good_any_more_is_renewed(globus: StandIn) -> None:
    tool = tasks(globus)
    one = begun(tool)
    globus.tokens.clear()
    assert isinstance(tool.look(one, PLAN), Progressed)
    assert globus.grants == ["client_credentials"] * 2
    assert f"{HERE}/data_access" in globus.scopes[0]


def test_a_token_is_renewed_before_it_expires_also_with_the_consent_of_a_person(globus: StandIn) -> None:
    globus.expires_in = 30  # sooner than the library waits for
    changes = {"client_secret_file": None, "refresh_token_file": "x"}
    tool = tasks(globus, REFRESH, **changes)
    one = begun(tool)
    assert isinstance(tool.look(one, PLAN), Progressed)
    assert len(globus.grants) >= 3
    assert set(globus.grants) == {"refresh_token"}


def test_a_secret_that_is_wrong_is_said_and_not_shown(globus: StandIn) -> None:
    found = tasks(globus, "another secret").begin(NEW, PLAN, OPTIONS, None)
    assert isinstance(found, Broke)
    assert not found.again
    assert "does not take our credentials" in found.why
    assert "another secret" not in found.why


def test_a_globus_that_is_busy_or_away_is_asked_again(globus: StandIn) -> None:
    tool = tasks(globus)
    one = begun(tool)
    globus.fails = [(503, "ServiceUnavailable")]
    assert isinstance(tool.look(one, PLAN), Progressed)  # the library itself asked once more
    globus.fails = [(502, "BadGateway")] * 3
    assert isinstance(tool.look(one, PLAN), Unanswered)
    globus.fails = [(403, "PermissionDenied")]
    refused = tool.begin(NEW, PLAN, OPTIONS, None)
    assert isinstance(refused, Broke)
    assert "PermissionDenied" in refused.why
    globus.server_close()
    globus.shutdown()
    assert isinstance(tasks(globus).begin(NEW, PLAN, OPTIONS, None), Unanswered)
