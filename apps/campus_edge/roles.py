"""The roles of this controller at its switches, in practice: what happens is fed in, what follows is done.

:mod:`adon.flowvisor.controller_roles` decides.  Events come from os-ken's thread, the lease's and the main
one; a lock makes one story of them, and effects are carried out under it, so that no switch is used after it
was left.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from typing import Any, Protocol

from adon.flowvisor.controller_roles import (
    ControllerRole,
    ControllerState,
    DisconnectSwitch,
    RequestRole,
    RoleEvent,
    RoleGranted,
    RoleLost,
    Roles,
    RoleStale,
    RoleUnknown,
    StepDown,
    SwitchLeft,
    UseSwitch,
    step,
)
from adon.flowvisor.openflow import messages
from adon.timestamps import boot_time

log = logging.getLogger(__name__)

ANSWER_TIMEOUT_S = 15.0
"""A switch that has not answered a role request for so long knows no roles."""
EXIT_STEPPED_DOWN = 75
"""EX_TEMPFAIL of sysexits.h: another controller is, or may become, the active one; start again as standby."""


def step_down(why: str) -> None:
    """End the process at once: whatever it still meant to send is no longer its business."""
    log.critical("event=stepped-down reason=%r", why)
    logging.shutdown()
    os._exit(EXIT_STEPPED_DOWN)


class Board(Protocol):
    """The switchboard, as far as roles need it."""

    def ask_role(self, ask: RequestRole) -> int | None:
        """Send a role request; its transaction id, or None if the switch is gone."""

    def use(self, dpid: int) -> None:
        """Let the broker know of a switch."""

    def leave(self, dpid: int, why: str) -> None:
        """End the connection to a switch."""


class RoleDesk:
    """Keeps :class:`~adon.flowvisor.controller_roles.Roles`; usable from any thread.

    :param begin: what this controller begins as.
    :param clock: seconds, of a clock that only grows, also while the machine sleeps.
    """

    def __init__(
        self,
        begin: Roles,
        clock: Callable[[], float] = boot_time,
        end: Callable[[str], None] = step_down,
    ) -> None:
        self._roles = begin
        self._clock = clock
        self._end = end
        self._board: Board | None = None
        self._asked: dict[int, tuple[int, float]] = {}
        # Reentrant: carrying out an effect may end a connection, which is an event.
        self._lock = threading.RLock()

    def serve(self, board: Board) -> None:
        """Carry out effects on this switchboard from now on."""
        self._board = board

    @property
    def standing(self) -> ControllerState:
        """What this controller is now."""
        return self._roles.standing

    @property
    def until(self) -> float | None:
        """When our lease stops counting, on our own clock; None without a lease."""
        return self._roles.until

    def may_send(self, dpid: int) -> bool:
        """Whether something may be sent to this switch now."""
        return self._roles.may_send(dpid, self._clock())

    def feed(self, event: RoleEvent) -> None:
        """Take an event and do what follows."""
        with self._lock:
            if isinstance(event, SwitchLeft):
                self._asked = {xid: asked for xid, asked in self._asked.items() if asked[0] != event.dpid}
            before = self._roles.standing
            self._roles, effects = step(self._roles, event)
            if self._roles.standing is not before:
                log.info(
                    "event=standing was=%s is=%s generation=%s",
                    before,
                    self._roles.standing,
                    self._roles.generation,
                )
            for effect in effects:
                self._do(effect)

    def _do(self, effect: RequestRole | UseSwitch | DisconnectSwitch | StepDown) -> None:
        match effect:
            case StepDown(why):
                self._end(why)
            case _ if self._board is None:
                pass  # before there is a switchboard, there are no switches
            case RequestRole():
                xid = self._board.ask_role(effect)
                if xid is not None:
                    self._asked[xid] = (effect.dpid, self._clock() + ANSWER_TIMEOUT_S)
            case UseSwitch(dpid):
                self._board.use(dpid)
            case DisconnectSwitch(dpid, why):
                self._board.leave(dpid, why)

    # -- what switches answer -----------------------------------------------------------------------------

    def handle_role_reply(self, dpid: int, xid: int, role: ControllerRole) -> None:
        """A role reply came."""
        with self._lock:
            if self._take_request(dpid, xid):
                self.feed(RoleGranted(dpid, role))

    def handle_role_error(self, dpid: int, message: Any, text: str) -> None:
        """An error message came; it may be about a role."""
        with self._lock:
            if self._take_request(dpid, message.xid):
                self.feed(RoleStale(dpid) if messages.is_stale(message) else RoleUnknown(dpid, text))
            elif messages.is_slave(message):
                self.feed(RoleLost(dpid))

    def _take_request(self, dpid: int, xid: int) -> bool:
        """Forget a role request that is answered; return whether this switch was asked with it."""
        is_asked = self._asked.get(xid, (None, 0.0))[0] == dpid
        if is_asked:
            del self._asked[xid]
        return is_asked

    def overdue(self, now: float) -> list[float]:
        """Give up waiting for what was not answered in time; the deadlines that remain.

        :param now: the time that these deadlines are stated in, in seconds.
        """
        with self._lock:
            own = self._clock()
            late = [(xid, dpid) for xid, (dpid, deadline) in self._asked.items() if deadline <= own]
            for xid, dpid in late:
                del self._asked[xid]
                self.feed(RoleUnknown(dpid, f"no answer within {ANSWER_TIMEOUT_S:g} s"))
            return [now + deadline - own for _, deadline in self._asked.values()]
