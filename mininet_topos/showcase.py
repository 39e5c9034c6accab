"""What the demo keeps in addition to its flows: a custom metric, a workflow, a health round, a placement.

All is measured but the workflow: its numbers are recorded output of Pegasus 5.1.3, and its name says so.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from adon.errors import Unavailable
from adon.yamlfile import dump_data
from mininet_topos import commands
from mininet_topos.adon_configuration import configuration_text
from mininet_topos.adon_server import ADMIN_TOKEN, URL, AdonServer, prepare_server
from mininet_topos.commands import wait_until
from mininet_topos.experiments.runner import print_line
from mininet_topos.measurement_points import start_agents
from mininet_topos.nodes import CLI
from mininet_topos.testbed import Testbed
from mininet_topos.topologies.campus_topo import MANAGEMENT

CUSTOM_METRIC, WORKFLOW = "dtn.connections", "soykb-recorded"
RECORDED = "recorded/pegasus-status-5.1.3.json"
TOOL_FOLDER = "/usr/local/sbin"
"""First folder in which a measurement point looks for Pegasus; covered in the namespaces of the demo only."""
KEY, OUTSIDE = "agents.key", "controller"
ROUND_TIMEOUT, PLACE_TIMEOUT = 120.0, 180.0
STAYS = "The network, ADON and its dashboard stay until you leave this prompt with exit or Ctrl-D."
APPLICATION = Path(__file__).with_name("variant_calling.yaml")


def write_metrics(folder: Path) -> Path:
    """Write the metrics file of measurement points, and a ``pegasus-status`` that prints recorded output.

    :param folder: made; a workflow's submit directory and the tool are in it.
    """
    tools, workflow = folder / "tools", folder / WORKFLOW
    for one in (tools, workflow):
        one.mkdir(parents=True)
    (tools / "status.json").write_text(files("mininet_topos").joinpath(RECORDED).read_text())
    tool = tools / "pegasus-status"
    tool.write_text(f"#!/bin/sh\nexec cat {TOOL_FOLDER}/status.json\n")
    tool.chmod(0o755)
    commands.output(["mount", "--bind", str(tools), TOOL_FOLDER])
    metrics = folder / "metrics.toml"
    count = ["sh", "-c", "ss -Htn state established | wc -l"]
    metrics.write_text(
        f"[system]\ninterfaces = []\n\n"
        f"[[command]]\nname = {json.dumps(CUSTOM_METRIC)}\nargv = {json.dumps(count)}\n\n"
        f"[[pegasus]]\nname = {json.dumps(WORKFLOW)}\nfolder = {json.dumps(str(workflow))}\n"
    )
    return metrics


def keep_running(testbed: Testbed, points: Path, configuration: Mapping[str, Any]) -> None:
    """Start ADON on the data of the demo, add what it can show, and open Mininet's prompt.

    :param configuration: sections of the demo's experiment.
    :raises AdonError: if something does not start.
    """
    key, topo = testbed.folder / KEY, testbed.topo
    hosts = [campus.measuring for campus in topo.campuses.values()]
    extra = {**configuration, **_sections(testbed, key)}
    text = configuration_text(topo, points=points, extra=extra)
    with (
        start_agents(testbed, hosts, key, OUTSIDE),
        prepare_server(testbed, text, testbed.folder / "adon") as server,
    ):
        print_line("Starting ADON once more: it continues with the flows, decisions and tests it stored.")
        server.start()
        server.wait_ready()
        server.add_users()
        _add_studies(testbed, server)
        print_line(f"workflow {WORKFLOW}: recorded output of Pegasus, no workflow runs here")
        print_line(f"custom metric {CUSTOM_METRIC}: TCP connections of each data transfer node")
        if server.dashboard is not None:
            print_line(f"dashboard: {server.dashboard}; tokens per role: {server.folder}/*.token")
        print_line(STAYS)
        CLI(testbed.net)


def _sections(testbed: Testbed, key: Path) -> dict[str, Any]:
    """Return the sections of ADON's configuration about agents and metrics of the campuses."""
    campuses = testbed.topo.campuses
    beside_adon = {"name": OUTSIDE, "address": MANAGEMENT.partition("/")[0], "zone": "management"}
    metrics = {name: {"metrics": ["host", CUSTOM_METRIC]} for name in campuses}
    metrics[next(iter(campuses))]["metrics"].append(WORKFLOW)
    return {
        "health": {"key_file": str(key), "every": "10 min", "instances": [*_instances(testbed), beside_adon]},
        "measurements": {"host_metrics": metrics},
    }


def _instances(testbed: Testbed) -> list[dict[str, Any]]:
    """Return the measuring DTN of each campus as an instance."""
    return [
        {"name": campus.measuring, "address": campus.management, "zone": name}
        for name, campus in testbed.topo.campuses.items()
    ]


def _add_studies(testbed: Testbed, server: AdonServer) -> None:
    """Wait for the first health round, place an application over a snapshot, and submit the placement.

    :raises Unavailable: if there is no round in time, or a command fails.
    """
    client = server.client()
    if not wait_until(lambda: bool(client.studies("health-round")), ROUND_TIMEOUT):
        raise Unavailable(f"health: no round within {ROUND_TIMEOUT:g} s")
    print_line(f"health: {client.studies('health-round')[0].summary}")
    instances, snapshot = testbed.folder / "instances.yaml", testbed.folder / "snapshot.json"
    machines = [{**one, "cores": 4} for one in _instances(testbed)]
    instances.write_text(dump_data({"key_file": KEY, "instances": machines}))
    _place(server, "snapshot", instances, "-o", snapshot)
    text = _place(server, "tasks", APPLICATION, "--instances", instances, "--snapshot", snapshot)
    for line in text.strip().splitlines()[-2:]:  # its time, and whether another is faster
        print_line(f"placement: {line}")


def _place(server: AdonServer, what: str, *words: str | Path) -> str:
    """Run ``adon place``, which submits its result to ADON; return what it prints."""
    token = str(server.folder / ADMIN_TOKEN)
    environment = {**os.environ, "ADON_URL": URL, "ADON_TOKEN_FILE": token}
    argv = [sys.executable, "-m", "apps.cli.main", "place", what, *map(str, words), "--submit"]
    name = f"adon place {what}"
    return commands.output(argv, name=name, timeout=PLACE_TIMEOUT, environment=environment)
