"""Many experiments on one page: of each the checks that held, how long it took, and where its report is.

Functions from values to values; :mod:`apps.experiments.whole_set` runs the experiments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adon.experiments.results import About
from adon.experiments.standing import Standing, standing
from adon.experiments.verdicts import Outcome, Verdict
from apps.experiments.rendering import rendered


@dataclass(frozen=True, slots=True)
class Row:
    """One experiment.

    :param name: the experiment's.
    :param standing: what came of it.
    :param seconds: how long it took, with building and removing.
    :param report: of its run, seen from the page; empty if there is none.
    :param verdicts: on its checks.
    :param platform: that it ran on.
    :param why: why it is partial, or failed.
    """

    name: str
    title: str
    source: str
    standing: Standing
    seconds: float
    report: str = ""
    verdicts: tuple[Verdict, ...] = ()
    platform: str = ""
    why: str = ""

    @property
    def held(self) -> int:
        """Checks that held."""
        return sum(one.outcome is Outcome.HELD for one in self.verdicts)

    @property
    def unmet(self) -> tuple[Verdict, ...]:
        """Checks that did not hold, or could not be told."""
        return tuple(one for one in self.verdicts if one.outcome is not Outcome.HELD)


def row(about: About, found: Sequence[Verdict], seconds: float, report: str) -> Row:
    """The row of a run."""
    return Row(
        about.experiment,
        about.title,
        about.source,
        standing(about, found),
        seconds,
        report,
        tuple(found),
        str(about.platform.get("name", "")),
        about.why,
    )


def fine(rows: Sequence[Row]) -> bool:
    """Whether nothing came out otherwise than its file says."""
    return all(one.standing in (Standing.HELD, Standing.HELD_BUT) for one in rows)


def page(rows: Sequence[Row], planned: int, began_at: float, ended_at: float) -> str:
    """The page (HTML).

    :param planned: experiments of the whole set; the others have not been run yet.
    :param began_at, ended_at: seconds since the epoch.
    """
    return rendered(
        "overview.html",
        rows=rows,
        planned=planned,
        began_at=began_at,
        ended_at=ended_at,
        fine=fine(rows) and len(rows) == planned,
    )


def told(one: Row) -> str:
    """The row as one line for a terminal."""
    checks = f", {one.held} of {len(one.verdicts)} checks held" if one.verdicts else ""
    why = f": {one.why}" if one.why else ""
    return f"{one.name}: {one.standing.value}{checks}, {one.seconds:.0f} s{why}"
