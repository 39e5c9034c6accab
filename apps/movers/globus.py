"""Tasks at the Globus Transfer service (docs.globus.org/api/transfer): submitted, followed, cancelled.

A submission has an id that is asked for and kept before; however often a task is submitted with one id, it
is accepted once.  So a submission whose answer was lost is simply repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import globus_sdk

from adon.transfers.machine import (
    Broke,
    Event,
    Prepared,
    Progressed,
    Started,
    Stopped,
    Succeeded,
    Transfer,
    Unanswered,
)
from adon.transfers.plan import Plan
from adon.transfers.wish import TransferOptions
from apps.movers.tool import run_of, short, whole

BY_SIZE, BY_CHECKSUM = 1, 3
"""Values of ``sync_level``: what is there already with the same size, or content, is not moved again."""
MENDABLE = frozenset({408, 425, 429})
HOPELESS = frozenset(
    {
        "CANCELED",
        "FILE_NOT_FOUND",
        "PERMISSION_DENIED",
        "INVALID_PATH_NAME",
        "NOT_A_DIRECTORY",
        "NOT_A_FILE",
        "IS_A_DIRECTORY",
        "IS_A_FILE",
    }
)
"""Codes of fatal errors that another task would meet again; ``CANCELED`` was somebody's will."""
FOREIGN = "attached"


class GlobusTasks:
    """One identity at Globus.

    :param client: gives who speaks for it; asked in the thread that needs it.
    """

    def __init__(self, client: Callable[[], globus_sdk.TransferClient]) -> None:
        self._client = client

    def begin(
        self,
        transfer: Transfer,
        plan: Plan,
        options: TransferOptions,
        streams: int | None,  # noqa: ARG002 - Globus decides it itself
    ) -> Event:
        """Submit a task, or find the one that was submitted when nobody heard the answer."""
        try:
            if plan.attach is not None:
                return Started(str(self._client().get_task(str(plan.attach))["task_id"]), FOREIGN)
            if not transfer.mark:
                return Prepared(str(self._client().get_submission_id()["value"]))
            return Started(self._submitted(transfer, plan, options), transfer.mark)
        except globus_sdk.GlobusAPIError as error:
            if _passing(error):
                return Unanswered(_words(error))
            return Broke(_words(error), again=False)
        except globus_sdk.GlobusError as error:
            return Unanswered(_unreached(error))

    def look(self, transfer: Transfer, plan: Plan) -> Event:  # noqa: ARG002 - as of every tool
        """How a task goes."""
        try:
            task = self._client().get_task(str(transfer.job)).data
        except globus_sdk.GlobusAPIError as error:
            if error.http_status == 404:
                return Broke("Globus does not know the task any more")
            return Unanswered(_words(error))
        except globus_sdk.GlobusError as error:
            return Unanswered(_unreached(error))
        return _progress(task, transfer)

    def stop(self, transfer: Transfer, plan: Plan) -> Event:
        """Cancel a task."""
        if transfer.job is None and not transfer.mark:
            return Stopped()
        try:
            # Whether the submission came through is known by repeating it: a task is made only if there is
            # none, and then cancelled; to look for one would miss what is still on its way to the service.
            job = transfer.job or self._submitted(transfer, plan, TransferOptions())
            self._client().cancel_task(str(job))
            task = self._client().get_task(str(job)).data
        except globus_sdk.GlobusAPIError as error:
            if error.http_status == 404 or (transfer.job is None and not _passing(error)):
                return Stopped()
            return Unanswered(_words(error))
        except globus_sdk.GlobusError as error:
            return Unanswered(_unreached(error))
        match task.get("status"):
            case "SUCCEEDED":
                return _progress(task, transfer)
            case "FAILED":
                return Stopped(_kept(task))
            case _:
                return Unanswered("Globus has not ended the task yet")

    def _submitted(self, transfer: Transfer, plan: Plan, options: TransferOptions) -> str:
        """The id of the task that a submission has become."""
        if plan.ends is None:
            raise AssertionError("a task of somebody else is not submitted")
        source, destination = plan.ends
        data = globus_sdk.TransferData(
            source.fs,
            destination.fs,
            label=run_of(transfer, transfer.tries + 1),
            submission_id=transfer.mark,
            sync_level=BY_CHECKSUM if options.checksum else BY_SIZE,
            verify_checksum=True,
            # ADON tells its users itself.
            notify_on_succeeded=False,
            notify_on_failed=False,
            notify_on_inactive=False,
        )
        data.add_item(source.name, destination.name, recursive=plan.folder)
        return str(self._client().submit_transfer(data)["task_id"])


def _progress(task: Mapping[str, Any], transfer: Transfer) -> Event:
    """What a task document says."""
    brought = whole(task.get("bytes_transferred"))
    match task.get("status"):
        case "SUCCEEDED":
            return Succeeded(transfer.kept + brought)
        case "FAILED":
            fatal = task.get("fatal_error")
            code, said = _fatal(fatal if isinstance(fatal, Mapping) else {})
            return Broke(short(said), _kept(task), again=code not in HOPELESS)
        case _:
            arrived, files = whole(task.get("files_transferred")), whole(task.get("files"))
            return Progressed(brought, None, arrived, files or None, _trouble(task))


def _kept(task: Mapping[str, Any]) -> int:
    # Bytes of incomplete files are counted with the others: without a complete one, nothing is kept.
    return whole(task.get("bytes_transferred")) if whole(task.get("files_transferred")) else 0


def _fatal(error: Mapping[str, Any]) -> tuple[str, str]:
    code, said = str(error.get("code") or ""), str(error.get("description") or "")
    if code == "CANCELED":
        return code, "somebody cancelled the task at Globus"
    return code, said or code or "Globus says that it failed, and not why"


def _trouble(task: Mapping[str, Any]) -> str:
    """What keeps a task that is under way from going on, in Globus's words."""
    if task.get("is_paused"):
        return "paused by the administrator of a collection"
    if task.get("status") == "INACTIVE":
        return "suspended: its credentials have expired; sign in to the collection again"
    code = task.get("nice_status")
    if code in (None, "OK", "Queued") or task.get("is_ok"):
        return ""
    return short(str(task.get("nice_status_short_description") or code))


def _passing(error: globus_sdk.GlobusAPIError) -> bool:
    return error.http_status >= 500 or error.http_status in MENDABLE


def _words(error: globus_sdk.GlobusAPIError) -> str:
    said = error.message or error.code or f"status {error.http_status}"
    if isinstance(error, globus_sdk.AuthAPIError):
        return short(f"Globus does not take our credentials: {said}")
    return short(f"Globus: {said}")


def _unreached(error: globus_sdk.GlobusError) -> str:
    return short(f"Globus cannot be reached: {type(error).__name__}: {error}")
