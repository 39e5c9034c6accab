"""One run: the files of a transfer, one after the other, checked, counted, held back, stopped."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from adon.transfers.plan import HERE, End
from apps.movers.checksums import matches
from apps.movers.irods_zone import Zone, ZoneTrouble
from apps.movers.throttle import Throttle
from apps.movers.tool import short

log = logging.getLogger("apps.movers")

UNDER_WAY = ".adon-part"
"""Added to the name of what comes here until it is whole."""


class _Stop(Exception):
    """Somebody wants the run to end."""


class _Wrong(Exception):
    """It cannot go on; in words."""

    def __init__(self, why: str, *, again: bool) -> None:
        super().__init__(why)
        self.again = again


@dataclass(frozen=True, slots=True)
class Stands:
    """Where a run is; bytes.

    :param moved: by this run, also of a file that is not whole yet.
    :param kept: of these, in whole files.
    :param there: of all files, those that were there already too, once it is over.
    :param to_move: in all; None until that is known.
    :param why: what ended it before its time.
    :param again: whether another run may go better.
    """

    moved: int = 0
    kept: int = 0
    there: int = 0
    to_move: int | None = None
    files: int = 0
    files_whole: int | None = None
    over: bool = False
    why: str | None = None
    again: bool = True


class Run:
    """See the module.  ``stands`` is replaced by the run's thread alone, and read by any."""

    def __init__(
        self,
        connect: Callable[[], AbstractContextManager[Zone]],
        ends: tuple[End, End],
        throttle: Throttle,
        *,
        by_checksum: bool,
    ) -> None:
        self._connect = connect
        self._source, self._destination = ends
        self._throttle = throttle
        self._by_checksum = by_checksum
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.stands = Stands()

    def start(self, name: str) -> None:
        """Begin."""
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def stop(self, within: float) -> bool:
        """Have it end; whether it has, after at most so many seconds."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(within)
        return self._thread is None or not self._thread.is_alive()

    def _run(self) -> None:
        why: str | None = None
        again = True
        try:
            with self._connect() as zone:
                self._move(zone)
        except _Stop:
            why = "stopped"
        except (ZoneTrouble, _Wrong) as error:
            why, again = short(str(error)), error.again
        except OSError as error:
            why = short(f"a file here: {error.strerror}: {error.filename}")
        except Exception as error:
            log.exception("event=irods.fault")
            why = f"a fault of ours: {type(error).__name__}"
        self.stands = replace(self.stands, over=True, why=why, again=again)

    def _move(self, zone: Zone) -> None:
        putting = self._source.fs == HERE
        found = list(self._files_here() if putting else zone.files(self._source.name))
        there = 0
        left: list[tuple[str, int]] = []
        for name, size in found:
            there += size
            if not self._is_there(zone, name, size, putting=putting):
                left.append((name, size))
            self._go_on()
        to_move = sum(size for _, size in left)
        self.stands = replace(self.stands, to_move=to_move, files_whole=len(left), there=there)
        for name, size in left:
            (self._put if putting else self._get)(zone, name)
            kept = self.stands.kept + size
            self.stands = replace(self.stands, kept=kept, moved=kept, files=self.stands.files + 1)

    def _put(self, zone: Zone, name: str) -> None:
        local, path = self._here(self._source, name), _below(self._destination, name)
        zone.make(path.rpartition("/")[0])
        zone.put(str(local), path, self._piece)
        if not matches(zone.checksum(path), local, self._go_on):
            raise _Wrong(f"{name or path}: the checksum at iRODS is another than here", again=True)

    def _get(self, zone: Zone, name: str) -> None:
        path, local = _below(self._source, name), self._here(self._destination, name)
        local.parent.mkdir(parents=True, exist_ok=True)
        under_way = local.with_name(local.name + UNDER_WAY)
        zone.get(path, str(under_way), self._piece)
        if not matches(zone.checksum(path), under_way, self._go_on):
            under_way.unlink()
            raise _Wrong(f"{name or path}: the checksum here is another than at iRODS", again=True)
        under_way.replace(local)

    def _is_there(self, zone: Zone, name: str, size: int, *, putting: bool) -> bool:
        """Whether a file need not be moved."""
        ends = (self._source, self._destination) if putting else (self._destination, self._source)
        local, path = self._here(ends[0], name), _below(ends[1], name)
        known = zone.size(path) if putting else (local.stat().st_size if local.is_file() else None)
        if known != size:
            return False
        return not self._by_checksum or matches(zone.checksum(path), local, self._go_on)

    def _piece(self, size: int) -> None:
        self.stands = replace(self.stands, moved=self.stands.moved + size)
        self._throttle.moved(size, self._stop.is_set)
        self._go_on()

    def _go_on(self) -> None:
        if self._stop.is_set():
            raise _Stop

    def _files_here(self) -> Iterator[tuple[str, int]]:
        """All below the source, by relative path; links are not followed, for they could lead anywhere."""
        start = self._here(self._source, "")
        if start.is_file():
            yield "", start.stat().st_size
            return
        if not start.is_dir():
            raise _Wrong(f"there is no file or folder {self._source.name}", again=False)
        for folder, below, names in os.walk(start):
            below.sort()
            for name in sorted(names):
                one = Path(folder) / name
                if one.is_file() and not one.is_symlink():
                    yield one.relative_to(start).as_posix(), one.stat().st_size

    def _here(self, end: End, name: str) -> Path:
        """A path of this machine, which must not leave the folder that the configuration names."""
        path = Path(_below(end, name))
        if not path.resolve().is_relative_to(Path(end.root).resolve()):
            raise _Wrong(f"{path} leads out of {end.root}", again=False)
        return path


def _below(end: End, name: str) -> str:
    return f"{end.name.rstrip('/')}/{name}" if name else end.name
