"""``pegasus-status``: its table (all versions) and its JSON (``-j``, since Pegasus 5).

The table has a line of column names, which differ between versions and between ``-l`` and without::

    UNREADY READY  PRE  IN_Q  POST  DONE  FAIL %DONE  STATE   DAGNAME
    UNREADY   READY     PRE  QUEUED    POST SUCCESS FAILURE %DONE

then a line per DAG, with ``-l`` one of totals, and at last ``Summary: 3 DAGs total (Running:3)``.  Numbers
may have thousands separators.  Pegasus 4 marks the workflow itself with an asterisk, 5 prints it first.

Pegasus 5 says Failure as soon as one job has failed for good, while DAGMan still runs all that does not
depend on it.  DAGMan is itself a job in HTCondor's queue, so a workflow that has jobs there still runs.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from measurement.custom.pegasus.model import Counts, Dag, State, WorkflowStatus

_HEADER = re.compile(
    r"^[ \t]*UNRE?A?DY\s+READY\s+PRE\s+(?:IN_Q|QUEUED)\s+POST\s+(?:DONE|SUCCESS)\s+(?:FAIL|FAILURE)\s+%DONE",
    re.MULTILINE,
)
_ROW = re.compile(r"\s*(?P<numbers>(?:[\d,]+\s+){7})(?P<percent>[\d.,]+)(?P<rest>.*)")
_SUMMARY = re.compile(r"Summary: [\d,]+ DAGs? total \((?P<states>[^)]*)\)")
_QUEUED = re.compile(r"^Summary: [\d,]+ Condor jobs? total \(", re.MULTILINE)
_TREE = " \t│├└─┃┣┗━|\\_*"
_TOTALS = re.compile(r"TOTALS\s*\(")
_FIELDS = ("unready", "ready", "pre", "queued", "post", "succeeded", "failed")


def read_status(text: str) -> WorkflowStatus:
    """The output of ``pegasus-status``, whichever of its forms it has.

    :raises ValueError: when it is none of them.
    """
    return _from_json(text) if text.lstrip().startswith("{") else _from_table(text)


def _from_table(text: str) -> WorkflowStatus:
    rows, summary = _rows(text)
    if not rows:
        raise ValueError("there is no table of jobs in it")
    totals = [counts for counts, rest in rows if _TOTALS.search(rest)]
    dags = [_dag(counts, rest) for counts, rest in rows if rest and not _TOTALS.search(rest)]
    counts = totals[-1] if totals else rows[-1][0]
    queued = _QUEUED.search(text) is not None
    state = _while_queued(_table_state(dags, summary), queued)
    return WorkflowStatus(counts, state, tuple(dag for dag, _ in dags))


def _rows(text: str) -> tuple[list[tuple[Counts, str]], str]:
    # The lines after the *last* header: job names and held reasons above it are anybody's words.
    headers = list(_HEADER.finditer(text))
    if not headers:
        return [], ""
    rows: list[tuple[Counts, str]] = []
    for line in text[headers[-1].end() :].splitlines()[1:]:
        summary = _SUMMARY.search(line)
        if summary is not None:
            return rows, summary["states"]
        row = _ROW.fullmatch(line)
        if row is not None:
            rows.append((_counts(row), row["rest"].strip()))
    return rows, ""


def _counts(row: re.Match[str]) -> Counts:
    numbers = [int(number.replace(",", "")) for number in row["numbers"].split()]
    return _filled(numbers, row["percent"].replace(",", ""))


def _dag(counts: Counts, rest: str) -> tuple[Dag, bool]:
    # A DAG and whether it is marked as the workflow itself.
    word, _, name = rest.partition(" ")
    state = State(word) if word in set(State) else None
    name = name if state is not None or word == "None" else rest
    return Dag(name.strip(_TREE), counts, state), name.lstrip().startswith("*")


def _table_state(dags: list[tuple[Dag, bool]], summary: str) -> State | None:
    if dags:
        marked = [dag for dag, root in dags if root]
        return (marked[0] if marked else dags[0][0]).state
    named = [state for state in State if f"{state}:" in summary]
    if len(named) == 1:
        return named[0]
    # A mixture: while one runs, the workflow does; a failed sub-workflow fails it.
    return next((state for state in (State.RUNNING, State.FAILURE) if state in named), None)


def _while_queued(state: State | None, queued: bool) -> State | None:
    return State.RUNNING if queued and state is State.FAILURE else state


def _from_json(text: str) -> WorkflowStatus:
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


def _json_dags(found: Mapping[str, Any]) -> Iterator[tuple[str, Dag]]:
    for key, fields in found.items():
        if fields:
            state = fields.get("state")
            name = str(fields.get("dagname", key))
            yield key, Dag(name, _json_counts(fields), None if state is None else State(state))


def _json_counts(fields: Mapping[str, Any]) -> Counts:
    return _filled([_whole(fields[name]) for name in _FIELDS], fields["percent_done"])


def _filled(numbers: list[int], percent: object) -> Counts:
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
