"""Topologies by name: the built-in ones, and those of a user's Python file."""

from __future__ import annotations

import importlib
import importlib.util
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adon.errors import InvalidInput, Unavailable
from adon.nearest_key import absent

if TYPE_CHECKING:
    from mininet_topos.topologies.campus_topo import CampusTopo

BUILT_IN = ("choreo_tree", "five_sites", "mu_osu", "two_campuses", "two_ports")
_PACKAGE = "mininet_topos.topologies"


def load_topology(reference: str, scale: float | None = None) -> CampusTopo:
    """Return a topology, complete with its numbers; no network is built.

    :param reference: a name of :data:`BUILT_IN`, or the path of a Python file with ``topos = {...}``, which
        is executed as ``mn --custom`` does.
    :param scale: declared rates are divided by it; None for the topology's own.
    :raises InvalidInput: if there is no such topology, or it cannot be built; names the node or circuit.
    :raises Unavailable: if Mininet is not installed.
    """
    if importlib.util.find_spec("mininet") is None:
        raise Unavailable(
            "mininet: not installed for this Python; install the Debian package mininet (scripts/setup.sh)",
            code="missing-requirement",
        )
    from mininet_topos.topologies.campus_topo import CampusTopo

    path = Path(reference)
    name, cls = _read(path) if path.suffix or len(path.parts) > 1 else (reference, _built_in(reference))
    if not (isinstance(cls, type) and issubclass(cls, CampusTopo)):
        raise InvalidInput.of("topology", f"topos[{name!r}] is no subclass of CampusTopo")
    try:
        return cls(scale=scale)
    except ValueError as error:
        field, _, cause = str(error).partition(": ")
        raise InvalidInput.of(field, cause) from error


def _built_in(name: str) -> Any:
    if name not in BUILT_IN:
        raise InvalidInput.of("topology", absent("topology", name, BUILT_IN), "unknown-name")
    return importlib.import_module(f"{_PACKAGE}.{name}").topos[name]


def _read(file: Path) -> tuple[str, Any]:
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
    return name, cls
