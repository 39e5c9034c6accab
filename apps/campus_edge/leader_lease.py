"""The lease of the active controller, in practice: waited for, renewed, given back.

Two threads once it is ours: one renews it, and may hang in a database that does not answer; the other looks
at nothing but our own clock, and ends the process in time.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from adon.errors import Unavailable
from adon.flowvisor import controller_roles
from adon.store import lease
from adon.store.lease import CONTROLLER, Held, Lease
from adon.store.store import Store
from adon.timestamps import boot_time
from apps.campus_edge.roles import RoleDesk
from apps.service_manager import ServiceManager

log = logging.getLogger(__name__)

RENEWALS = 5
"""So many times is a lease renewed before it could run out."""
LOOKS = 10
"""So many times in the length of a lease does a standby look whether it was given back."""


class Leadership:
    """This controller's part in deciding who leads.

    :param store: a store of its own: what it waits for must not hold up anything else.
    :param seconds: how long the lease runs.
    """

    def __init__(
        self,
        store: Store,
        desk: RoleDesk,
        holder: str,
        seconds: float,
        clock: Callable[[], float] = boot_time,
    ) -> None:
        self._store = store
        self._desk = desk
        self._holder = holder
        self._seconds = seconds
        self._clock = clock
        self._held: Held | None = None
        self._over = threading.Event()

    @property
    def active(self) -> str:
        """Who is active, for people; as of the last look."""
        held = self._held
        return "none" if held is None or held.seconds <= 0 else held.holder

    def campaign(self, ended: threading.Event, watchman: ServiceManager | None = None) -> Lease | None:
        """Wait until the lease is ours; None if the process is to end before.

        :param watchman: is told at each look that this thread is alive.
        """
        log.info("event=standing-by name=%s", self._holder)
        while not ended.is_set():
            if watchman is not None:
                watchman.pulse()
            try:
                taken = self._attempt()
            except Unavailable as error:
                log.warning("event=lease.unreadable error=%r", str(error))
                taken = None
            if taken is not None:
                return taken
            ended.wait(self._pause())
        return None

    def _attempt(self) -> Lease | None:
        # Looking first: it costs the database less than trying to take, and tells whose turn it is.
        self._held = self._store.lease(CONTROLLER)
        if self._held is not None and self._held.seconds > 0:
            self._desk.feed(controller_roles.LeaseObserved(self._held.generation))
            return None
        asked_at = self._clock()
        taken = self._store.take_lease(CONTROLLER, self._holder, self._seconds)
        if taken is not None:
            log.info("event=lease.taken name=%s generation=%d", self._holder, taken.generation)
            self._desk.feed(
                controller_roles.LeaseAcquired(
                    taken.generation, controller_roles.lease_end(asked_at, self._seconds)
                )
            )
        return taken

    def _pause(self) -> float:
        look = self._seconds / LOOKS
        left = look if self._held is None else self._held.seconds
        return min(look, left) if left > 0 else look / LOOKS

    def keep(self, held: Lease) -> None:
        """Renew the lease from now on, and step down where that fails; returns at once."""
        for target, args in ((self._renew, (held,)), (self._watch, ())):
            threading.Thread(target=target, args=args, name=target.__name__.strip("_"), daemon=True).start()

    def _renew(self, held: Lease) -> None:
        while not self._over.wait(self._seconds / RENEWALS):
            asked_at = self._clock()
            try:
                self._store.renew_lease(held, self._seconds)
            except lease.LeaseLost as error:
                self._desk.feed(controller_roles.LeaseLost(str(error)))
                return
            except Unavailable as error:
                log.warning("event=lease.not-renewed error=%r", str(error))
            else:
                self._desk.feed(
                    controller_roles.LeaseRenewed(controller_roles.lease_end(asked_at, self._seconds))
                )

    def _watch(self) -> None:
        left = 0.0
        while not self._over.wait(left):
            until, now = self._desk.until, self._clock()
            left = 0.0 if until is None else until - now
            if left <= 0:
                self._desk.feed(controller_roles.ClockTick(now))
                return

    def give_back(self, held: Lease) -> None:
        """Let the next one begin without waiting; if that cannot be done the lease runs out by itself."""
        self._over.set()
        try:
            self._store.give_lease_back(held)
        except Unavailable as error:
            log.warning("event=lease.not-given-back error=%r", str(error))
