"""How far a run is: bars in a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from adon.experiments.planned import Trial


def left(seconds: list[float], remaining: int) -> float | None:
    """Seconds that the remaining trials may take, each as long as those before; None before the first."""
    return sum(seconds) / len(seconds) * remaining if seconds else None


def duration_text(seconds: float) -> str:
    """``1:02:03``, ``2:03``."""
    minutes, whole = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{whole:02d}" if hours else f"{minutes}:{whole:02d}"


class Progressing(Protocol):
    """Who is told how far a run is."""

    def line(self, text: str) -> None:
        """Something that happened, in one line."""

    def begins(self, trial: Trial, place: int, count: int) -> None:
        """A trial begins, the ``place``th of ``count``."""

    def ended(self, seconds: float) -> None:
        """It is over, after so many seconds."""


@dataclass(slots=True)
class Lines:
    """Plain lines, each with the seconds since the run began.

    :param quiet: only trials are told, not what happens in them.
    """

    console: Console
    quiet: bool = False
    began: float = field(default_factory=time.monotonic)
    _took: list[float] = field(default_factory=list)
    _remaining: int = 0

    def line(self, text: str) -> None:
        """As :meth:`Progressing.line`."""
        if not self.quiet:
            self._say(f"  {text}")

    def begins(self, trial: Trial, place: int, count: int) -> None:
        """As :meth:`Progressing.begins`."""
        self._remaining = count - place + 1
        expected = left(self._took, self._remaining)
        told = "" if expected is None else f" (about {duration_text(expected)} left)"
        self._say(f"trial {place} of {count}: {trial.key}{told}")

    def ended(self, seconds: float) -> None:
        """As :meth:`Progressing.ended`."""
        self._took.append(seconds)

    def _say(self, text: str) -> None:
        at = time.monotonic() - self.began
        self.console.print(f"{at:7.1f} s  {text}", markup=False, highlight=False, soft_wrap=True)


@dataclass(slots=True)
class Bars:
    """A bar of the trials with elapsed and expected time, and above it what happens."""

    bars: Progress
    task: TaskID
    quiet: bool
    _took: list[float] = field(default_factory=list)
    _remaining: int = 0

    def line(self, text: str) -> None:
        """As :meth:`Progressing.line`."""
        if not self.quiet:
            self.bars.console.print(f"  {escape(text)}", highlight=False)

    def begins(self, trial: Trial, place: int, count: int) -> None:
        """As :meth:`Progressing.begins`."""
        self._remaining = count - place + 1
        self.bars.console.print(f"[bold]{escape(trial.key)}[/bold]", highlight=False)
        self._show(trial.key, place - 1, count)

    def ended(self, seconds: float) -> None:
        """As :meth:`Progressing.ended`."""
        self._took.append(seconds)
        self._remaining -= 1
        self.bars.advance(self.task)
        self._show("", None, None)

    def _show(self, key: str, done: int | None, count: int | None) -> None:
        expected = left(self._took, self._remaining)
        told = "-" if expected is None else duration_text(expected)
        self.bars.update(self.task, description=escape(key), completed=done, total=count, left=told)


@contextmanager
def progressing(console: Console, *, quiet: bool) -> Iterator[Progressing]:
    """Bars if somebody looks at a terminal, else lines.

    :param quiet: what happens in trials is not told.
    """
    if not console.is_terminal:
        yield Lines(console, quiet)
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("trials, elapsed"),
        TimeElapsedColumn(),
        TextColumn("expected left {task.fields[left]}  {task.description}"),
    )
    with Progress(*columns, console=console) as bars:
        yield Bars(bars, bars.add_task("", total=None, left="-"), quiet)
