"""``mn`` with a topology, and ``adon serve`` as its controller.

``mn_and_adon TOPOLOGY FOLDER FROM TO [PATH]`` is to be run in namespaces of its own.  ``answer.json`` in the
folder has the path that ADON chose for a TCP flow between the two hosts, and what ``mn`` printed.  Its prompt
is given a ping, which the network forwards by itself, a TCP traceroute, which takes the path of the flow, and
a look at the rules of a switch.  PATH is the default path of the flow's template.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adon.client import Client
from adon.config import Configuration
from adon.yamlfile import parse_model
from mininet_topos.commands import wait_until
from mininet_topos.openvswitch import OpenVSwitch, open_vswitch
from mininet_topos.topology_catalog import load_network, mn_command

ADON = (sys.executable, "-m", "apps.cli.main")
LONGEST = 90.0
"""Seconds that each step may take on a machine under load."""


def main() -> None:
    topology, folder, source, destination, *path = sys.argv[1], Path(sys.argv[2]), *sys.argv[3:]
    shown = [*ADON, "testbed", "show", topology, "--config"]
    text = subprocess.run(shown, capture_output=True, text=True, check=True).stdout
    (folder / "network.yaml").write_text(text)
    configuration = parse_model(text, Configuration)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    serve = [*ADON, "serve", "--config", "network.yaml", "--data", "data", "--admin-token-file", "token"]
    with (
        open_vswitch(folder / "ovs") as switches,
        (folder / "adon.log").open("w") as output,
        subprocess.Popen(serve, cwd=folder, stdout=output, stderr=subprocess.STDOUT) as served,
    ):
        try:
            client = client_of(folder)
            template = template_of(client, path)
            with running_mn(topology, switches, folder) as mn:
                assert wait_until(lambda: connected(switches) == len(configuration.switches), LONGEST)
                request = {"source": source, "destination": destination, "size": "100 MB", "ports": [80]}
                flow = client.submit({**request, "template": template}).id
                assert wait_until(lambda: client.flow(flow).state == "active", LONGEST)
                chosen = client.flow(flow).path
                type_commands(mn, configuration, source, destination)
        finally:
            served.terminate()
    answer = {"path": chosen, "printed": (folder / "mn.txt").read_text()}
    (folder / "answer.json").write_text(json.dumps(answer))


def template_of(client: Client, path: list[str]) -> str:
    """The template of the flow: one with this default path, or a built-in one."""
    if not path:
        return "soykb"
    selection = {"default_path": path[0]}
    client.add_template({"name": "overlay", "weights": {"throughput": 1}, "selection": selection})
    return "overlay"


@contextmanager
def running_mn(topology: str, switches: OpenVSwitch, folder: Path) -> Iterator[subprocess.Popen[str]]:
    argv = shlex.split(mn_command(topology, load_network(topology)).removeprefix("sudo "))
    environment = {**os.environ, **switches.environment, "HOME": str(folder), "PATH": without_rm(folder)}
    with (
        (folder / "mn.txt").open("w") as printed,
        subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=printed, stderr=subprocess.STDOUT, text=True, env=environment
        ) as process,
    ):
        yield process


def client_of(folder: Path) -> Client:
    assert wait_until((folder / "token").exists, LONGEST), (folder / "adon.log").read_text()
    client = Client.at("http://127.0.0.1:8080", (folder / "token").read_text().strip())
    assert wait_until(client.ready, LONGEST), (folder / "adon.log").read_text()
    return client


def without_rm(folder: Path) -> str:
    """A search path whose ``rm`` does nothing: after an error ``mn`` removes all logs in ``/tmp``."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "rm").symlink_to("/bin/true")
    return f"{programs}:{os.environ['PATH']}"


def type_commands(mn: subprocess.Popen[str], configuration: Configuration, source: str, to: str) -> None:
    """All at once: what is typed while a command runs is input of that command."""
    (address,) = (site.hosts[to].address for site in configuration.sites.values() if to in site.hosts)
    commands = (
        f"{source} ping -n -c 3 -W 10 {address}",
        f"{source} traceroute -T -n -q 1 {address}",
        f"sh ovs-ofctl -O OpenFlow13 dump-flows {next(iter(configuration.switches))}",
        "exit",
    )
    mn.communicate("".join(f"{line}\n" for line in commands), LONGEST)


def connected(switches: OpenVSwitch) -> int:
    return len(re.findall("is_connected: true", switches.vsctl("show")))


if __name__ == "__main__":
    main()
