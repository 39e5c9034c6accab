"""``python -m mininet_topos.old_platforms.built``: the first process of a test network's namespaces.

It builds what the run folder describes, with its measurement points, says there when everything answers, and
goes on until SIGTERM.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from adon.errors import AdonError
from mininet_topos.old_platforms import state
from mininet_topos.old_platforms.names import Platform
from mininet_topos.old_testbed import Testbed, testbed
from mininet_topos.points import measurement_points
from mininet_topos.stopping import Stop


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, announce, wait, remove."""
    parser = argparse.ArgumentParser(prog="python -m mininet_topos.old_platforms.built", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    folder: Path = parser.parse_args(arguments).folder
    # Ctrl-C in a terminal reaches every process of the group; our owner decides when we end.
    signal.signal(signal.SIGINT, lambda *_: None)
    try:
        _run(folder)
    except AdonError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _run(folder: Path) -> None:
    ended = Stop()
    begun, topology = state.read_begun(folder), state.read_topology(folder)
    kernel = begun.platform is Platform.HOST_KERNEL
    with (
        testbed(topology, folder, begun.openflow_port, kernel_datapath=kernel) as built,
        measurement_points(built),
    ):
        # Not earlier: whoever does not handle SIGTERM yet is killed at once, with all that it has built (see
        # isolation.stop), where a half-built network would first have to be built to its end.
        signal.signal(signal.SIGTERM, lambda *_: ended.set())
        announce(folder, built)
        ended.wait()


def announce(folder: Path, built: Testbed) -> None:
    """Say that everything answers."""
    hosts = {host.name: built.host(host.name).pid for host in built.topology.hosts}
    state.write_built(folder, state.Built(hosts, built.emulated_by))


if __name__ == "__main__":
    sys.exit(main())
