"""Any program as a metric: run, bounded, its output checked, its numbers kept ([ADON] 4.2; spec 10)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from measurement.custom.answer import read_answer
from measurement.custom.errors import MetricFailed
from measurement.custom.execute import Aborted, Limits, ending, environment, execute
from measurement.custom.model import PERIOD, Endless, Origin
from measurement.model import Metric, Observation

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)*")


@dataclass(frozen=True, slots=True)
class MetricCommand:
    """A program whose output is a metric.

    :param name: of the series; with a JSON object, what all its series begin with.
    :param argv: the program and its arguments; no shell reads them.
    :param unit: of its values, "" if there is none or they differ.
    :param passed: names of the variables of our environment that it gets.
    :raises ValueError: for a name that is none, or no program.
    """

    name: str
    argv: tuple[str, ...]
    unit: str = ""
    limits: Limits = field(default_factory=Limits)
    passed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name in set(Metric):
            raise ValueError(f"name: {self.name[:60]!r} is not lower-case words with dots between, or taken")
        if not self.argv or not self.argv[0] or any("\0" in word for word in self.argv):
            raise ValueError("argv: must be a program and its arguments")


def run(command: MetricCommand, host: str, now: float) -> list[Observation]:
    """Run it once.

    :param host: the name under which the values are kept.
    :param now: the time they are of, seconds since the epoch.
    :raises MetricFailed: when it gives no value.
    """
    found = execute(command.argv, command.limits, environment(command.passed))
    if isinstance(found, Aborted):
        raise MetricFailed(found.cause, code=found.code)
    if found.status != 0:
        raise MetricFailed(f"it {ending(found, command.limits)}", found.stderr)
    origin = Origin(host, command.name, now, "command")
    try:
        values = read_answer(found.stdout)
        return [
            origin.value(f"{command.name}.{name}" if name else command.name, value, command.unit)
            for name, value in values.items()
        ]
    except ValueError as error:
        raise MetricFailed(f"it {error}", found.stderr, code="malformed") from None


@dataclass(frozen=True, slots=True)
class CommandMetric(Endless):
    """A :class:`MetricCommand` that is sampled."""

    command: MetricCommand
    host: str
    period: float = PERIOD

    @property
    def name(self) -> str:
        """The command's."""
        return self.command.name

    def sample(self, now: float) -> list[Observation]:
        """Run it once.

        :raises MetricFailed: when it gave no value.
        """
        return run(self.command, self.host, now)
