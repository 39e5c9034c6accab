"""Workflows as metrics: one until it is done or failed, or all that a user has ([ADON] 4.2).

The tools run under the account of whoever started this program, with that account's own credentials; neither
these nor what identifies the account is in the values.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from measurement.custom.errors import MetricFailed
from measurement.custom.execute import Aborted, Limits, environment, execute
from measurement.custom.model import PERIOD, Endless, Origin
from measurement.custom.pegasus import observations
from measurement.custom.pegasus.analyzer import read_analysis
from measurement.custom.pegasus.model import WorkflowStatus
from measurement.custom.pegasus.statistics import read_statistics
from measurement.custom.pegasus.status import read_status
from measurement.custom.pegasus.workflows import Workflow, all_workflows
from measurement.model import Observation

# A JVM is not among these tools, but Python with its libraries is; the output of an analysis can be long.
TOOL_LIMITS = Limits(seconds=60.0, memory=2 * 2**30, output=4 * 2**20)
_AT_A_TIME = 20
_ATTEMPTS = 12

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class Tools:
    """The command line tools of Pegasus.

    :param passed: variables of our environment that they get.
    """

    passed: tuple[str, ...] = ("HOME",)
    limits: Limits = TOOL_LIMITS

    def status(self, folder: str) -> WorkflowStatus:
        """Of the workflow that was submitted from ``folder``.

        :raises MetricFailed: when the tool is missing, takes too long, or says something else.
        """
        return self._ask(read_status, "pegasus-status", "-j", folder)

    def final_observations(self, origin: Origin, name: str, folder: str) -> list[Observation]:
        """What is known of a workflow once it is done or failed: its statistics and its analysis.

        :raises MetricFailed: as :meth:`status`.
        """
        # Without -o it deletes and rewrites the folder "statistics" in the workflow's own submit directory.
        with tempfile.TemporaryDirectory(prefix="pegasus-statistics-") as scratch:
            statistics = self._ask(
                read_statistics, "pegasus-statistics", "-s", "summary", "-o", scratch, folder
            )
        analysis = self._ask(read_analysis, "pegasus-analyzer", "-q", folder)
        return [
            *observations.of_statistics(origin, name, statistics),
            *observations.of_analysis(origin, name, analysis),
        ]

    def _ask(self, read: Callable[[str], _Read], *argv: str) -> _Read:
        found = execute(argv, self.limits, environment(self.passed))
        if isinstance(found, Aborted):
            raise MetricFailed(found.cause, code=found.code)
        try:
            # Not by its status: the analyzer of a failed workflow ends with 2.
            return read(found.stdout)
        except ValueError as error:
            cause = f"{argv[0]} (status {found.status}) cannot be read: {error}"
            raise MetricFailed(cause, found.stderr, code="malformed") from None


class WorkflowMetric:
    """One workflow; ends with it, and then gives its statistics and analysis once.

    Pegasus' own database may lag behind the end, so these are tried for some samples before the end is told
    without them.

    :param name: of the metric, and of the workflow in its series.
    :param folder: its submit directory.
    """

    def __init__(self, name: str, host: str, folder: Path, tools: Tools, period: float = PERIOD) -> None:
        self.name = name
        self.host = host
        self.folder = str(folder)
        self.tools = tools
        self.period = period
        self._attempts = _ATTEMPTS

    def sample(self, now: float) -> list[Observation]:
        """Its status now.

        :raises MetricFailed: when a tool of Pegasus cannot say it.
        """
        origin = Origin(self.host, self.name, now, "pegasus-status")
        found = observations.of_status(origin, self.name, self.tools.status(self.folder))
        if self.is_final(found):
            return found + self._at_the_end(origin)
        self._attempts = _ATTEMPTS
        return found

    def is_final(self, observed: Sequence[Observation]) -> bool:
        """True once it is done or failed."""
        return observations.is_over(observed)

    def _at_the_end(self, origin: Origin) -> list[Observation]:
        try:
            return self.tools.final_observations(origin, self.name, self.folder)
        except MetricFailed:
            self._attempts -= 1
            if self._attempts > 0:
                raise
            return []


@dataclass
class UserMetric(Endless):
    """All workflows of a user, the running ones with their status.

    One that ends while it is watched is sampled once more, with statistics and analysis if there are any
    yet.  Those that had ended before are counted only: their folders may be long gone.

    :param name: of the metric; ``pegasus.workflows_*`` are of this name.
    :param database: Pegasus' list of the user's workflows.
    """

    name: str
    host: str
    database: Path
    tools: Tools
    period: float = PERIOD
    _running: set[str] = field(default_factory=set, repr=False)

    def sample(self, now: float) -> list[Observation]:
        """How many there are, and the status of those that run.

        :raises MetricFailed: when the list cannot be read, or none of the running ones.
        """
        origin = Origin(self.host, self.name, now, "pegasus-status")
        workflows = all_workflows(self.database)
        asked = [found for found in workflows if found.running or found.uuid in self._running][:_AT_A_TIME]
        values, unreadable = self._sample_each(origin, asked)
        if asked and len(unreadable) == len(asked):
            raise unreadable[-1]
        self._running = {found.uuid for found in workflows if found.running}
        return [*self._totals(origin, workflows, len(unreadable)), *values]

    def _sample_each(
        self, origin: Origin, asked: list[Workflow]
    ) -> tuple[list[Observation], list[MetricFailed]]:
        values: list[Observation] = []
        unreadable: list[MetricFailed] = []
        for workflow in asked:
            try:
                status = self.tools.status(workflow.folder)
                values += observations.of_status(origin, workflow.name, status)
                if not workflow.running:
                    values += self.tools.final_observations(origin, workflow.name, workflow.folder)
            except MetricFailed as error:
                unreadable.append(error)
        return values, unreadable

    def _totals(self, origin: Origin, workflows: list[Workflow], unreadable: int) -> list[Observation]:
        counts = {
            "total": len(workflows),
            "running": sum(found.running for found in workflows),
            "succeeded": sum(found.succeeded is True for found in workflows),
            "failed": sum(found.succeeded is False for found in workflows),
            "unreadable": unreadable,
        }
        return [
            origin.value(f"pegasus.workflows_{what}", count, of=self.name) for what, count in counts.items()
        ]
