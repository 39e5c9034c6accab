"""The experiments that ADON brings."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable

from adon.errors import NotFound
from adon.experiments.reading import Source, parse

SUFFIX = ".yaml"


def _files() -> dict[str, Traversable]:
    folder = resources.files("adon.experiments").joinpath("builtin")
    files = folder.iterdir() if folder.is_dir() else iter(())
    return {file.name.removesuffix(SUFFIX): file for file in files if file.name.endswith(SUFFIX)}


def names() -> tuple[str, ...]:
    """Of the experiments, in order."""
    return tuple(sorted(_files()))


def text(name: str) -> str:
    """An experiment as it is written.

    :raises NotFound: if ADON brings none of this name.
    """
    # Only what is listed: a name is no path.
    found = _files().get(name)
    if found is None:
        raise NotFound("built-in experiment", name)
    return found.read_text("utf-8")


def source(name: str) -> Source:
    """An experiment.

    :raises NotFound: likewise.
    :raises InvalidInput: if an installed file was damaged.
    """
    return parse(text(name), f"{name}{SUFFIX}")
