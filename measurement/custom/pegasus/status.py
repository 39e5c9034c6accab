"""``pegasus-status -j``: the state of a workflow as JSON (Pegasus 5).

It says Failure as soon as one job has failed for good, while DAGMan still runs all that does not depend on
it.  DAGMan is itself a job in HTCondor's queue, so a workflow that has jobs there still runs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from measurement.custom.pegasus.model import Counts, Dag, State, WorkflowStatus

_FIELDS = ("unready", "ready", "pre", "queued", "post", "succeeded", "failed")


def read_status(text: str) -> WorkflowStatus:
    """The output of ``pegasus-status -j``.

    :raises ValueError: when it is something else.
    """
    try:
        document = json.loads(text)
        totals = _json_counts(document["totals"])
        dags = dict(_json_dags(document["dags"]))
        queued = bool(document.get("condor_jobs"))
    except (KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise ValueError(f"its JSON is not a status: {type(error).__name__} {error}"[:200]) from None
    if "root" not in dags:
        raise ValueError("its JSON is not a status: there is no root DAG")
    return WorkflowStatus(totals, _while_queued(dags["root"].state, queued), tuple(dags.values()))


def _while_queued(state: State | None, queued: bool) -> State | None:
    return State.RUNNING if queued and state is State.FAILURE else state


def _json_dags(found: Mapping[str, Any]) -> Iterator[tuple[str, Dag]]:
    for key, fields in found.items():
        if fields:
            state = fields.get("state")
            name = str(fields.get("dagname", key))
            yield key, Dag(name, _json_counts(fields), None if state is None else State(state))


def _json_counts(fields: Mapping[str, Any]) -> Counts:
    return _complete_counts([_whole(fields[name]) for name in _FIELDS], fields["percent_done"])


def _complete_counts(numbers: list[int], percent: object) -> Counts:
    unready, ready, pre, queued, post, done, failed = numbers
    return Counts(unready, ready, pre, queued, post, done, failed, _percent(percent))


def _whole(number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ValueError(f"{str(number)[:40]!r} is not a number of jobs")
    return number


def _percent(found: object) -> float:
    percent = float(str(found))
    if not (math.isfinite(percent) and 0 <= percent <= 100):
        raise ValueError(f"{str(found)[:40]!r} is not a percentage")
    return percent
