"""A recorded decision with what it saw, from a database or a file, and made again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer

from adon.broker.decision import Decision
from adon.broker.recompute.again import decided_again
from adon.broker.recompute.codec import Decoder, parts_of
from adon.broker.recompute.differences import Difference, differences
from adon.broker.recompute.encoded import digest
from adon.code_version import code_version
from adon.errors import InvalidInput, NotFound, Problem, Unavailable
from apps.cli.common import print_table, write
from apps.cli.databases import state
from measurement.model import from_json, to_json

SHOWN = 80
"""Characters of a value that are printed."""


@dataclass(frozen=True, slots=True)
class Record:
    """A decision and all that is needed to make it again.

    :param code: the version of the code that made it.
    :param snapshot: what it saw, as text; ``parts``: by digest.
    """

    decision: Decision
    code: str
    snapshot: str
    parts: Mapping[str, str]

    def write(self, file: Path) -> None:
        """Write it down, for a version that cannot open this database.

        :raises InvalidInput: if the file cannot be written.
        """
        body = {
            "decision": to_json(self.decision),
            "code": self.code,
            "snapshot": self.snapshot,
            "parts": dict(self.parts),
        }
        write(file, json.dumps(body, indent=1) + "\n", "--save")


@dataclass(frozen=True, slots=True)
class Again:
    """A decision beside the same made again.

    :param code: the version that made it first; ``now``: this one.
    """

    decision: Decision
    code: str
    now: str
    digest: str
    size: int
    parts: int
    differences: tuple[Difference, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "decision": self.decision.id,
            "equal": not self.differences,
            "code": self.code,
            "this_code": self.now,
            "snapshot": self.digest,
            "bytes": self.size,
            "parts": self.parts,
            "differences": [asdict(one) for one in self.differences],
        }

    def print(self) -> None:
        """For people."""
        one = self.decision
        where = f" on {one.path}" if one.path else ""
        typer.echo(f"{one.id} about {one.flow}: {one.outcome}{where}")
        typer.echo(f"inputs: {self.size} bytes in {self.parts} parts, SHA-256 {self.digest}")
        if self.code == self.now:
            typer.echo(f"made by the present code {self.code}")
        else:
            typer.echo(f"made by code {self.code}; the present code is {self.now}")
        if not self.differences:
            typer.echo("the replay equals the recorded decision in every field")
            return
        rows = ((each.field, _short(each.recorded), _short(each.again)) for each in self.differences)
        print_table(("Field", "Recorded", "Made again"), rows, "")


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def from_database(decision: str, data: Path | None, url: str | None) -> Record:
    """What the state's database has.

    :raises NotFound: for a decision that is not there, or whose snapshot was not kept.
    """
    with state(data, url) as store:
        recorded, kept = store.decision(decision), store.snapshot(decision)
        if digest(kept.text) != kept.digest:
            raise Unavailable(f"the inputs of {decision} have changed: their digest differs")
        return Record(
            recorded, kept.code, kept.text, {n: store.snapshot_part(n) for n in parts_of(kept.text)}
        )


def from_file(file: Path) -> Record:
    """What :meth:`Record.write` wrote.

    :raises InvalidInput: for anything else.
    """
    try:
        body = json.loads(file.read_text("utf-8"))
        decision = from_json(Decision, body["decision"])
        return Record(decision, str(body["code"]), str(body["snapshot"]), dict(body["parts"]))
    except OSError as error:
        raise InvalidInput(Problem("", f"cannot be read: {error.strerror}", str(file))) from error
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(Problem("", f"is no recorded decision: {error}", str(file))) from error


def made_again(record: Record) -> Again:
    """Make the decision again and compare.

    :raises Unavailable: for a snapshot that this version cannot read.
    """

    def fetch(name: str) -> str:
        if name not in record.parts:
            raise NotFound("part of the snapshot", name)
        return record.parts[name]

    try:
        snapshot = Decoder(fetch).decode(record.snapshot)
    except ValueError as error:
        raise Unavailable(f"this version cannot read the inputs of {record.decision.id}: {error}") from error
    return Again(
        record.decision,
        record.code,
        code_version(),
        digest(record.snapshot),
        len(record.snapshot) + sum(map(len, record.parts.values())),
        len(record.parts),
        differences(record.decision, decided_again(snapshot)),
    )
