"""From a figure on the testbed to what it would be at full scale.

Rates were divided by ``scale``, sizes by ``sizes``, times by nothing.  So the bytes of a transfer that has a
size are ``sizes`` times as many at full scale, and its time is ``sizes / scale`` times as long.  What arrives
in a given time (a window's, or that of a flow that has no size) is a rate by a time: ``scale`` times as much,
in the same time.  A window in which a transfer is awaited is as long as that takes.
"""

from __future__ import annotations

from adon.experiments.document import Experiment
from adon.experiments.figures import SCALED_TIMES, Figure, Unit
from adon.experiments.parts import Moment, What
from adon.experiments.results import About
from adon.experiments.workload import FlowEntry

MIXED = "is partly of sizes and partly of given times, so that nobody can say what it is at full scale"


def at_full_scale(figure: Figure, experiment: Experiment, about: About) -> float | None:
    """By how much a figure's value is to be multiplied to stand beside the paper's.

    None if it is the same at every scale, or if nobody can say (:func:`is_mixed`).
    """
    if figure.unit is Unit.BITS_PER_SECOND:
        return about.scale
    if is_mixed(figure, experiment, about) or not _is_divided(figure):
        return None
    by_size = about.scale == about.sizes or _lasts_by_size(figure, experiment)
    if figure.unit is Unit.BYTES:
        return about.sizes if by_size else about.scale
    return about.sizes / about.scale if by_size else None


def is_mixed(figure: Figure, experiment: Experiment, about: About) -> bool:
    """Whether bytes or a time are partly of transfers that have a size and partly of a given time.

    Where sizes are divided by as much as rates that makes no difference.
    """
    return _is_divided(figure) and about.scale != about.sizes and _lasts_by_size(figure, experiment) is None


def _is_divided(figure: Figure) -> bool:
    return figure.unit is Unit.BYTES or figure.of in SCALED_TIMES


def _lasts_by_size(figure: Figure, experiment: Experiment) -> bool | None:
    """Whether what a figure is of lasts as long as bytes take to arrive, or a given time; None if both."""
    if figure.during is not None:
        return _window(*figure.during, experiment)
    meant = (entry for entry in experiment.workload if figure.flow in (None, entry.name))
    kinds = {_flow(entry, experiment) for entry in meant}
    return kinds.pop() if len(kinds) == 1 else None


def _flow(entry: FlowEntry, experiment: Experiment) -> bool | None:
    if entry.size is not None:
        return True
    return None if entry.until is not None and _transfers_before(entry.until, experiment) else False


def _window(begin: Moment, end: Moment, experiment: Experiment) -> bool | None:
    """Between moments that come after the same transfers lies a given time."""
    before, after = (_transfers_before(moment, experiment) for moment in (begin, end))
    if before == after:
        return False
    whole = begin.of == end.of and end.what is What.ENDS and begin.wait == end.wait
    return True if whole and after - before == {end.of} else None


def _transfers_before(
    moment: Moment, experiment: Experiment, seen: frozenset[Moment] = frozenset()
) -> frozenset[str]:
    """The flows with a size that end before a moment comes, and so decide when that is.

    :param seen: moments that are being looked at: a circle has no such flows of its own.
    """
    step = next((step for step in experiment.steps if step.name == moment.of), None)
    if step is None or moment in seen:
        return frozenset()
    found: frozenset[str] = frozenset()
    awaited = [step.after]
    if moment.what in (What.ENDS, What.RETESTED):
        if isinstance(step, FlowEntry) and step.size is not None:
            found = frozenset({step.name})
        else:
            awaited.append(step.until)
    return found.union(
        *(_transfers_before(one, experiment, seen | {moment}) for one in awaited if one is not None)
    )
