"""The experiments that ADON brings."""

from __future__ import annotations

from adon.brought import SUFFIX, Brought
from adon.experiments.reading import Source, parse

_BROUGHT = Brought("built-in experiment", "adon.experiments")
names, text = _BROUGHT.names, _BROUGHT.text


def source(name: str) -> Source:
    """An experiment.

    :raises NotFound: if ADON brings none of this name.
    :raises InvalidInput: if an installed file was damaged.
    """
    return parse(text(name), f"{name}{SUFFIX}")
