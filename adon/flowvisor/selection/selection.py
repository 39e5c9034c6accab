"""Selection of a path among assessed candidates, and rerouting of running flows ([ADON] 3.3).

The qualified candidate of the highest Q wins.  Hysteresis prevents rerouting for small gains.  Assessment:
:mod:`adon.flowvisor.selection.assessment`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from adon.flowvisor.selection.assessment import CandidateRecord, Verdict, explain, score_text
from adon.reasons import DecisionCode, Reason
from adon.units import format_duration

TIE = 1e-9
"""Maximum difference of equal Q values, for which the order of the configuration decides."""

UnknownPolicy = Literal["avoid", "default_path"]


@dataclass(frozen=True, slots=True)
class Selection:
    """Result of a selection: the path's name, or None without a selectable path; and the reason."""

    path: str | None
    records: tuple[CandidateRecord, ...]
    reason: Reason


@dataclass(frozen=True, slots=True)
class MoveAdvice:
    """Decision whether to reroute a running flow now, and the reason."""

    move: bool
    reason: Reason


def select(
    records: Sequence[CandidateRecord], unknown_policy: UnknownPolicy, default_path: str | None
) -> Selection:
    """Select a candidate from records in configuration order.

    :param unknown_policy: rule if all candidates are unknown: ``avoid`` selects no path, ``default_path`` the
        template's default path, or without it a single candidate.
    :param default_path: name of the template's default path, if any.
    """
    ranked = [
        (record.q, record)
        for record in records
        if record.verdict is Verdict.QUALIFIED and record.q is not None
    ]
    if ranked:
        return _select_highest(ranked, records)
    if _all_unknown(records):
        return _select_unknown(records, unknown_policy, default_path)
    return Selection(None, tuple(records), _refuse_all(records))


def _select_highest(
    ranked: Sequence[tuple[float, CandidateRecord]], records: Sequence[CandidateRecord]
) -> Selection:
    top = max(q for q, _ in ranked)
    winner, *equals = (record for q, record in ranked if top - q <= TIE)
    rank = "the only candidate that qualifies" if len(ranked) == 1 else f"the highest of {len(ranked)}"
    code: DecisionCode = "only-qualified" if len(ranked) == 1 else "best-score"
    text = f"{winner.path}: Q {score_text(winner)}, {rank}"
    if equals:
        code, names = "tied-score", ", ".join(record.path for record in equals)
        text += f" (tied with {names}; the configuration names {winner.path} first)"
    others = _join_explanations(record for record in records if record is not winner)
    return Selection(winner.path, tuple(records), Reason(code, text + (f"; {others}" if others else "")))


def _all_unknown(records: Sequence[CandidateRecord]) -> bool:
    """Return whether all usable candidates are unknown; a known one, even unqualified, is better evidence."""
    verdicts = {record.verdict for record in records} - {Verdict.EXCLUDED}
    return verdicts == {Verdict.UNKNOWN}


def _select_unknown(
    records: Sequence[CandidateRecord], policy: UnknownPolicy, default_path: str | None
) -> Selection:
    listed = _join_explanations(records)
    if policy == "avoid":
        reason = Reason("all-unknown", f"every candidate is unknown: {listed}")
        return Selection(None, tuple(records), reason)
    if default_path is None and len(records) == 1:
        text = f"{records[0].path}: the only candidate, which is unknown: {listed}"
        return Selection(records[0].path, tuple(records), Reason("default-path", text))
    if default_path is None:
        text = f"every candidate is unknown and the template names no default path: {listed}"
        return Selection(None, tuple(records), Reason("no-default-path", text))
    if not any(record.path == default_path and record.verdict is Verdict.UNKNOWN for record in records):
        text = f"every candidate is unknown and the default path {default_path} cannot be used"
        return Selection(None, tuple(records), Reason("default-path-unusable", f"{text}: {listed}"))
    text = f"{default_path}: the template's default path, because every candidate is unknown: {listed}"
    return Selection(default_path, tuple(records), Reason("default-path", text))


def _refuse_all(records: Sequence[CandidateRecord]) -> Reason:
    if not records:
        return Reason("no-path", "there is no candidate path")
    return Reason("none-qualified", f"no candidate qualifies: {_join_explanations(records)}")


def _join_explanations(records: Iterable[CandidateRecord]) -> str:
    return "; ".join(explain(record) for record in records)


def advise_reroute(
    current: CandidateRecord | None,
    best: CandidateRecord | None,
    *,
    misses: int,
    patience: int,
    margin: float,
    dwelt: float,
    min_dwell: float,
) -> MoveAdvice:
    """Decide whether to reroute a running flow to the best qualified path.

    The flow moves if the new Q exceeds the present one by more than ``margin``, or if the present path missed
    the QSpec at ``patience`` consecutive measurements.  It never moves before ``min_dwell`` seconds or
    without a qualified alternative.  An unusable path (a port is down) has no measurements: the flow leaves
    it at once.

    :param current: the flow's present path as assessed now; None if it is no longer a candidate.
    :param best: the path that :func:`select` would take now, if any.
    :param misses: consecutive measurements at which the present path missed the QSpec.
    :param dwelt: seconds since the flow was routed to its present path.
    """
    if best is None or best.verdict is not Verdict.QUALIFIED:
        return _advice(False, "no-alternative", "no other path qualifies: the flow stays on its path")
    if current is None:
        return _advice(True, "path-removed", f"its path is no longer a candidate; {best.path} qualifies")
    if current.path == best.path:
        return _advice(False, "keeps-path", f"{best.path} is the best candidate already")
    if current.verdict is Verdict.EXCLUDED:
        return _advice(True, "path-excluded", f"{explain(current)}; {best.path} qualifies")
    wish = _compare_paths(current, best, misses, patience, margin)
    if wish.move and dwelt < min_dwell:
        left = format_duration(min_dwell - dwelt)
        text = f"{wish.reason}; min_dwell keeps the flow on its path for another {left}"
        return _advice(False, "min-dwell", text)
    return wish


def _advice(move: bool, code: DecisionCode, text: str) -> MoveAdvice:
    return MoveAdvice(move, Reason(code, text))


def _compare_paths(
    current: CandidateRecord, best: CandidateRecord, misses: int, patience: int, margin: float
) -> MoveAdvice:
    compared = f"Q {score_text(best)} on {best.path} against {score_text(current)} on {current.path}"
    if current.verdict is Verdict.UNQUALIFIED and misses >= patience:
        text = f"{current.path} missed the QSpec {misses} times in a row; {compared}"
        return _advice(True, "patience-exhausted", text)
    if current.q is not None and best.q is not None and best.q - current.q > margin:
        return _advice(True, "better-score", f"{compared} exceeds the switch margin of {margin:.3g}")
    if current.verdict is Verdict.UNQUALIFIED:
        text = f"{current.path} missed the QSpec {misses} times, patience is {patience}"
        return _advice(False, "within-patience", text)
    if current.q is None:
        return _advice(False, "path-unknown", f"{current.path} is unknown, which does not justify a reroute")
    return _advice(False, "within-margin", f"{compared} does not exceed the switch margin of {margin:.3g}")
