"""The files that a configuration names: by which keys, whether secret, and from where their names count."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from adon.config import Configuration
from adon.config.access import OpenIdProvider, Shibboleth
from adon.config.controller import ControllerTls
from adon.config.instances import HealthRounds
from adon.config.measurements import (
    Ingest,
    Mail,
    MeasurementPoint,
    Measurements,
    Notify,
    RabbitQueue,
    ResultArchive,
)
from adon.config.network import LinkDiscovery
from adon.config.types import PINNED

Place = tuple[str | int, ...]

SECRET, PUBLIC = True, False
FILES: Mapping[type[BaseModel], Mapping[str, bool]] = {
    ControllerTls: {"certificate": PUBLIC, "key": SECRET, "ca": PUBLIC},
    HealthRounds: {"key_file": SECRET},
    Ingest: {"certificate": PUBLIC, "key": SECRET, "trust": PUBLIC},
    LinkDiscovery: {"key_file": SECRET},
    Mail: {"password_file": SECRET},
    MeasurementPoint: {"verify": PUBLIC, "token_file": SECRET},
    Measurements: {"psconfig": PUBLIC},
    Notify: {"webhook_secret_file": SECRET},
    OpenIdProvider: {"client_secret_file": SECRET, "verify": PUBLIC},
    RabbitQueue: {"url_file": SECRET},
    ResultArchive: {"verify": PUBLIC},
    Shibboleth: {"secret_file": SECRET},
}
"""By section the keys that name a file, and whether nobody else may read it."""
_NO_FILE = re.compile(rf"system|none|{PINNED}.*")
"""What ``verify`` may say instead of a file."""
BESIDE_OURS = ("measurements", "compute", "health")
"""Sections whose names of files count from the configuration's folder; those of others from where
``adon serve`` is started."""


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file that a configuration names.

    :param place: where in the configuration.
    :param text: as it is written there.
    """

    place: Place
    text: str
    secret: bool

    @property
    def beside_ours(self) -> bool:
        """Whether a relative name counts from the configuration's folder."""
        return self.place[0] in BESIDE_OURS

    def path(self, folder: Path) -> Path:
        """Where it is.

        :param folder: of the configuration.
        """
        return folder / self.text if self.beside_ours else Path(self.text)


def files_of(configuration: Configuration) -> Iterator[NamedFile]:
    """Every file that is named, in the order of the sections."""
    yield from _inside(configuration, ())


def _inside(value: Any, place: Place) -> Iterator[NamedFile]:
    if isinstance(value, BaseModel):
        named = FILES.get(type(value), {})
        for name, field in type(value).model_fields.items():
            found, here = getattr(value, name), (*place, field.alias or name)
            if name not in named:
                yield from _inside(found, here)
            elif isinstance(found, str | Path) and not (name == "verify" and _NO_FILE.fullmatch(str(found))):
                yield NamedFile(here, str(found), named[name])
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _inside(one, (*place, key))
    elif isinstance(value, tuple):
        for number, one in enumerate(value):
            yield from _inside(one, (*place, number))
