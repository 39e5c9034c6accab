"""All workflows that a user ever started: Pegasus' own list of them, an SQLite file in the user's home.

``~/.pegasus/workflow.db`` is what Pegasus' dashboard shows (tables ``master_workflow`` and
``master_workflowstate``).  It is opened read-only.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from measurement.custom.errors import MetricFailed

_NEWEST_FIRST = """
SELECT w.wf_uuid, w.dax_label, w.submit_dir, s.state, s.status, s.timestamp
FROM master_workflow AS w
LEFT JOIN master_workflowstate AS s ON s.wf_id = w.wf_id AND s.timestamp =
    (SELECT MAX(latest.timestamp) FROM master_workflowstate AS latest WHERE latest.wf_id = w.wf_id)
ORDER BY w.timestamp DESC, w.wf_id DESC, s.state = 'WORKFLOW_TERMINATED' DESC
"""


@dataclass(frozen=True, slots=True)
class Workflow:
    """One entry of the list.

    :param uuid: Pegasus' identity of it.
    :param label: what its author called it.
    :param folder: its submit directory; the user's, so it does not leave the host.
    :param running: DAGMan started and has not ended.
    :param succeeded: None while it has not ended.
    :param since: when it came into this state, seconds since the epoch; None when it never started.
    """

    uuid: str
    label: str
    folder: str
    running: bool
    succeeded: bool | None
    since: float | None

    @property
    def name(self) -> str:
        """Its label and the beginning of its identity: several runs have one label."""
        return f"{self.label}-{self.uuid[:8]}"


def all_workflows(database: Path) -> list[Workflow]:
    """The user's workflows, the newest first.

    :raises MetricFailed: when the file is not there, locked, or not such a list.
    """
    try:
        with closing(
            sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True, timeout=2)
        ) as opened:
            rows = opened.execute(_NEWEST_FIRST).fetchall()
    except sqlite3.Error as error:
        raise MetricFailed(
            "the list of workflows cannot be read", f"{database}: {error}", code="unreadable"
        ) from None
    found = {row[0]: row for row in reversed(rows)}  # two states at one instant: the first, the end, is kept
    return [_workflow(row) for row in reversed(found.values())]


def _workflow(row: tuple[str, str | None, str | None, str | None, int | None, float | None]) -> Workflow:
    uuid, label, folder, state, status, since = row
    ended = state == "WORKFLOW_TERMINATED"
    return Workflow(
        str(uuid),
        str(label or "workflow"),
        str(folder or ""),
        state == "WORKFLOW_STARTED",
        (status == 0) if ended else None,
        None if since is None else float(since),
    )
