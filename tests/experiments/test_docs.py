"""docs/experiments.md names every key and every word that a file may have."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from adon.experiments.checks import DecisionsCheck, Expected, OrderCheck, RatioCheck, ValueCheck
from adon.experiments.document import Experiment
from adon.experiments.events import Event, LinkChange, Load
from adon.experiments.figures import Figure, Measure, Plot
from adon.experiments.parts import Part, What
from adon.experiments.workload import DrawEntry, FlowEntry

PAGE = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text()


def section(heading: str) -> str:
    """What stands below a heading, to the next one."""
    return re.split(r"^#+ ", PAGE.split(f"# {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def words(text: str) -> set[str]:
    """Those in code: between backticks, or in indented lines."""
    code = re.findall(r"`([^`]+)`", text) + re.findall(r"^    (.*)$", text, re.MULTILINE)
    return set(re.findall(r"[a-z_]+", " ".join(code)))


@pytest.mark.parametrize(
    ("heading", "parts"),
    [
        ("A whole file", [Experiment]),
        ("Workload", [FlowEntry, DrawEntry]),
        ("Events", [Event, Load, LinkChange]),
        ("Figures", [Figure]),
        ("Checks", [RatioCheck, ValueCheck, OrderCheck, DecisionsCheck, Expected]),
        ("Plots", [Plot]),
    ],
)
def test_every_key_is_told_where_it_belongs(heading: str, parts: list[type[Part]]) -> None:
    keys = {field.alias or name for part in parts for name, field in part.model_fields.items()}
    assert keys <= words(section(heading))


def test_every_word_is_told() -> None:
    assert {str(one) for one in Measure} <= words(section("Figures"))
    assert {str(one) for one in What} <= words(section("Workload"))
    assert set(get_args(Expected.model_fields["outcome"].annotation)) <= words(section("Checks"))
