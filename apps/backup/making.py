"""Make a backup: one tar file, readable by its owner only, there when it is complete."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from adon.code_version import code_version
from adon.errors import Conflict, InvalidInput, Unavailable
from adon.timestamps import format_time
from apps.backup import databases, manifest
from apps.backup.manifest import (
    ACCEPTED_FILE,
    ACCESS_FILE,
    ARCHIVE_FILE,
    CONFIGURATION_FILE,
    FORMAT,
    MANIFEST,
    STATE_FILE,
    Kept,
    Manifest,
)

OURS_ONLY = 0o600


@dataclass(frozen=True, slots=True)
class Made:
    """A backup that was made: where it is, how large, and what it says."""

    file: Path
    size: int
    manifest: Manifest


def sources(data: Path, *, measurements: bool, config: Path | None) -> Mapping[str, Path]:
    """The files that a backup of a data folder is made of, by their names in it.

    :param measurements: whether with the archive of measurements, usually the largest of them.
    :param config: the operator's own configuration file, to be kept beside what was accepted of it.
    :raises InvalidInput: if there is no state database in the folder.
    """
    if not (data / STATE_FILE).is_file():
        cause = f"{data}: there is no {STATE_FILE} in it; state in PostgreSQL is backed up by pg_dump"
        raise InvalidInput.of("data", cause)
    wanted = [STATE_FILE, ACCESS_FILE, ACCEPTED_FILE, *([ARCHIVE_FILE] if measurements else [])]
    found = {name: data / name for name in wanted if (data / name).is_file()}
    return found if config is None else {**found, CONFIGURATION_FILE: config}


def make(found: Mapping[str, Path], target: Path, now: float) -> Made:
    """Make a backup of these files.

    :param target: the new file, or a folder for it: then it is named after the time.
    :param now: seconds since the epoch.
    :raises Conflict: if there is such a file already.
    :raises Unavailable: if a database cannot be read, or the backup not be written; nothing is left then.
    """
    if target.is_dir():
        target = target / f"adon-{format_time(int(now)).replace(':', '').replace('-', '')}.tar"
    if target.exists():
        raise Conflict("target", f"{target} is there already")
    try:
        with tempfile.TemporaryDirectory(prefix=".adon-backup-", dir=target.parent) as folder:
            return _make_backup(found, target, Path(folder), now)
    except OSError as error:
        raise Unavailable(f"{error.filename or target}: {error.strerror}") from error


def _make_backup(found: Mapping[str, Path], target: Path, folder: Path, now: float) -> Made:
    kept: dict[str, Kept] = {}
    for name, source in found.items():
        if name.endswith(".db"):
            databases.copy(source, folder / name)
            schema = databases.schema_of(name, folder / name)
            if schema is None:
                raise Unavailable(f"{source}: has no schema yet: it is no database of ADON")
        else:
            shutil.copyfile(source, folder / name)
            schema = None
        size = (folder / name).stat().st_size
        kept[name] = Kept(size=size, sha256=digest(folder / name), schema_revision=schema)
    said = Manifest(format=FORMAT, made=format_time(now), code=code_version(), files=kept)
    packed = folder / "packed"
    with os.fdopen(os.open(packed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OURS_ONLY), "wb") as output:
        with tarfile.open(fileobj=output, mode="w") as tar:
            content = manifest.write(said)
            tar.addfile(_entry(MANIFEST, len(content), now), BytesIO(content))
            for name, one in kept.items():
                with (folder / name).open("rb") as file:
                    tar.addfile(_entry(name, one.size, now), file)
        output.flush()
        os.fsync(output.fileno())
    try:
        os.link(packed, target)  # unlike a rename it never replaces what somebody else put there
    except FileExistsError:
        raise Conflict("target", f"{target} is there already") from None
    _on_disk(target.parent)
    return Made(target, target.stat().st_size, said)


def _entry(name: str, size: int, now: float) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = size, OURS_ONLY, int(now)
    return entry


def digest(file: Path) -> str:
    """The SHA-256 of a file, in hex."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _on_disk(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
