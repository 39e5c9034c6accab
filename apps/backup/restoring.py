"""Put a backup back: into a folder that is new or empty, complete or not at all."""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
from pathlib import Path

from adon.errors import Conflict, InvalidInput, Problem, Unavailable
from apps.backup import databases, manifest
from apps.backup.making import OURS_ONLY, digest
from apps.backup.manifest import LARGEST_MANIFEST, MANIFEST, Manifest

FOLDER_MODE = 0o700


def restore(file: Path, data: Path) -> Manifest:
    """Make a data folder of a backup; what the backup says about itself.

    Everything is unpacked beside the folder and checked there; the last step gives it its name.

    :param data: a folder that is empty, or not there; if it is there, it keeps its owner.
    :raises Conflict: if there is something in the folder.
    :raises InvalidInput: if the file is no backup, is damaged, or is of a newer version of ADON.
    :raises Unavailable: if the files cannot be written, or a database is damaged.
    """
    data = data.resolve()
    _check_empty(data)
    try:
        with tempfile.TemporaryDirectory(prefix=".adon-restore-", dir=data.parent) as made:
            folder = Path(made) / "data"
            folder.mkdir(mode=FOLDER_MODE)
            said = _unpack(file, folder)
            _owned_like(data, folder)
            _check_empty(data)
            folder.rename(data)  # onto an empty folder at most (rename(2))
            return said
    except OSError as error:
        raise Unavailable(f"{error.filename or data}: {error.strerror}") from error


def _check_empty(data: Path) -> None:
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise Conflict("data", f"{data} is not empty: a backup is restored into a new folder only")


def _unpack(file: Path, folder: Path) -> Manifest:
    try:
        with tarfile.open(file, "r:") as tar:
            said = _manifest(tar, file)
            for name, kept in said.files.items():
                entry = tar.getmember(name)
                content = tar.extractfile(entry) if entry.isreg() and entry.size == kept.size else None
                if content is None:
                    raise _damage_error(file, name, "is not of the size that the manifest tells")
                descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OURS_ONLY)
                with os.fdopen(descriptor, "wb") as output:
                    shutil.copyfileobj(content, output)
                    output.flush()
                    os.fsync(output.fileno())
                _check(file, folder / name, said)
    except FileNotFoundError as error:
        raise InvalidInput.of("file", f"{error.filename}: there is no such file") from error
    except KeyError as error:
        raise InvalidInput(Problem("", f"is incomplete: {error.args[0]}", str(file))) from error
    except tarfile.TarError as error:
        raise InvalidInput(Problem("", f"is not a backup, or is damaged: {error}", str(file))) from error
    return said


def _manifest(tar: tarfile.TarFile, file: Path) -> Manifest:
    entry = tar.getmember(MANIFEST)
    content = tar.extractfile(entry) if entry.isreg() and entry.size <= LARGEST_MANIFEST else None
    if content is None:
        raise _damage_error(file, MANIFEST, "is no manifest")
    return manifest.read(content.read(), str(file))


def _check(file: Path, unpacked: Path, said: Manifest) -> None:
    kept = said.files[unpacked.name]
    if digest(unpacked) != kept.sha256:
        raise _damage_error(file, unpacked.name, "is damaged: its SHA-256 is not what the manifest tells")
    if kept.schema_revision is not None:
        databases.check(unpacked)
        if databases.schema_of(unpacked.name, unpacked) != kept.schema_revision:
            raise _damage_error(file, unpacked.name, "is of another schema than the manifest tells")


def _damage_error(file: Path, name: str, cause: str) -> InvalidInput:
    return InvalidInput(Problem(name, cause, str(file)))


def _owned_like(data: Path, folder: Path) -> None:
    """Give the files to whom the empty folder belongs: root restores for the service's user."""
    if not data.is_dir():
        return
    owner = data.stat()
    if os.geteuid() != 0 and owner.st_uid == os.geteuid():
        return
    for path in (folder, *folder.iterdir()):
        os.chown(path, owner.st_uid, owner.st_gid)
