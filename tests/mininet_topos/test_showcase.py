"""What stays after the demo: its files and sections, as the programs that read them see them."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from measurement.custom.pegasus.status import read_status
from mininet_topos import showcase

ROOT = Path(__file__).parents[2]


def test_recorded_output_is_a_running_workflow():
    text = files("mininet_topos").joinpath(showcase.RECORDED).read_text()
    assert text == (ROOT / "tests/data/pegasus/status-5.1.3-running.json").read_text()
    assert read_status(text).counts.total == json.loads(text)["totals"]["total"]


def test_tasks_of_the_application_are_those_of_its_transfers():
    tasks = {task["name"] for task in showcase.APPLICATION["tasks"]}
    ends = {one[end] for one in showcase.APPLICATION["transfers"] for end in ("from", "to")}
    assert tasks == ends


@pytest.mark.parametrize("name", [showcase.WORKFLOW])
def test_the_name_of_the_workflow_says_that_it_is_recorded(name):
    assert "recorded" in name
