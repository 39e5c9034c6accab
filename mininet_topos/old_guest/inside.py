"""``python -m mininet_topos.old_guest.inside --folder F``: a guest's one program, a test network.

The channel comes first, so that whoever waits outside hears when it goes wrong; then the network is built and
said to be there in the run folder, which has the same path on both sides.  It goes on until the line ends.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import sys
import threading
import tty
from pathlib import Path

from mininet_topos.old_guest.channel import Channel
from mininet_topos.old_guest.programs import serve

LINE = "/dev/tty1"
OWN = Path("/run/testbed")
"""Where the network's files are, Open vSwitch's sockets among them: in the guest's memory."""
PROGRAMS_PORT = 2000
OPENFLOW_PORT = 6653
POINT_PORT = 4443
PROGRAMS, OPENFLOW, POINT = "programs", "openflow", "point-"
"""Names of the services: ours for the host, the host's for us, a measurement point's by its host's name."""


def main() -> int:
    """Until the line ends; 1 if the network cannot be built."""
    parser = argparse.ArgumentParser(prog="python -m mininet_topos.old_guest.inside", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    folder: Path = parser.parse_args().folder
    line = os.open(LINE, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    tty.setraw(line)
    pids = dict[str, int]()
    services = {PROGRAMS: ("127.0.0.1", PROGRAMS_PORT)}
    channel = Channel(line, services, {OPENFLOW: _listening(OPENFLOW_PORT)}, 1)
    channel.say_ready()
    carrying = threading.Thread(target=channel.run, daemon=True)
    carrying.start()

    def command(argv: list[str], host: str | None) -> list[str]:
        return argv if host is None else ["mnexec", "-a", str(pids[host]), *argv]

    programs = socket.create_server(services[PROGRAMS])
    threading.Thread(target=serve, args=(programs, command), daemon=True).start()
    return _build(folder, pids, services, carrying)


def _build(
    folder: Path, pids: dict[str, int], services: dict[str, tuple[str, int]], carrying: threading.Thread
) -> int:
    # Not earlier: that takes a second in a guest, during which the line is already served.
    from adon.errors import AdonError
    from mininet_topos.joined_hosts import joined_hosts
    from mininet_topos.old_platforms import state
    from mininet_topos.old_testbed import switched
    from mininet_topos.points import FOLDER, addresses_of, measurement_points

    state.say_listening(folder)
    topology = state.read_topology(folder)
    OWN.mkdir()
    shutil.copytree(folder / FOLDER, OWN / FOLDER)
    try:
        # The points first: Open vSwitch waits for the guest's eleventh second (openvswitch.await_processors).
        with (
            joined_hosts(topology, OWN) as hosts,
            measurement_points(hosts),
            switched(hosts, OPENFLOW_PORT) as built,
        ):
            # The points' doors last: who measures from outside finds a network that forwards.
            services |= {f"{POINT}{host}": (at, POINT_PORT) for host, at in addresses_of(topology).items()}
            pids |= {host.name: built.host(host.name).pid for host in topology.hosts}
            state.write_built(folder, state.Built(pids, built.emulated_by))
            carrying.join()
    except AdonError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _listening(port: int) -> socket.socket:
    sock = socket.create_server(("127.0.0.1", port))
    sock.setblocking(False)
    return sock


if __name__ == "__main__":
    sys.exit(main())
