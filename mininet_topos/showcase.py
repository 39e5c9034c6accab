"""What stays after the demo beside its flows: a custom metric, a workflow, a health round, a placement.

All is measured but the workflow: its numbers are recorded output of Pegasus 5.1.3, and its name says so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from adon.errors import Unavailable
from adon.yamlfile import dump_data
from measurement.probes.key import write_key
from mininet_topos import commands
from mininet_topos.adon_server import ADMIN_TOKEN, URL, AdonServer
from mininet_topos.commands import wait_until
from mininet_topos.testbed import Testbed
from mininet_topos.topologies.campus_topo import MANAGEMENT

CUSTOM_METRIC, WORKFLOW = "dtn.connections", "soykb-recorded"
RECORDED = "recorded/pegasus-status-5.1.3.json"
TOOL_FOLDER = "/usr/local/sbin"
"""First folder in which a measurement point looks for Pegasus; covered in the namespaces of the demo only."""
KEY, BESIDE_ADON = "agents.key", "controller"
ROUND_TIMEOUT = 120.0
PLACE_TIMEOUT = 180.0
APPLICATION: Mapping[str, Any] = {
    "name": "variant-calling",
    "tasks": [
        {"name": "split", "cores": 1, "pinned": "mu-dtn"},
        {"name": "align-1", "cores": 2},
        {"name": "align-2", "cores": 2},
        {"name": "merge", "cores": 1, "pinned": "osu-dtn"},
    ],
    "transfers": [
        {"from": "split", "to": "align-1", "size": "400 MB"},
        {"from": "split", "to": "align-2", "size": "300 MB"},
        {"from": "align-1", "to": "merge", "size": "40 MB"},
        {"from": "align-2", "to": "merge", "size": "30 MB"},
    ],
}


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


@contextmanager
def start_agents(testbed: Testbed, folder: Path) -> Iterator[dict[str, Any]]:
    """Start a probe agent per measuring DTN and one beside ADON; give the sections of ADON's configuration.

    :param folder: made; ADON reads the key from it.
    """
    folder.mkdir()
    write_key(folder / KEY)
    zones = {campus.measuring: name for name, campus in testbed.topo.campuses.items()}
    addresses = {host: testbed.management_address(host) for host in zones}
    zones[BESIDE_ADON], addresses[BESIDE_ADON] = "management", MANAGEMENT.partition("/")[0]
    agent = [sys.executable, "-m", "measurement.probes.main", "--key", str(folder / KEY), "--host"]
    with ExitStack() as stack:
        for name, address in addresses.items():
            beside = partial(subprocess.Popen, start_new_session=True)
            start = beside if name == BESIDE_ADON else partial(testbed.popen, name)
            process = start([*agent, address], stdout=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        first, *_ = campuses = [*testbed.topo.campuses]
        metrics = {one: ["host", CUSTOM_METRIC, *([WORKFLOW] if one == first else [])] for one in campuses}
        instances = [{"name": one, "address": addresses[one], "zone": zone} for one, zone in zones.items()]
        yield {
            "health": {"key_file": str(folder / KEY), "every": "10 min", "instances": instances},
            "measurements": {"host_metrics": {one: {"metrics": its} for one, its in metrics.items()}},
        }


def add_studies(
    testbed: Testbed, server: AdonServer, folder: Path, print_line: Callable[[str], object]
) -> None:
    """Wait for the first health round, place an application over a snapshot, and hand the placement in.

    :param folder: of :func:`start_agents`.
    :raises Unavailable: if there is no round in time, or a command fails.
    """
    client = server.client()
    if not wait_until(lambda: bool(client.studies("health-round")), ROUND_TIMEOUT):
        raise Unavailable(f"health: no round within {ROUND_TIMEOUT:g} s")
    print_line(f"health: {client.studies('health-round')[0].summary}")
    machines = [
        {"name": host, "address": testbed.management_address(host), "cores": 4, "zone": name}
        for name, host in ((one.name, one.measuring) for one in testbed.topo.campuses.values())
    ]
    instances, snapshot, tasks = (
        str(folder / name) for name in ("instances.yaml", "snapshot.json", "tasks.yaml")
    )
    Path(instances).write_text(dump_data({"key_file": KEY, "instances": machines}))
    Path(tasks).write_text(dump_data(APPLICATION))
    _place(server, "snapshot", instances, "-o", snapshot)
    text = _place(server, "tasks", tasks, "--instances", instances, "--snapshot", snapshot)
    for line in text.strip().splitlines()[-2:]:  # its time, and whether another is faster
        print_line(f"placement: {line}")


def _place(server: AdonServer, what: str, *words: str) -> str:
    """Run ``adon place``, which hands its result in to ADON; return what it prints."""
    token = str(server.folder / ADMIN_TOKEN)
    environment = {**os.environ, "ADON_URL": URL, "ADON_TOKEN_FILE": token}
    argv = [sys.executable, "-m", "apps.cli.main", "place", what, *words, "--submit"]
    told = f"adon place {what}"
    return commands.output(argv, told=told, timeout=PLACE_TIMEOUT, environment=environment)
