"""Whether trials decided the same: repetitions of one run, or as expected.

Decisions are compared exactly: per flow the turns in their order, each with outcome, path and site.  When
they came and with which Q is not compared: measured values differ from run to run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adon.experiments.checks import Expected
from adon.experiments.happened import Turn, flows, turns
from adon.experiments.measures import Observed
from adon.experiments.parts import Scalar
from adon.experiments.results import Tables, TrialDone


def differences(one: Tables, other: Tables, keys: tuple[str, str]) -> Iterator[str]:
    """How the decisions of two trials differ, per flow, in words.

    :param keys: what the trials are called.
    """
    for flow in dict.fromkeys(row.flow for tables in (one, other) for row in tables.decisions):
        first, second = ([turn for _, turn in turns(tables, flow)] for tables in (one, other))
        if first != second:
            told = [", ".join(map(str, found)) or "no decision" for found in (first, second)]
            yield f"{flow}: {told[0]} ({keys[0]}), but {told[1]} ({keys[1]})"


def unlike_repetitions(observed: Observed) -> Iterator[str]:
    """How repetitions of the same combination decided otherwise than its first one."""
    groups: dict[tuple[str, tuple[tuple[str, Scalar], ...]], list[TrialDone]] = {}
    for trial in observed.meant({}):
        groups.setdefault((trial.policy, tuple(trial.point.items())), []).append(trial)
    for first, *others in groups.values():
        for other in others:
            keys = (first.key, other.key)
            yield from differences(observed.tables(first), observed.tables(other), keys)


def unlike_expected(tables: Tables, decisions: Sequence[Expected]) -> Iterator[str]:
    """How the decisions of one trial differ from those expected."""
    for flow in dict.fromkeys(one.flow for one in decisions):
        told = [one for one in decisions if one.flow == flow]
        expected = [one for one in told if one.outcome != "end"]
        found = [turn for _, turn in turns(tables, flow)]
        if len(expected) < len(told) and not any(row.ended is not None for row in flows(tables, flow)):
            yield f"{flow}: does not end"
        if len(found) < len(expected) or not all(map(_fits, expected, found)):
            yield f"{flow}: {', '.join(map(str, found)) or 'no decision'}"


def _fits(expected: Expected, turn: Turn) -> bool:
    return (
        expected.outcome == turn.outcome
        and expected.path in (None, turn.path)
        and expected.site in (None, turn.site)
    )
