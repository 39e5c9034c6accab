"""Every single failure rehearsed: one question to the controller each, so that decisions go in between.

It takes a while, so whoever asks while it is done, or soon after, shares what was found: each for themselves
would keep a thread of the server busy for as long, and the controller with the same questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from adon.errors import InvalidInput, NotFound
from apps.rest.snapshots import Snapshot

SHARED_S = 5.0
"""Seconds for which one rehearsal of everything serves everybody; the answer says when it was made."""
STALE_S = 60.0
"""Seconds for which it serves those who ask while the next one is made: nobody waits for seconds."""

Ask = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def every_single_failure(ask: Ask) -> Snapshot:
    """Each link, path, switch and port, one at a time (N-1), the most damage first: ``at`` and ``items``.

    :param ask: asks the controller about one failure; about none, which ones there are.
    :raises Unavailable: if it does not answer.
    """
    known = ask({})
    found: list[Mapping[str, Any]] = []
    for scenario in known["scenarios"]:
        # What was discovered may be gone since: then there is nothing to rehearse.
        with suppress(InvalidInput, NotFound):
            found += ask(scenario)["items"]
    worst = sorted(found, key=lambda one: tuple(one["damage"]), reverse=True)
    return {"at": known["at"], "items": worst}
