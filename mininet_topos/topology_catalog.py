"""Topologies by name: the built-in ones, and those of a user's Python file."""

from __future__ import annotations

import importlib.util
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adon.errors import InvalidInput, Unavailable
from adon.nearest_key import describe_missing

if TYPE_CHECKING:
    from mininet.topo import Topo

    from mininet_topos.topologies.campus_topo import CampusTopo

BUILT_IN = ("choreo_tree", "five_sites", "mu_osu", "two_campuses", "two_ports")


def load_topology(reference: str, scale: float | None = None) -> CampusTopo:
    """Return a topology of campuses with all its numbers; no network is built.

    :param reference: as :func:`load_network` takes it.
    :param scale: declared rates are divided by it; None for the topology's own.
    :raises InvalidInput: if there is no such topology, or it cannot be built; names the node or circuit.
    :raises Unavailable: if Mininet is not installed.
    """
    topo = load_network(reference, scale)
    from mininet_topos.topologies.campus_topo import CampusTopo

    if not isinstance(topo, CampusTopo):
        raise InvalidInput.of("topology", f"{reference} is no subclass of CampusTopo")
    return topo


def load_network(reference: str, scale: float | None = None) -> Topo:
    """Return a topology of campuses, or a plain one of a Mininet user; no network is built.

    :param reference: a name of :data:`BUILT_IN`, or the path of a Python file with ``topos = {...}``, which
        is executed as ``mn --custom`` does.
    :param scale: declared rates are divided by it, which only a CampusTopo permits; None for its own.
    :raises InvalidInput: if there is no such topology, or it cannot be built; names the node or circuit.
    :raises Unavailable: if Mininet is not installed.
    """
    if importlib.util.find_spec("mininet") is None:
        raise Unavailable(
            "mininet: not installed for this Python; install the Debian package mininet (scripts/setup.sh)",
            code="missing-requirement",
        )
    from mininet.topo import Topo

    _, name, make = _find_class(reference)
    try:
        topo = make() if scale is None else make(scale=scale)
    except ValueError as error:
        field, _, cause = str(error).partition(": ")
        raise InvalidInput.of(field, cause) from error
    except Exception as error:
        raise InvalidInput.of("topology", f"{reference}: {type(error).__name__}: {error}") from error
    if not isinstance(topo, Topo):
        raise InvalidInput.of("topology", f"topos[{name!r}] is no subclass of mininet.topo.Topo")
    return topo


def mn_command(reference: str, topo: Topo) -> str:
    """Return the command line that runs a topology with Mininet alone.

    :param reference: as :func:`load_network` takes it; :param topo: what that returned.
    """
    from mininet_topos.topologies.campus_topo import CampusTopo

    file, name, _ = _find_class(reference)
    options = "" if isinstance(topo, CampusTopo) else " --mac"  # campuses declare their MAC addresses
    return f"sudo mn --custom {file} --topo {name}{options} --controller remote"


def _find_class(reference: str) -> tuple[Path, str, Any]:
    """Return the file of a topology, its name there and its class."""
    file = Path(reference)
    if reference in BUILT_IN:
        module = importlib.import_module(f"mininet_topos.topologies.{reference}")
        return Path(str(module.__file__)), reference, module.topos[reference]
    if not file.suffix and len(file.parts) == 1:
        raise InvalidInput.of("topology", describe_missing("topology", reference, BUILT_IN), "unknown-name")
    if not file.is_file():
        raise InvalidInput.of("topology", f"{file}: no such file")
    try:
        topos = runpy.run_path(str(file)).get("topos")
    except Exception as error:
        raise InvalidInput.of("topology", f"{file}: {type(error).__name__}: {error}") from error
    if not isinstance(topos, Mapping) or len(topos) != 1:
        cause = f"{file} does not define one topology; expected topos = {{'my_topo': MyTopo}}"
        raise InvalidInput.of("topology", cause)
    ((name, cls),) = topos.items()
    return file, name, cls
