"""The documents that ADON brings, and what others found with them."""

from __future__ import annotations

import json
from importlib import resources
from importlib.resources.abc import Traversable

from adon.errors import NotFound
from adon.evaluations.reading import DocumentFile, parse
from measurement.evaluation.run import Run
from measurement.evaluation.run_json import from_json

_FOLDER = resources.files("adon.evaluations").joinpath("builtin")


def names() -> tuple[str, ...]:
    """Of the documents, in order."""
    files = (file.name for file in _FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in files if name.endswith(".yaml")))


def text(name: str) -> str:
    """A document as it is written.

    :raises NotFound: if ADON brings none of this name.
    """
    return _file(name, f"{name}.yaml").read_text("utf-8")


def document(name: str) -> DocumentFile:
    """A document.

    :raises NotFound: likewise.
    :raises InvalidInput: if an installed file was damaged.
    """
    return parse(text(name), f"{name}.yaml")


def reference(name: str) -> Run:
    """What its authors found.

    :raises NotFound: if ADON brings nothing of it.
    """
    found: Run = from_json(json.loads(_file(name, f"{name}.reference.json").read_text("utf-8")))
    return found


def has_reference(name: str) -> bool:
    """Whether its authors' results are there."""
    return _FOLDER.joinpath(f"{name}.reference.json").is_file()


def _file(name: str, file: str) -> Traversable:
    # Only what is listed: a name is no path.
    found = _FOLDER.joinpath(file)
    if name not in names() or not found.is_file():
        raise NotFound(
            "built-in evaluation" if file.endswith(".yaml") else "reference of the evaluation", name
        )
    return found
