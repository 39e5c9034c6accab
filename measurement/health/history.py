"""Rounds in a folder, one file each, and how tolerant the markers have become.

``20261122T235800123Z.json.gz`` is the round that began then; ``tolerances.json.gz`` is what the markers
learnt (:class:`measurement.health.markers.Tolerance`).  A file is there whole or not at all.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from measurement.health.markers import Marker, Tolerance
from measurement.health.model import Pair
from measurement.health.record import RoundRecord
from measurement.health.round_judgement import AllTolerances
from measurement.model import from_json, type_adapter

ENDING = ".json.gz"
TOLERANCES = f"tolerances{ENDING}"
_FORMAT = "adon-health-tolerances"


@dataclass(frozen=True, slots=True)
class History:
    """The folder; it is made with the first round, or before."""

    folder: Path

    def make(self) -> None:
        """Make the folder, if need be, and see that rounds can be kept in it.

        :raises OSError: if they cannot.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=self.folder):
            pass

    def files(self) -> list[Path]:
        """The rounds, the newest last."""
        return sorted(one for one in self.folder.glob(f"*T*Z{ENDING}"))

    def latest(self, count: int) -> list[RoundRecord]:
        """So many rounds at most, the newest last.

        :raises ValueError: if a file is none; it names it.
        :raises OSError: if one cannot be read.
        """
        return [read(file) for file in self.files()[-count:]] if count > 0 else []

    def keep(self, record: RoundRecord) -> Path:
        """Write a round, and where it is.

        :raises ValueError: if there is one of that time.
        :raises OSError: if it cannot be written.
        """
        file = self.folder / f"{name_of(record)}{ENDING}"
        if file.exists():
            raise ValueError(f"began: {file} is a round that began then")
        _write(file, type_adapter(RoundRecord).dump_json(record))
        return file

    def tolerances(self) -> AllTolerances:
        """What the markers learnt; nothing where there is no such file.

        :raises ValueError: if the file is none; it names it.
        """
        file = self.folder / TOLERANCES
        if not file.exists():
            return {}
        try:
            return _tolerances(json.loads(_text(file)))
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from error

    def keep_tolerances(self, of: AllTolerances) -> None:
        """Write what the markers learnt, in place of what they knew."""
        pairs = [
            {"source": pair.source, "destination": pair.destination, **_factors(its)}
            for pair, its in of.items()
        ]
        _write(
            self.folder / TOLERANCES,
            json.dumps(
                {"format": _FORMAT, "version": 1, "pairs": [one for one in pairs if len(one) > 2]}
            ).encode(),
        )


def name_of(record: RoundRecord) -> str:
    """What a round's file is called, without its ending: when it began, in UTC, to the millisecond."""
    at = datetime.fromtimestamp(record.began, UTC)
    return f"{at:%Y%m%dT%H%M%S}{at.microsecond // 1000:03}Z"


def read(file: Path) -> RoundRecord:
    """A round from its file, compressed or not.

    :raises ValueError: if it is none; it names the file.
    :raises OSError: if it cannot be read.
    """
    try:
        return from_json(RoundRecord, json.loads(_text(file)))
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error


def _text(file: Path) -> bytes:
    raw = file.read_bytes()
    if not raw.startswith(b"\x1f\x8b"):
        return raw
    try:
        return gzip.decompress(raw)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"is not whole: {error}") from error


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".", suffix=ENDING)
    try:
        with os.fdopen(handle, "wb") as beside:
            beside.write(gzip.compress(content, compresslevel=6, mtime=0))
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _factors(its: Mapping[Marker, Tolerance]) -> dict[str, Any]:
    return {marker.value: [one.factor, one.fired] for marker, one in its.items() if one != Tolerance()}


def _tolerances(body: Any) -> AllTolerances:
    if not isinstance(body, dict) or body.get("format") != _FORMAT or body.get("version") != 1:
        raise ValueError(f"format: is not {_FORMAT!r}, version 1")
    if not isinstance(body.get("pairs"), list):
        raise ValueError("pairs: is no list")
    found: dict[Pair, Mapping[Marker, Tolerance]] = {}
    for number, one in enumerate(body["pairs"]):
        try:
            pair = Pair(str(one["source"]), str(one["destination"]))
            found[pair] = {marker: Tolerance(*map(float, one[marker])) for marker in Marker if marker in one}
        except KeyError as error:
            raise ValueError(f"pairs.{number}.{error.args[0]}: is missing") from None
        except (TypeError, ValueError) as error:
            raise ValueError(f"pairs.{number}: {error}") from error
    return found
