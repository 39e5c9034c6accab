"""Tests by programs: a server at the second place, a measuring program at the first, and its output.

The programs that run on this machine are killed with the process.  A server on another machine must end by
itself (``iperf3 --one-off``, ``timeout``).
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import platform
import signal
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from measurement.ceem.blueprint import PlannedTest
from measurement.ceem.runner import Place, fill_placeholders
from measurement.ceem.template import ProgramTest
from measurement.custom.execute import Aborted, Limits, ending, environment, execute
from measurement.errors import InvalidValue

PASSED = ("HOME", "USER", "SSH_AUTH_SOCK")
"""Environment variables that ssh needs."""
GRACE_S = 20.0
"""Seconds that a program may exceed its test."""
READY_S = 10.0
POLL_S = 0.02
MAX_OUTPUT = 8_000_000
MAX_CAUSE = 120


@dataclass(frozen=True, slots=True)
class ProgramBench:
    """Tests of a run by programs.

    :param duration: seconds of a test.
    :param port: first port of the tests.
    """

    method: ProgramTest
    places: Mapping[str, Place]
    duration: float
    port: int = 5201

    def measure(self, test: PlannedTest) -> float:
        """Return the value of a test."""
        one, other = self.places[test.path.one], self.places[test.path.other]
        values = {
            "one": one.instance.name,
            "other": other.instance.name,
            "one_address": one.instance.address,
            "other_address": other.instance.address,
            "port": str(self.port + test.port_offset),
            "duration": f"{self.duration:g}",
            "limit": str(math.ceil(self.duration + GRACE_S + READY_S)),
        }
        command = (*one.reach, *fill_placeholders(self.method.command, values))
        if not self.method.server:
            return read_value(run_program(command, self.duration + GRACE_S), self.method)
        with _run_server((*other.reach, *fill_placeholders(self.method.server, values)), self.method.ready):
            printed = run_program(command, self.duration + GRACE_S)
        return read_value(printed, self.method)


def run_program(argv: Sequence[str], seconds: float) -> str:
    """Return the output of a program.

    :param seconds: the program is killed after this time.
    :raises ValueError: if it cannot be started, is killed, or ends with another status than 0.
    """
    limits = Limits(seconds=seconds, memory=None, output=MAX_OUTPUT)
    finished = execute(argv, limits, environment(PASSED))
    if isinstance(finished, Aborted):
        raise InvalidValue(finished.cause, finished.code)
    if finished.status != 0:
        cause = find_cause(finished.stderr, finished.stdout)
        raise ValueError(f"{Path(argv[0]).name} {ending(finished, limits)}{cause and f': {cause}'}")
    return finished.stdout


@contextmanager
def _run_server(argv: Sequence[str], ready: str) -> Iterator[None]:
    """Run a server, which has printed the text ``ready``, and kill it at the end."""
    # A file instead of a pipe, because a full pipe would block the server.
    with tempfile.TemporaryFile() as output:
        try:
            server = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *argv],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment(PASSED),
                start_new_session=True,
            )
        except OSError as error:
            raise ValueError(f"{Path(argv[0]).name} cannot be started: {error.strerror}") from None
        with server:
            try:
                if ready:
                    _wait_for_server(server, output, Path(argv[0]).name, ready)
                yield
            finally:
                # Until the leader is reaped, the process group keeps its number.
                if server.returncode is None:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(server.pid, signal.SIGKILL)


def _wait_for_server(server: subprocess.Popen[bytes], output: IO[bytes], name: str, ready: str) -> None:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        has_ended = server.poll() is not None
        output.seek(0)
        printed = output.read(MAX_OUTPUT).decode(errors="replace")
        if ready in printed:
            return
        if has_ended:
            cause = find_cause(printed, "")
            raise ValueError(f"{name} ended before it was ready{cause and f': {cause}'}")
        time.sleep(POLL_S)
    raise ValueError(f"{name} was not ready within {READY_S:g} s")


def read_value(printed: str, method: ProgramTest) -> float:
    """Return the value that a program printed, in the unit of the metric.

    :raises InvalidValue: if the output has no value.
    """
    if method.value is None:
        return _check_number(_parse_number(printed.strip()), "output") * method.factor
    try:
        found = json.loads(printed)
    except json.JSONDecodeError as error:
        raise InvalidValue(f"output: is not JSON: {error.msg}, line {error.lineno}", "malformed") from None
    if isinstance(found, dict) and isinstance(found.get("error"), str):
        raise ValueError(f"output: {_last_line(found['error'])}")
    for step in method.value.split("."):
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            raise InvalidValue(f"{method.value}: the output has no {step!r}", "missing")
    return _check_number(found, method.value) * method.factor


def _parse_number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _check_number(found: object, field: str) -> float:
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise InvalidValue(f"{field}: {str(found)[:MAX_CAUSE]!r} is no number", "wrong-type")
    if not (math.isfinite(found) and found >= 0):
        raise InvalidValue(f"{field}: {found} is out of range; expected a number from 0", "out-of-range")
    return float(found)


def find_cause(stderr: str, stdout: str) -> str:
    """Return why a program failed on one line; empty if it printed nothing.

    A program that prints JSON reports the cause there (iperf3: ``{"error": "..."}``).
    """
    if stderr.strip():
        return _last_line(stderr)
    try:
        document = json.loads(stdout)
    except json.JSONDecodeError:
        return _last_line(stdout)
    cause = document.get("error") if isinstance(document, dict) else None
    return _last_line(cause) if isinstance(cause, str) else ""


def _last_line(text: str) -> str:
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    return lines[-1][:MAX_CAUSE] if lines else ""


def describe_environment(places: Mapping[str, Place]) -> dict[str, str]:
    """Return kernel and processors of places; a place that cannot be reached has the cause instead."""
    return {
        "started on": f"{platform.system()} {platform.release()} {platform.machine()}",
        **ask_places(places, ("uname", "-srm"), "system"),
        **ask_places(places, ("nproc",), "processors"),
    }


def ask_places(places: Mapping[str, Place], command: Sequence[str], name: str) -> dict[str, str]:
    """Return the first line that a command prints, by place if the places differ."""
    by_answer: defaultdict[str, list[str]] = defaultdict(list)
    for place in places.values():
        try:
            lines = run_program((*place.reach, *command), GRACE_S).strip().splitlines()
            answer = lines[0].strip() if lines else "nothing"
        except ValueError as error:
            answer = str(error)
        by_answer[answer].append(place.name)
    if len(by_answer) == 1:
        return {name: next(iter(by_answer))}
    return {f"{name} of {', '.join(names)}": answer for answer, names in by_answer.items()}
