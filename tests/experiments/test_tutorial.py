"""What the tutorial for experimenters tells to do can be done: its edits are valid."""

from __future__ import annotations

from pathlib import Path

from adon.experiments import builtins
from adon.experiments.reading import parse, read
from tests.experiments.test_builtin_files import planned

ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs" / "tutorial-experimenter.md").read_text()
EXAMPLES = ROOT / "docs" / "examples"
FIGURE_21 = builtins.text("figure-21")


def test_the_contending_flow_is_changed_by_one_number() -> None:
    told = "- {event: neuroblastoma, at: 0 s, load: {path: al2s, streams: 4}}"
    assert told in TUTORIAL
    changed = FIGURE_21.replace("load: {path: al2s, streams: 10}", "load: {path: al2s, streams: 4}")
    assert told in changed
    mine = changed.replace("experiment: figure-21", "experiment: four-streams")
    (event,) = planned(parse(mine)).trials[0].events
    assert event.load is not None
    assert event.load.streams == 4


def test_the_number_of_streams_can_be_swept_with_what_the_tutorial_shows() -> None:
    shown = TUTORIAL.split("```yaml\n", 1)[1].split("```", 1)[0]
    trials = planned(parse(shown)).trials
    streams = {event.load.streams for trial in trials for event in trial.events if event.load is not None}
    assert streams == {2, 4, 6, 8, 10, 12}
    assert {trial.policy for trial in trials} == {"always al2s", "always internet"}


def test_the_files_it_shows_are_those_of_the_examples() -> None:
    for line in ("regional: {between: [r1, r2], goodput: 2 Gbps, delay: 7 ms}", "over: [mu, r1, r2, osu]"):
        assert line in TUTORIAL
        assert line in (EXAMPLES / "three_ways.yaml").read_text()


def test_the_night_s_transfers_are_as_many_as_it_says() -> None:
    trials = planned(read(EXAMPLES / "night.yaml")).trials
    assert {len(trial.flows) for trial in trials if trial.repetition == 1} == {8}
    assert "up to ten transfers drawn by a seed (eight in the first repetition)" in TUTORIAL
