"""``mn`` with a topology, and ``adon serve`` as its controller: ``mn_and_adon TOPOLOGY FOLDER FROM TO``.

To be run in namespaces of its own.  ``answer.json`` in the folder has the path that ADON chose for a TCP flow
between the two DTNs, and what ``mn`` printed.  Its prompt is given a ping, which the campus's own rules send
over layer 3, and a TCP traceroute, which takes the path of the flow.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from mininet_topos.networks import named
from mininet_topos.networks.configuration import configuration
from mininet_topos.openvswitch import OpenVSwitch, open_vswitch
from mininet_topos.serving import prepared
from mininet_topos.waiting import wait_until

ROOT = Path(__file__).parents[3]
LONGEST = 90.0
"""Seconds that each step may take on a machine under load."""


class Here:
    """The namespaces of this process."""

    def serving(self, argv: Sequence[str]) -> list[str]:
        return list(argv)

    def controlled(self) -> bool:
        listening = subprocess.run(["ss", "-Hltn", "sport", "=", "6653"], capture_output=True, check=True)
        return bool(listening.stdout)


def main() -> None:
    name, folder, source, destination = sys.argv[1], Path(sys.argv[2]), *sys.argv[3:5]
    network = named(name)
    pair = [network.site_of(host) for host in (source, destination)]
    request = {"source": source, "destination": destination, "size": "100 MB", "template": "overlay"}
    commands = (f"{source} ping -n -c 3 -W 10 {destination}", f"{source} traceroute -T -n -q 1 {destination}")
    printed = folder / "mn.txt"
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with (
        open_vswitch(folder / "ovs") as switches,
        prepared(Here(), configuration(network), folder / "adon") as adon,
        printed.open("w") as output,
    ):
        client = adon.start()
        adon.listening()
        layer_2 = next(
            path.name for path in network.between(*(site.name for site in pair)) if path.layer == 2
        )
        client.add_template(
            {"name": "overlay", "weights": {"throughput": 1}, "selection": {"default_path": layer_2}}
        )
        file = ROOT / "mininet_topos" / "topologies" / f"{name}.py"
        mn = ["/usr/bin/mn", "--custom", str(file), "--topo", name, "--controller", "remote"]
        environment = {**os.environ, **switches.environment, "HOME": str(folder), "PATH": without_rm(folder)}
        with subprocess.Popen(
            mn, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, text=True, env=environment
        ) as process:
            assert wait_until(lambda: edges_connected(switches) == len(network.sites), LONGEST)
            flow = client.submit(request).id
            assert wait_until(lambda: client.flow(flow).state == "active", LONGEST), client.flow(flow)
            path = client.flow(flow).path
            # All at once: what is typed while a command runs is input of that command.
            process.communicate("".join(f"{line}\n" for line in (*commands, "exit")), LONGEST)
    answer = {"path": path, "printed": printed.read_text()}
    (folder / "answer.json").write_text(json.dumps(answer))


def without_rm(folder: Path) -> str:
    """A search path whose ``rm`` does nothing: after an error ``mn`` removes all logs in ``/tmp``."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "rm").symlink_to("/bin/true")
    return f"{programs}:{os.environ['PATH']}"


def edges_connected(switches: OpenVSwitch) -> int:
    return len(re.findall("is_connected: true", switches.vsctl("show")))


if __name__ == "__main__":
    main()
