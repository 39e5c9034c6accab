"""Factor from a figure as built to the same figure at full scale.

Rates are divided by ``scale``, sizes by ``sizes``, times by nothing.  Bytes of a transfer that has a size
are ``sizes`` times as many at full scale, and its time is ``sizes / scale`` times as long.  Bytes that
arrive in a given time are ``scale`` times as many.  A window in which a transfer is awaited
is as long as that transfer.
"""

from __future__ import annotations

from mininet_topos.experiments.document import Experiment, Figure, FlowEntry, Measure, Moment, Phase, Unit
from mininet_topos.experiments.results import RunInfo

MIXED = "mixes transfers that have a size with given times, so its value at full scale is unknown"
_SCALED_TIMES = (Measure.COMPLETION_TIME, Measure.TRANSFER_TIME)


def full_scale_factor(figure: Figure, experiment: Experiment, info: RunInfo) -> float | None:
    """Return the factor to full scale; None if the value is the same at every scale, or :func:`is_mixed`."""
    if figure.unit is Unit.BITS_PER_SECOND:
        return info.scale
    if is_mixed(figure, experiment, info) or not _is_divided(figure):
        return None
    by_size = info.scale == info.sizes or _lasts_by_size(figure, experiment)
    if figure.unit is Unit.BYTES:
        return info.sizes if by_size else info.scale
    return info.sizes / info.scale if by_size else None


def is_mixed(figure: Figure, experiment: Experiment, info: RunInfo) -> bool:
    """Return whether bytes or times are partly of sized transfers and partly of given times."""
    return _is_divided(figure) and info.scale != info.sizes and _lasts_by_size(figure, experiment) is None


def _is_divided(figure: Figure) -> bool:
    return figure.unit is Unit.BYTES or figure.of in _SCALED_TIMES


def _lasts_by_size(figure: Figure, experiment: Experiment) -> bool | None:
    """Whether what a figure is of lasts until bytes have arrived, or a given time; None if both."""
    if figure.during is not None:
        return _window_lasts_by_size(*figure.during, experiment)
    kinds = {
        _flow_lasts_by_size(flow, experiment) for flow in experiment.flows if figure.flow in (None, flow.name)
    }
    return kinds.pop() if len(kinds) == 1 else None


def _flow_lasts_by_size(flow: FlowEntry, experiment: Experiment) -> bool | None:
    if flow.size is not None:
        return True
    return None if flow.until is not None and _transfers_before(flow.until, experiment) else False


def _window_lasts_by_size(begin: Moment, end: Moment, experiment: Experiment) -> bool | None:
    """Between moments that follow the same transfers lies a given time."""
    before, after = (_transfers_before(moment, experiment) for moment in (begin, end))
    if before == after:
        return False
    whole = begin.of == end.of and end.what is Phase.ENDS and begin.wait == end.wait
    return True if whole and after - before == {end.of} else None


def _transfers_before(
    moment: Moment, experiment: Experiment, seen: frozenset[Moment] = frozenset()
) -> frozenset[str]:
    """Sized flows that end before a moment and so decide when it comes; a circle has none of its own."""
    step = next((step for step in experiment.steps if step.name == moment.of), None)
    if step is None or moment in seen:
        return frozenset()
    found: frozenset[str] = frozenset()
    awaited = [step.after]
    if moment.what in (Phase.ENDS, Phase.RETESTED):
        if isinstance(step, FlowEntry) and step.size is not None:
            found = frozenset({step.name})
        else:
            awaited.append(step.until)
    known = seen | {moment}
    return found.union(*(_transfers_before(one, experiment, known) for one in awaited if one is not None))
