"""Running the command line tools of a batch system, here or through another program such as ``ssh``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from measurement.custom.errors import BatchFailed
from measurement.custom.execute import Aborted, Finished, Limits, environment, execute

ANSWER_LIMITS = Limits(seconds=20.0, memory=None, output=32 * 2**20)


@dataclass(frozen=True, slots=True)
class Commands:
    """The command line tools of one batch system.

    :param passed: variables of our environment that they get.
    :param fixed: variables with the values they get.
    :param through: program and words in front of each command, to run it elsewhere.  What stands behind
        ``ssh`` is read by the far user's shell, so it is one word there in which every word is quoted; any
        other program gets the command word by word.
    """

    passed: tuple[str, ...] = ()
    fixed: tuple[tuple[str, str], ...] = ()
    limits: Limits = ANSWER_LIMITS
    through: tuple[str, ...] = ()

    def ask(self, argv: Sequence[str], given: str = "") -> Finished:
        """Run one, whatever its status.

        :raises BatchFailed: when it is missing or does not end.
        """
        variables = environment(self.passed, **dict(self.fixed))
        found = execute(self._wrap_command(argv), self.limits, variables, given.encode())
        if isinstance(found, Aborted):
            raise BatchFailed(found.cause, code=found.code)
        return found

    def answer(self, argv: Sequence[str], given: str = "") -> str:
        """What one prints.

        :raises BatchFailed: when it is missing, does not end, or ends with another status than 0.
        """
        found = self.ask(argv, given)
        if found.status != 0:
            raise BatchFailed(f"{argv[0]} ended with status {found.status}", found.stderr)
        return found.stdout

    def _wrap_command(self, argv: Sequence[str]) -> Sequence[str]:
        if not self.through:
            return argv
        there = ["env", *(f"{name}={value}" for name, value in self.fixed), *argv]
        if Path(self.through[0]).name == "ssh":
            return [*self.through, shlex.join(there)]
        return [*self.through, *there]
