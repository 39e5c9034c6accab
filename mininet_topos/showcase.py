"""What stays after the demo beside its flows: a custom metric, a workflow, a health round, a placement.

All is measured but the workflow: its numbers are recorded output of Pegasus 5.1.3, and its name says so.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from adon.errors import Unavailable
from adon.yamlfile import dump_data
from mininet_topos import commands
from mininet_topos.adon_server import ADMIN_TOKEN, URL, AdonServer
from mininet_topos.commands import wait_until
from mininet_topos.testbed import Testbed
from mininet_topos.topologies.campus_topo import MANAGEMENT

CUSTOM_METRIC, WORKFLOW = "dtn.connections", "soykb-recorded"
RECORDED = "recorded/pegasus-status-5.1.3.json"
TOOL_FOLDER = "/usr/local/sbin"
"""First folder in which a measurement point looks for Pegasus; covered in the namespaces of the demo only."""
AGENT_PORT = 8650
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
    key = folder / "agents.key"
    with os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(f"{secrets.token_hex(32)}\n")
    campuses = testbed.topo.campuses
    instances = [
        {
            "name": campus.measuring,
            "address": testbed.management_address(campus.measuring),
            "zone": name,
        }
        for name, campus in campuses.items()
    ]
    instances.append({"name": "controller", "address": MANAGEMENT.partition("/")[0], "zone": "management"})
    agent = [sys.executable, "-m", "measurement.probes.main", "--key", str(key)]
    with ExitStack() as stack:
        for one in instances:
            argv = [*agent, "--host", str(one["address"]), "--port", str(AGENT_PORT)]
            log = stack.enter_context((folder / f"{one['name']}.log").open("wb"))
            if one["name"] == "controller":
                process = subprocess.Popen(argv, stdout=log, stderr=log, start_new_session=True)
            else:
                process = testbed.popen(str(one["name"]), argv, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        metrics = {name: {"metrics": ["host", CUSTOM_METRIC]} for name in campuses}
        first = next(iter(metrics))
        metrics[first] = {"metrics": ["host", CUSTOM_METRIC, WORKFLOW]}
        yield {
            "health": {"key_file": str(key), "every": "10 min", "instances": instances},
            "measurements": {"host_metrics": metrics},
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
    machines = [*(campus.measuring for campus in testbed.topo.campuses.values())]
    listed = [
        {
            "name": name,
            "address": testbed.management_address(name),
            "cores": 4,
            "memory": "8 GiB",
            "zone": name,
        }
        for name in machines
    ]
    instances, snapshot, application = (
        folder / name for name in ("instances.yaml", "snapshot.json", "app.yaml")
    )
    instances.write_text(dump_data({"key_file": "agents.key", "instances": listed}))
    application.write_text(dump_data(APPLICATION))
    _adon("place", "snapshot", str(instances), "-o", str(snapshot), "--submit", server=server)
    placed = ("--instances", str(instances), "--snapshot", str(snapshot), "--submit")
    text = _adon("place", "tasks", str(application), *placed, server=server)
    for line in text.strip().splitlines()[-2:]:  # its time, and whether another is faster
        print_line(f"placement: {line}")


def _adon(*words: str, server: AdonServer) -> str:
    environment = os.environ | {"ADON_URL": URL, "ADON_TOKEN_FILE": str(server.folder / ADMIN_TOKEN)}
    argv = [sys.executable, "-m", "apps.cli.main", *words]
    try:
        done = subprocess.run(
            argv, env=environment, capture_output=True, text=True, timeout=PLACE_TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"adon {words[0]} {words[1]}: not within {PLACE_TIMEOUT:g} s") from error
    if done.returncode != 0:
        raise Unavailable(f"adon {words[0]} {words[1]}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
