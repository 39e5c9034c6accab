"""Test networks that stand, found by their run folders, and taken down."""

from __future__ import annotations

import fcntl
import os
import select
import signal
from collections.abc import Sequence
from pathlib import Path

from adon.errors import Conflict, InvalidInput, Unavailable
from mininet_topos.old_isolation import default_folder, run_folders
from mininet_topos.standing.asked import FILE, Standing, read

STOP_TIMEOUT = 30.0


def standing() -> list[Standing]:
    """All of this user's, by name; one that is being removed, or whose owner is gone, is not counted."""
    locked = (file.parent for file in sorted(run_folders().glob(f"*/{FILE}")) if _locked(file.parent))
    return [found for found in map(_read, locked) if found is not None]


def _read(folder: Path) -> Standing | None:
    try:
        return read(folder)
    except Unavailable:  # its owner was quicker
        return None


def one(name: str | None) -> Standing:
    """The one of this name, or the only one.

    :raises Unavailable: if none stands at all.
    :raises InvalidInput: if there is none of this name, or none is named and there are several.
    """
    there = standing()
    names = ", ".join(each.name for each in there)
    if name is None:
        if not there:
            raise Unavailable("no testbed stands; bring one up with: adon testbed up mu_osu")
        if len(there) > 1:
            raise InvalidInput.of("name", f"several testbeds stand ({names}): say which", "missing")
        return there[0]
    default_folder(name)  # refuses what is no name
    for each in there:
        if each.name == name:
            return each
    raise InvalidInput.of(
        "name",
        f"no testbed {name!r} stands; {f'there are {names}' if names else 'none does'}",
        "unknown-name",
    )


def require_free(name: str) -> None:
    """Refuse a name that is taken.

    :raises Conflict: saying what to do.
    """
    if name in {each.name for each in standing()}:
        raise Conflict(
            "testbed",
            f"{name} stands already: take it down (adon testbed down {name}), or say another --name",
        )


def split(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """A testbed's name, if the first word is one of those that stand, and the rest."""
    if words and words[0] in {each.name for each in standing()}:
        return words[0], list(words[1:])
    return None, list(words)


def taken_down(which: Standing) -> None:
    """Ask its owner to end, and wait until it has; what does not end is ended.

    :raises Unavailable: if it cannot be ended.
    """
    try:
        owner = os.pidfd_open(which.owner)
    except ProcessLookupError:
        return
    try:
        if not _owns(which):  # it has ended, and its number is another process's
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            signal.pidfd_send_signal(owner, number)
            if select.select([owner], [], [], STOP_TIMEOUT)[0]:
                return
        raise Unavailable(
            f"the testbed {which.name} does not end: process {which.owner} was killed, and stays"
        )
    except (ProcessLookupError, PermissionError) as error:
        raise Unavailable(f"the testbed {which.name} cannot be ended: {error}") from error
    finally:
        os.close(owner)


def _owns(which: Standing) -> bool:
    """Whether its owner is still there."""
    found = _read(which.folder)
    return found is not None and found.owner == which.owner and _locked(which.folder)


def _locked(folder: Path) -> bool:
    """Whether somebody has it."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False
