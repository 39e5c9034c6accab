"""The configuration that runs, and what becomes of a new one (R11; docs/configuration.md, "Reload").

A process reads its configuration once, when it starts.  What changed restarts the processes that read it,
and only those: :data:`READERS` says which.  For the controller that is hitless, as every restart of it is
(R10): it reads the switches, compares, and sends the difference.

The processes are started with a copy of what was accepted last, never with the operator's file: one that
crashes while that file is being edited comes back as it was.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adon import yamlfile
from adon.config import Configuration, fingerprint, list_changed_fields
from adon.errors import InvalidInput, Problem
from apps.collector import files
from apps.configuration_check import check_file

log = logging.getLogger("adon.serve")

ACCEPTED = "accepted.yaml"
"""In the data folder: the configuration that the processes are started with."""
CONTROLLER, COLLECTOR, WEB = "controller", "collector", "web"

READERS: Mapping[str, frozenset[str]] = {
    "network": frozenset({CONTROLLER, COLLECTOR, WEB}),
    "mode": frozenset({CONTROLLER}),
    "switches": frozenset({CONTROLLER}),
    "sites": frozenset({CONTROLLER, WEB}),
    "paths": frozenset({CONTROLLER, COLLECTOR, WEB}),
    "links": frozenset({CONTROLLER}),
    "overlays": frozenset({CONTROLLER}),
    "measurements": frozenset({COLLECTOR}),
    "measurements.points": frozenset({COLLECTOR, WEB}),
    "measurements.tests": frozenset({CONTROLLER, COLLECTOR, WEB}),
    "measurements.background": frozenset({COLLECTOR, WEB}),
    "measurements.window": frozenset({CONTROLLER, COLLECTOR}),
    "measurements.archive_url": frozenset({COLLECTOR, WEB}),
    "measurements.publish_psconfig": frozenset({WEB}),
    "compute": frozenset({CONTROLLER, COLLECTOR}),
    "policy": frozenset({CONTROLLER, WEB}),
    "policy.measurement_access": frozenset({COLLECTOR, WEB}),
    "policy.use_access": frozenset({CONTROLLER, WEB}),
    "policy.credentials": frozenset({WEB}),
    "policy.thresholds": frozenset({WEB}),
    "controller": frozenset({CONTROLLER}),
    "controller.web_limits": frozenset({WEB}),
    "controller.web_proxies": frozenset({WEB}),
    "discovery": frozenset({CONTROLLER}),
    "slices": frozenset({CONTROLLER, WEB}),
    "ignored_cookies": frozenset({CONTROLLER}),
    "access": frozenset({WEB}),
    "health": frozenset({COLLECTOR}),
}
"""Which processes read which section; the longer name counts."""

FIXED: Mapping[str, str] = {
    "controller.web_host": "the web side's socket is opened once",
    "controller.web_port": "the web side's socket is opened once",
    "controller.ha": "whether there are several controllers is settled at the start",
}
"""What only a restart of ``adon serve`` can change, and why."""

RESULTS = ("applied", "unchanged", "refused", "taken_back")


def concerned_processes(changes: Iterable[str]) -> frozenset[str]:
    """The processes that read something of what changed.

    :param changes: as :func:`adon.config.changed` names it.
    """
    found: set[str] = set()
    for name in changes:
        found |= READERS[name] if name in READERS else READERS[name.partition(".")[0]]
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Reload:
    """What a reload did.

    :param changes: what differs from before.
    :param restarted: the processes that are started anew for it.
    """

    result: str
    changes: tuple[str, ...] = ()
    restarted: frozenset[str] = frozenset()

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {"result": self.result, "changes": list(self.changes), "restarted": sorted(self.restarted)}


class Reloading:
    """See the module's text.

    :param file: the operator's.
    :param data: the data folder, which must be there.
    :param running: what was read from the file at the start.
    :param clock: seconds since the epoch.
    :raises OSError: if the data folder cannot be written.
    """

    def __init__(self, file: Path, data: Path, running: Configuration, clock: Callable[[], float]) -> None:
        self._file = file
        self._clock = clock
        self._running = running
        self._before: Configuration | None = None
        self._results: Counter[str] = Counter()
        self._succeeded_at = clock()
        self.accepted = data / ACCEPTED
        self._keep(running)

    def reload(self) -> Reload:
        """Read the operator's file again; if it is good and differs, the processes are to be started anew.

        :raises InvalidInput: if it is bad, or needs a restart of ``adon serve``; nothing changes then.
        """
        try:
            configuration, changes = self._read()
        except InvalidInput as error:
            self._results["refused"] += 1
            log.error("event=reload.refused problems=%r", [str(one) for one in error.problems])  # noqa: TRY400
            raise
        self._succeeded_at = self._clock()
        if not changes:
            self._results["unchanged"] += 1
            log.info("event=reload.unchanged hash=%s", fingerprint(configuration))
            return Reload("unchanged")
        if self._before is None:
            self._before = self._running
        self._running = configuration
        self._keep(configuration)
        return self._announce(Reload("applied", changes, concerned_processes(changes)))

    def take_back(self) -> Reload | None:
        """A process refuses what a reload brought: go back to what all of them ran well with.

        None if nothing was reloaded lately: then there is nothing to go back to.
        """
        if self._before is None:
            return None
        changes = list_changed_fields(self._running, self._before)
        self._running, self._before = self._before, None
        self._keep(self._running)
        return self._announce(Reload("taken_back", changes, concerned_processes(changes)))

    def proven(self) -> None:
        """Every process runs well with what was reloaded: it is not taken back any more."""
        self._before = None

    def standing(self) -> dict[str, Any]:
        """What runs, and how reloads went, as JSON values; times in seconds since the epoch."""
        return {
            "hash": fingerprint(self._running),
            "reloads": {result: self._results[result] for result in RESULTS},
            "succeeded_at": self._succeeded_at,
        }

    def _read(self) -> tuple[Configuration, tuple[str, ...]]:
        configuration, _ = check_file(self._file)
        changes = list_changed_fields(self._running, configuration)
        wrong = [
            Problem(name, f"needs a restart: {FIXED[name]}", str(self._file), code="needs-restart")
            for name in changes
            if name in FIXED
        ]
        if wrong:
            raise InvalidInput(wrong)
        return configuration, changes

    def _keep(self, configuration: Configuration) -> None:
        files.write(self.accepted, yamlfile.dump(configuration, defaults=False).encode())

    def _announce(self, done: Reload) -> Reload:
        self._results[done.result] += 1
        log.log(
            logging.INFO if done.result == "applied" else logging.ERROR,
            "event=reload.%s hash=%s changes=%s restarts=%s",
            done.result,
            fingerprint(self._running),
            ",".join(done.changes),
            ",".join(sorted(done.restarted)) or "-",
        )
        return done
