"""One test: a server at the path's other place, the measuring program at its first, and what it printed.

Each program is ended with this process, and with all it started here.  What runs on another machine is not
ours to end: a document's server should end by itself (``iperf3 --one-off``, ``timeout``).
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path as File
from typing import IO

from apps.evaluation.failing import TestFailedError
from apps.evaluation.places import Place
from measurement.custom.execute import Aborted, Limits, ending, environment, execute
from measurement.evaluation.blueprint import Test
from measurement.evaluation.document import Measure
from measurement.evaluation.output import complaint, filled, value_of
from measurement.evaluation.run import Sample

PASSED = ("HOME", "USER", "SSH_AUTH_SOCK")
"""What ssh needs of our environment."""
GRACE_S = 20.0
"""So much longer than its test a program may last."""
READY_S = 10.0
POLL_S = 0.02
OUTPUT = 8_000_000


@dataclass(frozen=True, slots=True)
class Bench:
    """What all tests of a run share.

    :param duration: of a test, in seconds.
    :param port: the first that tests use.
    """

    measure: Measure
    places: Mapping[str, Place]
    duration: float
    port: int = 5201

    def make(self, test: Test) -> Sample:
        """Make a test; what goes wrong is its result."""
        at = time.time()
        try:
            value = self._value(test)
        except TestFailedError as error:
            return Sample(test.number, *test.path, at, None, str(error), test.iteration)
        return Sample(test.number, *test.path, at, value, iteration=test.iteration)

    def _value(self, test: Test) -> float:
        one, other = self.places[test.path.one], self.places[test.path.other]
        words = {
            "one": one.instance.name,
            "other": other.instance.name,
            "one_address": one.instance.address,
            "other_address": other.instance.address,
            "port": str(self.port + test.port),
            "duration": f"{self.duration:g}",
            "limit": str(math.ceil(self.duration + GRACE_S + READY_S)),
        }
        server = (*other.reach, *filled(self.measure.server, words)) if self.measure.server else ()
        with _serving(server, self.measure.ready):
            printed = run((*one.reach, *filled(self.measure.command, words)), self.duration + GRACE_S)
        try:
            return value_of(printed, self.measure)
        except ValueError as error:
            raise TestFailedError(str(error)) from None


def run(argv: Sequence[str], seconds: float) -> str:
    """What a program prints.

    :param seconds: after which it is ended.
    :raises TestFailedError: if it cannot be run, or ends badly.
    """
    limits = Limits(seconds=seconds, memory=None, output=OUTPUT)
    found = execute(argv, limits, environment(PASSED))
    if isinstance(found, Aborted):
        raise TestFailedError(found.cause)
    if found.status != 0:
        why = _why(found.stderr, found.stdout)
        raise TestFailedError(f"{File(argv[0]).name} {ending(found, limits)}{why}")
    return found.stdout


@contextmanager
def _serving(argv: Sequence[str], ready: str) -> Iterator[None]:
    """A program beside the test, which has printed what says that it can be reached."""
    if not argv:
        yield
        return
    name = File(argv[0]).name
    # Into a file, not a pipe: nobody reads it while the test lasts, and a full pipe would stop the server.
    with tempfile.TemporaryFile() as printed:
        try:
            child = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *argv],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                env=environment(PASSED),
                start_new_session=True,
            )
        except OSError as error:
            raise TestFailedError(f"{name} cannot be started: {error.strerror}") from None
        with child:
            try:
                if ready:
                    _await(child, printed, name, ready)
                yield
            finally:
                # While its leader is not reaped the number of the group is certainly still its own.
                if child.returncode is None:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(child.pid, signal.SIGKILL)


def _await(child: subprocess.Popen[bytes], printed: IO[bytes], name: str, ready: str) -> None:
    """Until it is ready.

    :raises TestFailedError: if it ends, or is not in time.
    """
    until = time.monotonic() + READY_S
    while time.monotonic() < until:
        ended = child.poll() is not None
        printed.seek(0)
        told = printed.read(OUTPUT).decode(errors="replace")
        if ready in told:
            return
        if ended:
            raise TestFailedError(f"{name} ended before it was ready{_why(told, '')}")
        time.sleep(POLL_S)
    raise TestFailedError(f"{name} was not ready within {READY_S:g} s")


def _why(stderr: str, stdout: str) -> str:
    told = complaint(stderr, stdout)
    return f": {told}" if told else ""
