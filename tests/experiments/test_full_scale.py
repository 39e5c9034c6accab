"""What figures are multiplied by: bytes of sizes, bytes of times, times of both, and what nobody can say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adon.experiments.full_scale import MIXED, at_full_scale, is_mixed
from adon.experiments.measures import Observed
from adon.experiments.reading import parse
from adon.experiments.results import EventRow, Run, State, Tables, ThroughputRow, TrialDone
from adon.experiments.verdicts import Outcome, verdicts
from tests.experiments import synthetic
from tests.experiments.synthetic import make_row

FILE = """\
experiment: made
title: Made up
network: mu_osu
scale: 1000
sizes: 10000
templates: [soykb]
repetitions: 1
workload:
  - {flow: sized, template: soykb, from: mu, to: osu, size: 25 GB, after: [cut, begins]}
  - {flow: lasting, template: soykb, from: mu, to: osu, lasts: 45 s}
  - {flow: beside, template: soykb, from: mu, to: osu, until: [sized, ends]}
  - {flow: cut-off, template: soykb, from: mu, to: osu, until: [lasting, ends]}
  - {flow: late, template: soykb, from: mu, to: osu, lasts: 5 s, after: [sized, ends, 3 s]}
events:
  - {event: cut, at: 5 s, link: {path: al2s, state: down, for: 10 s}}
  - {event: others, at: 0 s, load: {path: al2s, streams: 4, until: [sized, ends]}}
figures:
  it: FIGURE
checks:
  - {check: c, value: it, between: BETWEEN}
"""


def figure(fields: str, between: str = "[0 B, 1 GB]") -> str:
    return FILE.replace("FIGURE", fields).replace("BETWEEN", between)


RATE, SIZE, TIME = 1000.0, 10_000.0, 10.0
WINDOW = "{of: received, during: [%s, %s]}"


@pytest.mark.parametrize(
    ("fields", "factor"),
    [
        ("{of: throughput, flow: lasting}", RATE),
        ("{of: received, flow: sized}", SIZE),
        ("{of: bytes_on_path, path: al2s, flow: sized}", SIZE),
        ("{of: transfer_time, flow: sized}", TIME),
        ("{of: makespan, flow: sized}", TIME),
        ("{of: waiting_time, flow: sized}", None),
        ("{of: moves, flow: sized}", None),
        # What lasts a given time is a rate by it.
        ("{of: received, flow: lasting}", RATE),
        ("{of: received, flow: cut-off}", RATE),
        ("{of: bytes_on_path, path: al2s, flow: late}", RATE),
        ("{of: transfer_time, flow: lasting}", None),
        ("{of: completion_time, flow: cut-off}", None),
        # So does a window, whatever the flow that is looked at.
        (WINDOW % ("[cut, begins]", "[cut, ends]"), RATE),
        (WINDOW % ("[sized, begins]", "[sized, begins, 10 s]"), RATE),
        (WINDOW % ("[sized, ends]", "[late, begins]"), RATE),
        (WINDOW % ("[sized, ends]", "[late, ends]"), RATE),
        (WINDOW % ("[lasting, begins]", "[lasting, ends]"), RATE),
        ("{of: throughput, flow: sized, during: [[cut, begins], [sized, ends]]}", RATE),
        # Except as long as a transfer takes.
        (WINDOW % ("[sized, begins]", "[sized, ends]"), SIZE),
    ],
)  # fmt: skip
def test_what_a_figure_is_multiplied_by(fields: str, factor: float | None) -> None:
    its = parse(figure(fields)).experiment
    assert at_full_scale(its.figures["it"], its, ABOUT) == factor
    assert not is_mixed(its.figures["it"], its, ABOUT)


@pytest.mark.parametrize(
    "fields",
    [
        "{of: received}",
        "{of: completion_time}",
        "{of: received, flow: beside}",
        "{of: transfer_time, flow: beside}",
        WINDOW % ("[cut, begins]", "[sized, ends]"),
        WINDOW % ("[sized, begins, 1 s]", "[sized, ends]"),
        WINDOW % ("[others, begins]", "[others, ends]"),
        WINDOW % ("[cut, begins]", "[late, begins]"),
    ],
)
def test_of_what_is_partly_of_a_size_and_partly_of_a_time_nobody_can_say(fields: str) -> None:
    its = parse(figure(fields)).experiment
    assert at_full_scale(its.figures["it"], its, ABOUT) is None
    assert is_mixed(its.figures["it"], its, ABOUT)
    alike = replace(ABOUT, sizes=ABOUT.scale)
    assert not is_mixed(its.figures["it"], its, alike)
    assert at_full_scale(its.figures["it"], its, alike) in (1.0, ABOUT.scale)


SOURCE = parse(figure("{of: received, flow: lasting}"))
ABOUT = replace(synthetic.about(SOURCE, synthetic.planned(SOURCE)), scale=1000.0, state=State.COMPLETE)


@pytest.mark.parametrize(
    ("fields", "between", "outcome", "told"),
    [
        # 650 Mbps for ten seconds are 812.5 MB.
        (WINDOW % ("[cut, begins]", "[cut, ends]"), "[0 B, 1 GB]", Outcome.HELD, "812.5 MB at full scale"),
        ("{of: transfer_time, flow: lasting}", "[44 s, 46 s]", Outcome.HELD, "45 s"),
        (WINDOW % ("[cut, begins]", "[late, begins]"), "[0 B, 1 GB]", Outcome.CANNOT_SAY, f"it: {MIXED}"),
    ],
)
def test_bounds_of_bytes_are_at_full_scale(fields: str, between: str, outcome: Outcome, told: str) -> None:
    its = parse(figure(fields, between)).experiment
    point = {"number": 1, "key": "ours / 1", "policy": "ours", "point": {}, "repetition": 1, "seed": 1}
    trial = TrialDone(**point, began_at=0.0, seconds=60.0)
    tables = Tables(
        flows=[
            make_row("lasting", began=0.0, ended=45.0, size=None),
            make_row("late", began=15.0, ended=20.0),
        ],
        throughput=[ThroughputRow(1, float(at), "lasting", "al2s", 81_250) for at in range(45)],
        events=[
            EventRow(1, 5.0, "cut", "link", "begins", "", ""),
            EventRow(1, 15.0, "cut", "link", "ends", "", ""),
        ],
    )
    (verdict,) = verdicts(its, Observed.of(Run(replace(ABOUT, trials=(trial,)), tables)))
    assert verdict.outcome is outcome
    assert told in (verdict.doubt if outcome is Outcome.CANNOT_SAY else verdict.found)
