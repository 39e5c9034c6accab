"""What is said to the remote control of an rclone (https://rclone.org/rc/), and what it answers.

Paths and names are values in a JSON body: no shell, no command line, no URL is made of them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import requests

from adon.transfers.machine import (
    Broke,
    Event,
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

STOP_WITHIN_S = 5.0
LOOKS_PER_S = 10
HOPELESS = ("didn't find section in config file", "directory not found", "object not found")
"""In rclone's words, what another start would not mend."""


class Silent(Exception):
    """No answer came: whether the command was carried out is not known."""


class Refused(Exception):
    """The command was not carried out; in the tool's words."""


@dataclass(frozen=True, slots=True)
class RemoteControl:
    """One rclone.

    :param trust: a file of certificate authorities, or True for the system's.
    """

    url: str
    user: str
    password: str = field(repr=False)
    trust: str | bool = True
    timeout: float = 20.0

    def begin(self, transfer: Transfer, plan: Plan, options: TransferOptions, streams: int | None) -> Event:
        """Start a run, or find the one that was started when nobody heard the answer."""
        try:
            if isinstance(plan.attach, int):
                return self._attached(plan.attach)
            run = run_of(transfer, transfer.tries + 1)
            job = self._find(run)
            if job is None:
                job = self._start(plan, run, options, streams)
            return Started(job, run)
        except Refused as error:
            return _broke(str(error))
        except Silent as error:
            return Unanswered(str(error))

    def look(self, transfer: Transfer, plan: Plan) -> Event:
        """How a run goes."""
        try:
            status = self._status(transfer.job)
            if status is None or transfer.mark not in (status.get("group"), status.get("startTime")):
                return Broke("rclone does not know the job any more: it was started anew meanwhile")
            group = str(status.get("group"))
            if not status.get("finished"):
                return _progressed(self._call("core/stats", {"group": group}))
            if status.get("success"):
                brought = transfer.kept + whole(self._call("core/stats", {"group": group}).get("bytes"))
                return Succeeded(max(brought, self._size(plan)))
            return _broke(str(status.get("error")), self._kept(group))
        except (Refused, Silent) as error:
            return Unanswered(str(error))

    def stop(self, transfer: Transfer, plan: Plan) -> Event:  # noqa: ARG002 - as of every tool
        """End a run; answered only when it has ended."""
        # Which try it is tells the mark; without one, nobody heard whether the first start went well.
        run = transfer.mark if transfer.job is not None else run_of(transfer, transfer.tries + 1)
        try:
            job = transfer.job if transfer.job is not None else self._find(run)
            until = time.monotonic() + STOP_WITHIN_S
            while (status := self._status(job)) is not None and status.get("group") == run:
                if status.get("finished"):
                    return Stopped(self._kept(run))
                self._call("job/stop", {"jobid": job})
                if time.monotonic() > until:
                    return Unanswered("rclone has not ended the job yet")
                time.sleep(1 / LOOKS_PER_S)
        except (Refused, Silent) as error:
            return Unanswered(str(error))
        return Stopped()

    def limit(self, rate: float | None) -> bool:
        """Hold all that this rclone moves to so many bits/s (None: to nothing); whether it heard."""
        wanted = "off" if rate is None else f"{max(1, int(rate / 8))}B"
        try:
            self._call("core/bwlimit", {"rate": wanted})
        except (Refused, Silent):
            return False
        return True

    def _start(self, plan: Plan, run: str, options: TransferOptions, streams: int | None) -> int:
        if plan.ends is None:
            raise Refused("there is nothing to start: it follows a job")
        source, destination = plan.ends
        settings: dict[str, Any] = {"CheckSum": options.checksum}
        if options.files is not None:
            settings["Transfers"] = options.files
        if streams is not None:
            settings["MultiThreadStreams"] = streams
        body: dict[str, Any] = {"srcFs": source.fs, "dstFs": destination.fs, "_config": settings}
        command = "sync/copy"
        if source.name:
            command = "operations/copyfile"
            body |= {"srcRemote": source.name, "dstRemote": destination.name}
        return whole(self._call(command, {**body, "_async": True, "_group": run}).get("jobid"))

    def _attached(self, job: int) -> Event:
        status = self._status(job)
        if status is None:
            return Broke(f"rclone has no job {job}", again=False)
        return Started(job, str(status.get("startTime")))

    def _find(self, run: str) -> int | None:
        """The job of a run; None if there is none."""
        if run not in (self._call("core/group-list", {}).get("groups") or ()):
            return None
        for job in self._call("job/list", {}).get("jobids") or ():
            status = self._status(job)
            if status is not None and status.get("group") == run:
                return whole(job)
        return None

    def _status(self, job: int | str | None) -> Mapping[str, Any] | None:
        if job is None:
            return None
        try:
            return self._call("job/status", {"jobid": job})
        except Refused as error:
            if "job not found" in str(error):
                return None
            raise

    def _kept(self, group: str) -> int:
        """Bytes of the files that are complete."""
        done = self._call("core/transferred", {"group": group}).get("transferred") or ()
        return sum(whole(one.get("size")) for one in done if not one.get("error") and not one.get("checked"))

    def _size(self, plan: Plan) -> int:
        """Bytes of what was to be moved; 0 where that cannot be told."""
        if plan.ends is None:
            return 0
        source = plan.ends[0]
        try:
            if not source.name:
                return whole(self._call("operations/size", {"fs": source.fs}).get("bytes"))
            found = self._call("operations/stat", {"fs": source.fs, "remote": source.name})
            return whole((found.get("item") or {}).get("Size"))
        except Refused:
            return 0  # a remote that cannot count; what the run counted stands

    def _call(self, command: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out a command.

        :raises Refused, Silent: what did not go well, without addresses and passwords.
        """
        try:
            answer = _session().post(
                f"{self.url}/{command}",
                json=body,
                auth=(self.user, self.password),
                verify=self.trust,
                timeout=self.timeout,
                allow_redirects=False,
            )
            told = answer.json()
        except requests.exceptions.ConnectTimeout:
            raise Refused("rclone cannot be reached: no answer") from None
        except requests.exceptions.SSLError:
            raise Refused("rclone's certificate is not trusted") from None
        except requests.exceptions.ConnectionError as error:
            if "Connection refused" in str(error):
                raise Refused("rclone cannot be reached: connection refused") from None
            raise Silent("rclone went away before it answered") from None
        except requests.exceptions.Timeout:
            raise Silent("rclone did not answer in time") from None
        except ValueError:
            if answer.status_code == requests.codes.unauthorized:
                raise Refused("rclone refuses our user or password") from None
            raise Refused(f"rclone answered with status {answer.status_code}, and no JSON") from None
        if not isinstance(told, dict):
            raise Refused("rclone answered with what is no object")
        if answer.status_code != requests.codes.ok:
            raise Refused(short(str(told.get("error", f"status {answer.status_code}"))))
        return told


def _progressed(stats: Mapping[str, Any]) -> Progressed:
    # rclone lists while it moves: what it knows of in all grows meanwhile.
    size, files = whole(stats.get("totalBytes")), whole(stats.get("totalTransfers"))
    return Progressed(whole(stats.get("bytes")), size or None, whole(stats.get("transfers")), files or None)


def _session() -> requests.Session:
    session = requests.Session()
    session.trust_env = False  # no proxy and no .netrc password that nobody configured
    return session


def _broke(why: str, kept: int = 0) -> Broke:
    return Broke(short(why), kept, again=not any(words in why for words in HOPELESS))
