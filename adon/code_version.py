"""Version of the decision code: the package's version, and a digest of its source.

A version number alone does not tell two states of a checkout apart; the source does.  Comments count, too:
that two sources mean the same cannot be seen from outside.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

import adon

DECIDING = ("broker", "config", "flowvisor", "templates_catalog")
"""The packages of :mod:`adon` that affect decisions."""
APART = frozenset({"openflow"})
"""Packages in them that do not affect decisions: messages to switches."""
SHOWN = 12


@cache
def code_version() -> str:
    """Return the version, such as ``0.4.0+3f9c2a7be01d``."""
    return f"{adon.__version__}+{_source_digest()[:SHOWN]}"


def _source_digest() -> str:
    """Return the SHA-256 of the modules' names and contents, in the order of their names."""
    root, found = resources.files("adon"), hashlib.sha256()
    for package in DECIDING:
        for name, module in _modules(root.joinpath(package), package):
            found.update(f"{name}\0".encode())
            found.update(module.read_bytes())
    for name in ("units.py", "values.py"):
        found.update(root.joinpath(name).read_bytes())
    for name in ("mathis.py", "model.py", "units.py"):
        found.update(resources.files("measurement").joinpath(name).read_bytes())
    return found.hexdigest()


def _modules(folder: Traversable, name: str) -> Iterator[tuple[str, Traversable]]:
    for each in sorted(folder.iterdir(), key=lambda one: one.name):
        if each.is_dir() and each.name not in APART:
            yield from _modules(each, f"{name}/{each.name}")
        elif each.name.endswith(".py"):
            yield f"{name}/{each.name}", each
