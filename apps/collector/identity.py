"""Who this collector is to the measurement points, from one start to the next.

Tasks carry an owner, and keys that are derived from a secret.  Both are kept, so that what a collector that
was killed left on the points is found and cancelled by the next one.  Each start is an owner of its own:
a sweep for the one before can never meet a task of the present one.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field, replace
from pathlib import Path

from adon.errors import InvalidInput
from apps.collector import files

FILE = "collector.json"


@dataclass(frozen=True, slots=True)
class Identity:
    """See the module.

    :param name: this installation's, random.
    :param start: counts the starts, from 1.
    :param secret: task keys are derived from it.
    """

    name: str
    start: int
    secret: bytes = field(repr=False)

    @property
    def owner(self) -> str:
        """What this start's tasks carry."""
        return f"adon/{self.name}/{self.start}"

    @property
    def before(self) -> Identity | None:
        """The start before; None for the first."""
        return None if self.start <= 1 else replace(self, start=self.start - 1)


def next_start(data: Path) -> Identity:
    """The identity of a collector that starts now; kept before it is given.

    :raises InvalidInput: if the folder's file is not one of ours, or cannot be written.
    """
    file = data / FILE
    try:
        held = files.read(file)
        found = Identity(secrets.token_hex(6), 1, secrets.token_bytes(32))
        if held is not None:
            known = json.loads(held)
            found = Identity(str(known["name"]), int(known["start"]) + 1, bytes.fromhex(str(known["secret"])))
        content = {"name": found.name, "start": found.start, "secret": found.secret.hex()}
        files.write(file, json.dumps(content).encode())
    except (OSError, ValueError, KeyError, TypeError) as error:
        cause = getattr(error, "strerror", None) or "is damaged"
        raise InvalidInput.of("data", f"{FILE}: {cause}") from None
    return found
