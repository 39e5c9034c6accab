"""The hosts of a described network with their cables, addresses and rates: all of it but the switches.

Congestion control is reno in every host: streams that share a path share it evenly after seconds, which is
what the paper's figures show (bbr, the default of some kernels, yields to nobody at shallow queues), and
every kernel lets a network namespace choose it (cubic only where ``tcp_allowed_congestion_control`` has it).
Nothing is remembered from one connection to the next (``tcp_no_metrics_save``), so that a measurement does
not depend on the one before.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from adon.errors import Unavailable
from mininet_topos import building, emulation, namespaces
from mininet_topos.emulation import Emulation
from mininet_topos.laps import Laps
from mininet_topos.namespaces import Inside
from mininet_topos.old_guest.kernel import in_guest
from mininet_topos.topology import Topology


@dataclass(frozen=True, slots=True)
class JoinedHosts:
    """What is there; the management network is in use already.

    :param folder: the run folder.
    :param emulated_by: what the machine had to emulate it with.
    :param took: seconds of each part of building it.
    :param inside: the hosts' namespaces by name.
    """

    topology: Topology
    folder: Path
    emulated_by: Emulation
    took: Mapping[str, float]
    inside: Mapping[str, Inside] = field(repr=False)

    def host(self, name: str) -> Inside:
        """The host or router of this name.

        :raises InvalidInput: if there is none.
        """
        return self.inside[self.topology.host(name).name]


@contextmanager
def joined_hosts(
    topology: Topology, folder: Path, *, kernel_datapath: bool | None = None
) -> Iterator[JoinedHosts]:
    """Make the hosts, and remove them at the end.

    :param kernel_datapath: whether the switches are to be the kernel's; None: if it has them.
    :raises Unavailable: if they cannot be made here, saying what is missing.
    """
    _require_own_namespace()
    laps = Laps()
    namespaces.write_settings(building.SETTINGS)
    with namespaces.hosts([host.name for host in topology.hosts]) as inside:
        pids = {name: host.pid for name, host in inside.items()}
        _write_pids(folder / "hosts", pids)
        for host in topology.hosts:
            with inside[host.name].entered():
                namespaces.write_settings(building.host_settings(host))
        laps.lap("namespaces")
        namespaces.batch("ip", building.cables(topology, pids))
        laps.lap("cables")
        emulated_by = emulation.detect(kernel_datapath=kernel_datapath)
        for host in topology.hosts:
            _set_up(inside[host.name], building.host_plan(topology, host, emulated_by))
        laps.lap("addresses and rates")
        yield JoinedHosts(topology, folder, emulated_by, laps.took, inside)


def _require_own_namespace() -> None:
    """The first process of a PID namespace of our own is 1; the machine's init is not Python."""
    if os.getpid() != 1 and not in_guest():
        raise Unavailable(
            "a testbed is built only as the first process of its own namespaces: use run_isolated"
        )


def _write_pids(folder: Path, pids: Mapping[str, int]) -> None:
    """``hosts/NAME`` in the run folder: what a person who looks inside gives to ``mnexec -a``."""
    folder.mkdir(parents=True)
    for name, pid in pids.items():
        (folder / name).write_text(f"{pid}\n")


def _set_up(inside: Inside, plan: building.HostPlan) -> None:
    with inside.entered():
        namespaces.without_checksum_offload(plan.interfaces)
        namespaces.batch("ip", plan.addresses)
        namespaces.batch("tc", plan.limits)
