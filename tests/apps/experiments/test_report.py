"""The report: what was not met stands first, everything is in one file, chance changes nothing."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from adon.experiments.reading import parse
from adon.experiments.results import Run, State, Tables
from apps.experiments.report import page
from tests.experiments import synthetic

SOURCE = synthetic.source()
EXPERIMENT = SOURCE.experiment


@pytest.fixture(scope="module")
def whole() -> Run:
    return synthetic.run()


def words(text: str) -> str:
    """A page without its charts and its markup."""
    bare = re.sub(r"(?s)<(script|style)\b.*?</\1>", " ", text)
    return " ".join(re.sub(r"<[^>]+>", " ", bare).split())


def test_what_was_not_met_stands_before_everything_else(whole):
    said = words(page(EXPERIMENT, whole, synthetic.FIGURE_21))
    first = said.index("1 of 4 checks did not hold.")
    assert first < said.index("Seed 21")
    for value in ("30.73 s", "307.3 s", "308 s"):
        assert value in said


def test_platform_versions_seed_and_scale_are_stated(whole):
    said = words(page(EXPERIMENT, whole, synthetic.FIGURE_21))
    for text in (
        "the thesis",
        "synthetic;",
        "by 1000",
        "Seed 21",
        "27 of",
        "vSwitch 3.1.0",
        "Linux 6.1",
    ):
        assert text in said
    assert "neuroblastoma: admit" in said
    assert SOURCE.digest() in said


def test_nothing_that_a_file_says_is_taken_for_markup(whole):
    text = synthetic.FIGURE_21.replace("title: 25 GB beside", 'title: "<script>alert(1)</script> beside')
    text = text.replace("contending traffic\n", 'contending traffic"\n', 1)
    evil = parse(text).experiment
    made = page(evil, replace(whole, about=replace(whole.about, title=evil.title)), text)
    assert "<script>alert(1)" not in made
    assert "&lt;script&gt;alert(1)" in made


def test_a_run_of_nothing_is_a_page(whole):
    empty = Run(replace(whole.about, trials=(), state=State.PARTIAL, why="killed"), Tables())
    said = words(page(EXPERIMENT, empty, ""))
    assert "of 27" in said
