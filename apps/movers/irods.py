"""Files into an iRODS zone and out of it: each transfer a thread of this process, file after file.

What is there already with the same size (or content, where that is asked for) is not moved again; what was
moved is compared by the checksum that the zone computes.  A file under way when a run ends starts anew.  A
run does not outlive this process: the next one starts it again, and goes on where it was.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from adon.transfers.machine import Broke, Event, Progressed, Started, Stopped, Succeeded, Transfer, Unanswered
from adon.transfers.plan import Plan
from adon.transfers.wish import TransferOptions
from apps.movers.irods_run import Run
from apps.movers.irods_zone import Zone
from apps.movers.throttle import Throttle
from apps.movers.tool import run_of

STOP_WITHIN_S = 5.0


class IrodsRuns:
    """One account in a zone.

    :param connect: a connection for one run.
    """

    def __init__(self, connect: Callable[[], AbstractContextManager[Zone]]) -> None:
        self._connect = connect
        self._runs: dict[str, Run] = {}
        self._lock = threading.Lock()
        self._throttle = Throttle()

    def begin(
        self,
        transfer: Transfer,
        plan: Plan,
        options: TransferOptions,
        streams: int | None,  # noqa: ARG002 - one connection per file
    ) -> Event:
        """Start a run; the one that is under way, if there is one already."""
        if plan.ends is None:
            return Broke("there is nothing to start: iRODS knows of no jobs", again=False)
        name = run_of(transfer, transfer.tries + 1)
        with self._lock:
            if name not in self._runs:
                # What an earlier try left behind may be as long as it should be, and still be wrong.
                exact = options.checksum or transfer.tries > 0
                run = Run(self._connect, plan.ends, self._throttle, by_checksum=exact)
                self._runs[name] = run
                run.start(name)
        return Started(name, name)

    def look(self, transfer: Transfer, plan: Plan) -> Event:  # noqa: ARG002 - as of every tool
        """How a run goes; one that is over is forgotten with that."""
        name = str(transfer.job)
        with self._lock:
            run = self._runs.get(name)
        if run is None:
            return Broke("the process that moved it was started anew; it goes on")
        stands = run.stands
        if stands.over:
            self._forget(name)
        if stands.why is not None:
            return Broke(stands.why, stands.kept, again=stands.again)
        if stands.over:
            return Succeeded(max(transfer.kept + stands.moved, stands.there))
        return Progressed(stands.moved, stands.to_move, stands.files, stands.files_whole)

    def stop(self, transfer: Transfer, plan: Plan) -> Event:  # noqa: ARG002 - as of every tool
        """End a run after the piece that is under way."""
        name = str(transfer.job or run_of(transfer, transfer.tries + 1))
        with self._lock:
            run = self._runs.get(name)
        if run is None:
            return Stopped()
        if not run.stop(STOP_WITHIN_S):
            return Unanswered("a piece of a file is still on its way")
        self._forget(name)
        return Stopped(run.stands.kept)

    def limit(self, rate: float | None) -> bool:
        """See :class:`~apps.movers.tool.Limited`."""
        self._throttle.set(rate)
        return True

    def _forget(self, name: str) -> None:
        with self._lock:
            self._runs.pop(name, None)
