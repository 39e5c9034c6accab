"""What a backup says about itself: who made it, when, and of each file its size, digest and schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from adon.errors import InvalidInput, Problem
from adon.store.access.access_tables import ACCESS
from adon.store.tables import STATE
from adon.yamlfile import check_model
from measurement.archive.tables import VERSION

FORMAT = 1
MANIFEST = "manifest.json"
LARGEST_MANIFEST = 100_000

STATE_FILE, ACCESS_FILE, ARCHIVE_FILE = "state.db", "access.db", "measurements.db"
ACCEPTED_FILE, CONFIGURATION_FILE = "accepted.yaml", "configuration.yaml"

KNOWN: Mapping[str, str | None] = {
    STATE_FILE: STATE.revision,
    ACCESS_FILE: ACCESS.revision,
    ARCHIVE_FILE: str(VERSION),
    ACCEPTED_FILE: None,
    CONFIGURATION_FILE: None,
}
"""The files that a backup may hold, and the schema of each that this code reads."""


class Kept(BaseModel):
    """One file in a backup.

    :param schema_revision: of a database; None for other files.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    schema_revision: Annotated[str, Field(pattern=r"^[a-z]?[0-9]{1,8}$")] | None = None


class Manifest(BaseModel):
    """What a backup says about itself; times as RFC 3339."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int
    made: str
    code: str
    files: dict[str, Kept]


def write(manifest: Manifest) -> bytes:
    """The manifest as JSON."""
    return (json.dumps(manifest.model_dump(mode="json"), indent=2) + "\n").encode()


def read(content: bytes, file: str) -> Manifest:
    """A manifest that this code can restore from.

    :param file: the backup's name, for messages.
    :raises InvalidInput: if it is none, if it holds files that this code does not know, or databases of
        another version.
    """
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        raise InvalidInput(Problem(MANIFEST, "is not JSON", file)) from None
    found = data.get("format") if isinstance(data, dict) else None
    if found != FORMAT:
        cause = f"format {str(found)[:20]} is not known to this version of ADON, which reads {FORMAT}"
        raise InvalidInput(Problem("format", cause, file))
    manifest = check_model(data, Manifest, file)
    wrong = list(_wrong(manifest, file))
    if wrong:
        raise InvalidInput(wrong)
    return manifest


def _wrong(manifest: Manifest, file: str) -> Iterator[Problem]:
    if STATE_FILE not in manifest.files:
        yield Problem(STATE_FILE, "is not in the backup", file)
    for name, kept in manifest.files.items():
        if name not in KNOWN:
            yield Problem(name[:100], "is not a file of a backup", file)
            continue
        known, found = KNOWN[name], kept.schema_revision
        if (known is None) != (found is None):
            yield Problem(name, "must have a schema revision if it is a database, and none if not", file)
        elif found != known:
            cause = (
                f"has schema {found}, this version of ADON needs {known}: restore it with the version "
                f"that made it ({manifest.code[:60]})"
            )
            yield Problem(name, cause, file)
