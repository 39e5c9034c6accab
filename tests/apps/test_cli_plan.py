from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from adon.config import load
from adon.measurement_plan import plan_measurements
from apps.cli.config_commands import plans as app
from measurement.psconfig.expand import expand
from measurement.psconfig.template import read
from tests.support.network_factories import NETWORK

RUN = CliRunner()
TEMPLATE = """
name: quick
title: Quick
description: Needs young round trips.
qspec: {rtt: {max: 50 ms}}
weights: {rtt: 1}
selection: {max_age: 70 s}
"""


def test_the_plan_is_shown_with_its_proof() -> None:
    done = RUN.invoke(app, ["show", str(NETWORK)])
    assert done.exit_code == 0
    assert "al2s:mu>osu/throughput" in done.output
    assert {"240", "36"} <= {*done.output.split()}


def test_what_a_template_needs_is_fitted_in(tmp_path: Path) -> None:
    file = tmp_path / "quick.yaml"
    file.write_text(TEMPLATE)
    done = RUN.invoke(app, ["show", str(NETWORK), "--template", str(file), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["al2s:mu>osu/rtt"]["period_s"] <= 33


def test_agents_that_run_the_written_template_run_the_plan(tmp_path: Path) -> None:
    out = tmp_path / "psconfig.json"
    assert RUN.invoke(app, ["psconfig", str(NETWORK), "--out", str(out)]).exit_code == 0
    found = plan_measurements(load(NETWORK))
    expanded = expand(read(out.read_bytes())).tasks
    specs = sorted(json.dumps(dict(each.spec), sort_keys=True) for each in expanded)
    assert specs == sorted(json.dumps(dict(t.request.spec), sort_keys=True) for t in found.tests.values())


def test_plan_reads_the_psconfig_template_that_the_configuration_names(tmp_path: Path) -> None:
    template, file = tmp_path / "psconfig.json", tmp_path / "network.yaml"
    assert RUN.invoke(app, ["psconfig", str(NETWORK), "--out", str(template)]).exit_code == 0
    file.write_text(
        NETWORK.read_text().replace("measurements:\n", "measurements:\n  psconfig: psconfig.json\n")
    )
    found = RUN.invoke(app, ["show", str(file)])
    assert found.exit_code == 0, found.output
    planned = plan_measurements(load(NETWORK)).tests
    assert len(found.stderr.splitlines()) == len(planned), "each is in the plan already"


def test_the_picture_is_one_page(tmp_path: Path) -> None:
    out = tmp_path / "plan.html"
    assert RUN.invoke(app, ["page", str(NETWORK), "--out", str(out)]).exit_code == 0
    assert out.read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("command", ["show", "page", "psconfig"])
def test_a_plan_that_cannot_be_is_a_line_that_says_why(tmp_path: Path, command: str) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(NETWORK.read_text().replace("throughput_period: 240 s", "throughput_period: 40 s"))
    done = RUN.invoke(app, [command, str(file)])
    assert done.exit_code != 0
    assert "infeasible" in str(done.exception)
