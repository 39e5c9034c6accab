"""Networks by name: the built-in topologies, and those of a user's Python file."""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from importlib import import_module, resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from adon.errors import InvalidInput, Unavailable
from adon.nearest_key import absent
from adon.yamlfile import read_text
from mininet_topos.networks.network import Network

PACKAGE = "mininet_topos.topologies"
BUILT_IN = ("choreo_tree", "five_sites", "mu_osu", "two_campuses", "two_ports")


def names() -> tuple[str, ...]:
    """The networks that are built in."""
    return BUILT_IN


def text(name: str) -> str:
    """The source of a built-in topology.

    :raises InvalidInput: if there is none of this name.
    """
    if name not in BUILT_IN:
        known = f"{absent('network', name, BUILT_IN)} (there are {', '.join(BUILT_IN)})"
        raise InvalidInput.of("network", known, "unknown-name")
    return resources.files(PACKAGE).joinpath(f"{name}.py").read_text("utf-8")


def named(name: str, scale: float | None = None) -> Network:
    """The network of a built-in topology.

    :param scale: the declared rates are divided by it; None for the topology's own.
    :raises InvalidInput: if there is none of this name, or it cannot be built at this scale.
    """
    text(name)
    _require_mininet()
    return _built(name, import_module(f"{PACKAGE}.{name}").topos[name], scale)


def read(file: Path, scale: float | None = None) -> Network:
    """The network of a Python file, which is executed as ``mn --custom`` does.

    :param scale: as for :func:`named`.
    :raises InvalidInput: if the file cannot be read, fails, or has not exactly one topology in ``topos``.
    """
    read_text(file)
    _require_mininet()
    try:
        topos = runpy.run_path(str(file)).get("topos")
    except Exception as error:
        raise InvalidInput.of("network", f"{file}: {type(error).__name__}: {error}") from error
    if not isinstance(topos, Mapping) or len(topos) != 1:
        cause = f"{file} does not define one topology; expected topos = {{'my_topo': MyTopo}}"
        raise InvalidInput.of("network", cause)
    ((name, topology),) = topos.items()
    return _built(name, topology, scale)


def found(reference: str, scale: float | None = None) -> Network:
    """The network of a built-in topology's name, or of the path of a Python file.

    :raises InvalidInput: as :func:`named` and :func:`read`.
    """
    path = Path(reference)
    if path.suffix or len(path.parts) > 1:
        return read(path, scale)
    return named(reference, scale)


def _built(name: str, topology: Any, scale: float | None) -> Network:
    from mininet_topos.networks.campus_network import network_from_topo
    from mininet_topos.topologies.campus_topo import CampusTopo

    if not (isinstance(topology, type) and issubclass(topology, CampusTopo)):
        raise InvalidInput.of("network", f"topos[{name!r}] is no subclass of CampusTopo")
    try:
        return network_from_topo(name, topology(scale=scale))
    except ValueError as error:
        field, _, cause = str(error).partition(": ")
        raise InvalidInput.of(field, cause) from error


def _require_mininet() -> None:
    if find_spec("mininet") is None:
        raise Unavailable(
            "Mininet is not installed for this Python (Debian package mininet; scripts/setup.sh)"
        )
