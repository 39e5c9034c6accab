"""Who is asking, and whether it may: :mod:`measurement.point.trust` applied to a request."""

from __future__ import annotations

from collections.abc import Callable

from flask import g, request

from measurement.point.api.request_answers import Refusal
from measurement.point.model import Task
from measurement.point.trust import Access, Caller, Right, plain_address

_NOWHERE = "0.0.0.0"  # noqa: S104  # a caller without an address


class Guard:
    """Refuses (403, with the reason) what the caller of the present request may not do."""

    def __init__(self, access: Callable[[], Access]) -> None:
        self._access = access

    def caller(self) -> Caller:
        """Who asks; found out once per request, since a list of tasks asks for each of them."""
        if "caller" not in g:
            trust = self._access().trust
            address = plain_address(request.remote_addr or _NOWHERE)
            g.caller = Caller(address, None if trust is None else trust.who(_presented_token()))
        found: Caller = g.caller
        return found

    def owner(self) -> str:
        """Return the name of the known caller, which owns its tasks; empty for an unknown caller."""
        known = self.caller().known
        return "" if known is None else known.name

    def check(self, right: Right) -> None:
        """Let the caller use a right."""
        cause = self._access().refusal(self.caller(), right)
        if cause is not None:
            raise _forbidden(cause)

    def check_task(self, right: Right, task: Task) -> None:
        """Let the caller use a right for this task's test and its destinations."""
        self.check(right)
        cause = self._limit(task)
        if cause is not None:
            raise _forbidden(cause)

    def check_owner(self, right: Right, task: Task) -> None:
        """Let the caller use a right for a task that it has posted; whose it is, only trust can tell."""
        self.check(right)
        if self._access().trust is not None and not self.owns(task):
            raise _forbidden("The task is another's.")

    def check_known(self) -> None:
        """Let only known parties go on, if there are any."""
        caller = self.caller()
        if self._access().trust is not None and caller.known is None:
            raise _forbidden(f"Requester {caller.address} presents no known token.")

    def owns(self, task: Task) -> bool:
        """Return whether the caller may have posted this task; without a trust file its address decides."""
        if self._access().trust is None:
            return request.remote_addr == task.requester
        return task.owner != "" and self.owner() == task.owner

    def sees(self, task: Task) -> bool:
        """Whether the caller may see a task and its results."""
        access, caller = self._access(), self.caller()
        if caller.known is not None and caller.known.name == task.owner:
            return True
        return access.refusal(caller, Right.READ) is None and (
            access.trust is None or access.trust.reading == "open" or self._limit(task) is None
        )

    def check_sees(self, task: Task) -> None:
        """Let the caller see a task and its results."""
        if not self.sees(task):
            cause = self._access().refusal(self.caller(), Right.READ)
            raise _forbidden(cause if cause is not None else "The task is another's.")

    def _limit(self, task: Task) -> str | None:
        known = self.caller().known
        return None if known is None else known.limit(task.test.name, task.spec.hosts)


def _presented_token() -> str | None:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() or None if kind.lower() == "bearer" else None


def _forbidden(cause: str) -> Refusal:
    return Refusal(403, f"Task forbidden by limits:\n{cause}")
