"""Before an upgrade: refuse what a newer version wrote, and keep what an older one did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from adon.errors import Unavailable, UnknownSchema
from adon.store.engine import parse_url
from apps.backup import databases, making
from apps.backup.manifest import ACCESS_FILE, KNOWN, STATE_FILE, newer

FOLDER = "backups"
"""In the data folder: what was kept before upgrades."""


def before_upgrade(data: Path, state_url: str, access_url: str, now: float) -> Path | None:
    """Keep the databases that are about to be changed; the backup, or None if nothing is to change.

    Databases on a server need the server's own tools (docs/availability-backup-upgrade.md).

    :param now: seconds since the epoch.
    :raises UnknownSchema: if a newer version of ADON has written one of them.
    :raises Unavailable: if they cannot be kept. In either case nothing is changed.
    """
    found = dict(_files({STATE_FILE: state_url, ACCESS_FILE: access_url}))
    schemas = {name: databases.schema_of(name, file) for name, file in found.items()}
    old = {name: schema for name, schema in schemas.items() if schema is not None}
    for name, schema in old.items():
        if newer(schema, str(KNOWN[name])):
            raise UnknownSchema(
                f"{found[name]} was written by a newer version of ADON: it has schema {schema}, this version "
                f"knows {KNOWN[name]}; install that version again, or restore a backup of before its upgrade"
            )
    if all(schema == KNOWN[name] for name, schema in old.items()):
        return None
    folder = data / FOLDER
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"{folder}: {error.strerror}") from error
    return making.make({name: found[name] for name in old}, folder, now).file


def _files(urls: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    for name, url in urls.items():
        parsed = parse_url(url)
        if parsed.get_backend_name() == "sqlite":
            file = Path(str(parsed.database))
            if file.is_file() and file.stat().st_size:
                yield name, file
