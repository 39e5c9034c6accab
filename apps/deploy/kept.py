"""The files in ``files/``, with the folder filled in where this ADON is installed."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from adon.errors import NotFound

_FILES = resources.files("apps.deploy").joinpath("files")
_PREFIX = "@PREFIX@"


def names() -> list[str]:
    """The files there are."""
    return sorted(file.name for file in _FILES.iterdir())


def text(name: str, prefix: Path) -> str:
    """A file, ready to be put in its place.

    :param prefix: where this ADON is installed; its programs are in ``bin`` there.
    :raises NotFound: if there is no such file.
    """
    if name not in names():
        raise NotFound("file to deploy", name)
    return _FILES.joinpath(name).read_text("utf-8").replace(_PREFIX, str(prefix))
