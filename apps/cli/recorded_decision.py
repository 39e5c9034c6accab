"""Recorded decision with its inputs, from a database or a file: its replay and its alternatives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from adon.api.decisions import WhyNotView
from adon.broker.decision import Decision
from adon.broker.flipping.nearest import why_not
from adon.broker.flipping.words import as_json
from adon.broker.recompute.again import decided_again
from adon.broker.recompute.codec import Decoder, parts_of
from adon.broker.recompute.differences import Difference, differences
from adon.broker.recompute.encoded import digest
from adon.code_version import code_version
from adon.errors import InvalidInput, NotFound, Problem, Unavailable
from apps.cli.common import write
from apps.cli.local_databases import open_state
from measurement.model import from_json, to_json


@dataclass(frozen=True, slots=True)
class Record:
    """Decision with its inputs.

    :ivar code: version of the code that made it.
    :ivar snapshot: the inputs, as text; ``parts``: by digest.
    """

    decision: Decision
    code: str
    snapshot: str
    parts: Mapping[str, str]

    def write(self, file: Path) -> None:
        """Write the record to a file, for a version that cannot open this database.

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
class Replay:
    """Comparison of a recorded decision with its replay.

    :ivar code: version that made the decision; ``now``: this version.
    """

    decision: Decision
    code: str
    now: str
    digest: str
    size: int
    parts: int
    differences: tuple[Difference, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
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


def read_database(decision: str, data: Path | None, url: str | None) -> Record:
    """Return a decision of the state's database.

    :raises NotFound: for a missing decision, or one whose inputs were not kept.
    """
    with open_state(data, url) as store:
        recorded, kept = store.decision(decision), store.snapshot(decision)
        if digest(kept.text) != kept.digest:
            raise Unavailable(f"the inputs of {decision} have changed: their digest differs")
        return Record(
            recorded, kept.code, kept.text, {n: store.snapshot_part(n) for n in parts_of(kept.text)}
        )


def read_file(file: Path) -> Record:
    """Return what :meth:`Record.write` wrote.

    :raises InvalidInput: for another file.
    """
    try:
        body = json.loads(file.read_text("utf-8"))
        decision = from_json(Decision, body["decision"])
        return Record(decision, str(body["code"]), str(body["snapshot"]), dict(body["parts"]))
    except OSError as error:
        raise InvalidInput(Problem("", f"cannot be read: {error.strerror}", str(file))) from error
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(Problem("", f"is no recorded decision: {error}", str(file))) from error


def _decode(record: Record) -> Any:
    """Return the inputs of a decision.

    :raises Unavailable: for inputs that this version cannot read.
    """

    def fetch(name: str) -> str:
        if name not in record.parts:
            raise NotFound("part of the snapshot", name)
        return record.parts[name]

    try:
        return Decoder(fetch).decode(record.snapshot)
    except ValueError as error:
        raise Unavailable(f"this version cannot read the inputs of {record.decision.id}: {error}") from error


def replay_record(record: Record) -> Replay:
    """Replay a decision and compare.

    :raises Unavailable: for inputs that this version cannot read.
    """
    return Replay(
        record.decision,
        record.code,
        code_version(),
        digest(record.snapshot),
        len(record.snapshot) + sum(map(len, record.parts.values())),
        len(record.parts),
        differences(record.decision, decided_again(_decode(record))),
    )


def search_alternatives(record: Record) -> WhyNotView:
    """Return the smallest changes with which a decision selects another path or site.

    :raises Unavailable: for inputs that this version cannot read.
    """
    found = why_not(_decode(record))
    return WhyNotView.model_validate(
        {
            **as_json(found),
            "code": record.code,
            "this_code": code_version(),
            "as_recorded": not differences(record.decision, found.decision),
        }
    )
