"""Files that the demo gives to other programs, as these programs read them."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from adon.config.input_files import load_application
from measurement.custom.pegasus.status import read_status
from mininet_topos import showcase

ROOT = Path(__file__).parents[2]


def test_recorded_output_is_a_running_workflow():
    text = files("mininet_topos").joinpath(showcase.RECORDED).read_text()
    assert text == (ROOT / "tests/data/pegasus/status-5.1.3-running.json").read_text()
    assert read_status(text).counts.total == json.loads(text)["totals"]["total"]


def test_application_pins_one_task_to_each_campus():
    application = load_application(showcase.APPLICATION)
    assert {task.pinned for task in application.tasks if task.pinned} == {"mu-dtn", "osu-dtn"}


def test_name_of_the_workflow_says_that_it_is_recorded():
    assert "recorded" in showcase.WORKFLOW
