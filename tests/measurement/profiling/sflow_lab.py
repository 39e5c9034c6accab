"""Three hosts at an Open vSwitch that exports sFlow to us; to be run in namespaces of its own.

``python -m tests.measurement.profiling.sflow_lab FOLDER ANSWER``: known transfers, and what the samples say.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

from benchmarks.lab import Namespace
from measurement.model import to_json
from measurement.profiling.sflow_collector import listen, open_socket
from measurement.profiling.tasks import Tasks
from mininet_topos.commands import wait_until
from mininet_topos.openvswitch import OpenVSwitch, open_vswitch

HOSTS = {"a": "10.5.0.1", "b": "10.5.0.2", "c": "10.5.0.3"}
SAMPLING = 32
TRANSFERS = (("a", "b", 24_000_000), ("b", "c", 8_000_000))
SETTLED_S = 1.5
"""Open vSwitch sends a datagram when it is full, or once a second."""


def main(folder: Path, answer: Path) -> None:
    """Build, transfer, listen, write."""
    with ExitStack() as stack:
        run("ip", "link", "set", "lo", "up")
        switch = stack.enter_context(open_vswitch(folder / "ovs"))
        switch.vsctl("add-br", "br0", "--", "set", "Bridge", "br0", "datapath_type=netdev")
        spaces = {name: stack.enter_context(host(switch, name)) for name in HOSTS}
        listener = stack.enter_context(open_socket("127.0.0.1", 0))
        port = listener.getsockname()[1]
        switch.vsctl(
            *("--", "--id=@s", "create", "sFlow", "agent=lo", f'target="127.0.0.1:{port}"', "header=128"),
            *(f"sampling={SAMPLING}", "polling=0", "--", "set", "Bridge", "br0", "sflow=@s"),
        )
        over, found = threading.Event(), []
        tasks = Tasks.of({name: [address] for name, address in HOSTS.items()})
        taker = threading.Thread(target=lambda: found.append(listen(listener, tasks, over.is_set)))
        taker.start()
        for source, destination, size in TRANSFERS:
            transfer(spaces, source, destination, size)
        threading.Event().wait(SETTLED_S)
        over.set()
        taker.join()
    sampled, refused = found[0]
    told = {**asdict(sampled), "profile": to_json(sampled.profile), "refused": refused}
    answer.write_text(json.dumps(told))


@contextmanager
def host(switch: OpenVSwitch, name: str) -> Iterator[Namespace]:
    """A namespace at a port of the switch."""
    keeper = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "echo; exec sleep infinity"], stdout=subprocess.PIPE
    )
    try:
        assert keeper.stdout is not None
        keeper.stdout.readline()
        made = Namespace(name, keeper.pid)
        run("ip", "link", "add", f"{name}-sw", "type", "veth", "peer", "name", f"{name}-eth")
        run("ip", "link", "set", f"{name}-eth", "netns", str(keeper.pid))
        run("ip", "link", "set", f"{name}-sw", "up")
        made.run("ip", "address", "add", f"{HOSTS[name]}/24", "dev", f"{name}-eth")
        made.run("ip", "link", "set", f"{name}-eth", "up")
        made.run("ethtool", "-K", f"{name}-eth", "tx", "off")  # the userspace data path needs checksums
        switch.vsctl("add-port", "br0", f"{name}-sw")
        yield made
    finally:
        keeper.kill()
        keeper.wait()


RECEIVE = """
import socket, sys
with socket.create_server((sys.argv[1], 5999)) as server:
    connection, _ = server.accept()
    with connection:
        while connection.recv(65536):
            pass
"""
SEND = """
import socket, sys
with socket.create_connection((sys.argv[1], 5999)) as connection:
    connection.sendall(bytes(int(sys.argv[2])))
"""


def transfer(spaces: dict[str, Namespace], source: str, destination: str, size: int) -> None:
    """So many bytes of payload over one TCP connection.

    iperf3 -n counts what it wrote to the socket; up to 3 MB of it are still in the buffer when the test ends,
    and are never sent.
    """
    address = HOSTS[destination]
    server = spaces[destination].popen(sys.executable, "-c", RECEIVE, address)
    try:
        listening = wait_until(lambda: ":5999" in spaces[destination].run("ss", "-ltn"), 60)
        assert listening
        spaces[source].run(sys.executable, "-c", SEND, address, str(size))
        assert server.wait(120) == 0
    finally:
        server.kill()
        server.wait()


def run(*argv: str) -> None:
    """A command, or an error with what it said."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(argv)}: {done.stderr.strip()}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
