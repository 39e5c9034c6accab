"""What a run folder says of the test network in it: written by whoever brings it up, read by who looks in."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adon.errors import Unavailable
from mininet_topos.emulation import Emulation
from mininet_topos.old_platforms.names import Platform

if TYPE_CHECKING:
    from mininet_topos.networks import Network
    from mininet_topos.topology import Topology

NETWORK = "network.pickle"
TOPOLOGY = "topology.pickle"
BED = "bed.json"
BUILT = "testbed.json"
LISTENING = "listening"
PID = "pid"


@dataclass(frozen=True, slots=True)
class Begun:
    """What is known before it is built.

    :param ports: per host with a measurement point the local port that leads to it; empty where the points'
        own addresses do.
    """

    platform: Platform
    openflow_port: int
    ports: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Built:
    """What is known when it runs.

    :param hosts: per host the PID of its shell, as seen inside.
    :param emulation: how delays and switches are emulated.
    """

    hosts: Mapping[str, int]
    emulation: Emulation


def write_network(folder: Path, network: Network) -> None:
    """For the process that builds it, our own child, which needs the topology alone; and for readers."""
    (folder / NETWORK).write_bytes(pickle.dumps(network))
    (folder / TOPOLOGY).write_bytes(pickle.dumps(network.topology))


def read_network(folder: Path) -> Network:
    """The network that runs in a folder.

    :raises Unavailable: if there is none.
    """
    network: Network = _unpickled(folder / NETWORK)
    return network


def read_topology(folder: Path) -> Topology:
    """What is to be built in a folder.

    :raises Unavailable: if there is none.
    """
    topology: Topology = _unpickled(folder / TOPOLOGY)
    return topology


def _unpickled(file: Path) -> Any:
    try:
        # Our own file, in a folder that only we may write to.
        return pickle.loads(file.read_bytes())  # noqa: S301
    except (OSError, pickle.UnpicklingError, EOFError) as error:
        raise Unavailable(f"no testbed is running in {file.parent}: {error}") from error


def write_begun(folder: Path, begun: Begun) -> None:
    """Said before it is built."""
    _write(
        folder / BED,
        {"platform": begun.platform, "openflow_port": begun.openflow_port, "ports": {**begun.ports}},
    )


def read_begun(folder: Path) -> Begun:
    """As :func:`write_begun`.

    :raises Unavailable: if there is none.
    """
    read = _read(folder / BED)
    return Begun(Platform(read["platform"]), int(read["openflow_port"]), read["ports"])


def write_built(folder: Path, built: Built) -> None:
    """Said when everything answers."""
    _write(folder / BUILT, {"hosts": {**built.hosts}, "emulation": asdict(built.emulation)})


def read_built(folder: Path) -> Built:
    """As :func:`write_built`.

    :raises Unavailable: if it has not come up.
    """
    read = _read(folder / BUILT)
    return Built(read["hosts"], Emulation(**read["emulation"]))


def is_built(folder: Path) -> bool:
    """Whether it has come up."""
    return (folder / BUILT).exists()


def say_listening(folder: Path) -> None:
    """Said by a guest that runs programs from now on, before anything is built in it."""
    (folder / LISTENING).touch()


def is_listening(folder: Path) -> bool:
    """As :func:`say_listening`."""
    return (folder / LISTENING).exists()


def read_pid(folder: Path) -> int:
    """Of the process with which all of it ends.

    :raises Unavailable: if there is none.
    """
    try:
        return int((folder / PID).read_text())
    except (OSError, ValueError) as error:
        raise Unavailable(f"no testbed is running in {folder}: {error}") from error


def _write(file: Path, content: Any) -> None:
    """Whole or not at all."""
    part = file.with_name(f"{file.name}.part")
    part.write_text(json.dumps(content) + "\n")
    part.rename(file)


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise Unavailable(f"no testbed is running in {file.parent}: {error}") from error
