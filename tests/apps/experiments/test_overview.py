"""The page about all experiments: what came of each, the discrepancies apart, and nothing unescaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from adon.experiments.results import About, State
from adon.experiments.standing import Standing, standing
from adon.experiments.verdicts import Outcome, Verdict
from apps.experiments.overview import Row, fine

ABOUT = About(
    experiment="figure-21",
    run="20261123T070328Z",
    title="A title with <b>",
    source="[ADON] 5.2, figure 21",
    follows="thesis",
    seed=21,
    scale=100,
    sizes=1000,
    repetitions=3,
    policies=("ours",),
    began_at=0.0,
    ended_at=100.0,
    planned=1,
    digest="",
    state=State.COMPLETE,
    platform={"name": "guest"},
)
HELD = Verdict("a", Outcome.HELD, "from 1 to 2", "1.5", "1.3")
NOT = Verdict("b", Outcome.NOT_HELD, "from 1 to 2", "2.5", "1.3")
EXPECTED = replace(NOT, discrepancy="by its own numbers it cannot")
OPEN = Verdict("c", Outcome.CANNOT_SAY, "from 1 to 2", "nothing", doubt="it has no value")


@pytest.mark.parametrize(
    ("state", "verdicts", "found"),
    [
        (State.COMPLETE, [HELD, HELD], Standing.HELD),
        (State.COMPLETE, [HELD, EXPECTED], Standing.HELD_BUT),
        (State.COMPLETE, [HELD, EXPECTED, NOT], Standing.NOT_HELD),
        (State.COMPLETE, [HELD, EXPECTED, OPEN], Standing.CANNOT_SAY),
        (State.COMPLETE, [NOT, OPEN], Standing.NOT_HELD),
        (State.COMPLETE, [], Standing.UNCHECKED),
        (State.PARTIAL, [HELD], Standing.PARTIAL),
        (State.PARTIAL, [NOT], Standing.PARTIAL),
    ],
)
def test_what_came_of_a_run(state: State, verdicts: Sequence[Verdict], found: Standing) -> None:
    assert standing(replace(ABOUT, state=state), verdicts) is found


@pytest.mark.parametrize(("found", "expected"), [(Standing.HELD, True), (Standing.HELD_BUT, True)])
def test_discrepancies_that_were_told_before_are_fine(found: Standing, expected: bool) -> None:
    assert fine([Row("x", "", "", found, 1.0)]) is expected


@pytest.mark.parametrize("found", sorted(set(Standing) - {Standing.HELD, Standing.HELD_BUT}))
def test_nothing_else_is(found: Standing) -> None:
    assert not fine([Row("w", "", "", Standing.HELD, 1.0), Row("x", "", "", found, 1.0)])
