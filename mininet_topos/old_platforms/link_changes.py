"""Change a link of a running network, from outside.

Which commands change it is said by :mod:`mininet_topos.link_shape`; here they are run where the link is.
What a link has been changed to is kept in the run folder, so that a second change leaves the rest of the
first.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

from adon.errors import InvalidInput
from mininet_topos import building, commands
from mininet_topos.link_shape import LinkShape, tc_lines
from mininet_topos.networks import NamedLink, Network
from mininet_topos.old_platforms import state
from mininet_topos.shaping import Change

CHANGED, LOCK = "links.json", "links.lock"
TIMEOUT = 20.0


class Inside(Protocol):
    """What of a bed is used here."""

    @property
    def folder(self) -> Path:
        """Its run folder."""

    @property
    def network(self) -> Network:
        """What runs."""

    def inside(self, argv: Sequence[str], host: str | None = None) -> list[str]:
        """The command that runs a program there."""


def set_link(bed: Inside, name: str, change: Change) -> None:
    """As :meth:`mininet_topos.old_platforms.bed.Bed.set_link`; all is checked before anything is changed."""
    link = bed.network.link(name)
    emulated_by = state.read_built(bed.folder).emulation
    if (change.delay or change.loss) and not emulated_by.netem:
        raise InvalidInput.of(
            "link", f"{name}: this kernel has no netem, so it can have no delay and no loss"
        )
    topology = bed.network.topology
    interfaces = {end.name: end for one in topology.links for end in one.ends}
    hosts = {host.name for host in topology.hosts}
    with _one_at_a_time(bed.folder):
        shapes = _changed(bed, link, change) if change.shapes else {}
        for interface, shape in shapes.items():
            _batch(
                bed,
                "tc",
                tc_lines(interface, shape, netem=emulated_by.netem, change=True),
                interfaces[interface].node,
            )
        if shapes:
            _keep(bed.folder, shapes)
        for end in (interfaces[name] for name in link.ends) if change.up is not None else ():
            where = end.node if end.node in hosts else None
            _batch(bed, "ip", [*building.taken(topology, end, up=bool(change.up))], where)


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Threads and processes that change links of one network: none loses what another has kept."""
    with (folder / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _changed(bed: Inside, link: NamedLink, change: Change) -> dict[str, LinkShape]:
    if link.shape is None:
        raise InvalidInput.of("link", f"{link.name} was built without a rate, and cannot get one")
    kept = _kept(bed.folder)
    now = {interface: kept.get(interface, Change()).of(link.shape, interface) for interface in link.shaped}
    return {interface: change.of(shape, f"links.{link.name}") for interface, shape in now.items()}


def _kept(folder: Path) -> dict[str, Change]:
    file = folder / CHANGED
    return (
        {name: Change(**one) for name, one in json.loads(file.read_text()).items()} if file.exists() else {}
    )


def _keep(folder: Path, shapes: dict[str, LinkShape]) -> None:
    changed = {
        name: Change(rate=shape.rate, delay=shape.delay, loss=shape.loss) for name, shape in shapes.items()
    }
    kept = {name: asdict(change) for name, change in (_kept(folder) | changed).items()}
    part = folder / f"{CHANGED}.part"
    part.write_text(json.dumps(kept) + "\n")
    part.rename(folder / CHANGED)


def _batch(bed: Inside, tool: str, lines: Sequence[str], host: str | None) -> None:
    text = "".join(f"{line}\n" for line in lines)
    commands.output(bed.inside([tool, "-batch", "-"], host), text, told=tool, timeout=TIMEOUT)
