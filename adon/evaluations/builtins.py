"""The documents that ADON brings, and what others found with them."""

from __future__ import annotations

import json

from adon.errors import NotFound
from adon.evaluations.reading import DocumentFile, parse
from adon.yamlfile import SUFFIX, BuiltinFiles
from measurement.evaluation.run import Run
from measurement.model import from_json

_BROUGHT = BuiltinFiles("built-in evaluation", "adon.evaluations")
names, text = _BROUGHT.names, _BROUGHT.text


def document(name: str) -> DocumentFile:
    """A document.

    :raises NotFound: if ADON brings none of this name.
    :raises InvalidInput: if an installed file was damaged.
    """
    return parse(text(name), f"{name}{SUFFIX}")


def reference(name: str) -> Run:
    """What its authors found.

    :raises NotFound: if ADON brings nothing of it.
    """
    if not has_reference(name):
        raise NotFound("reference of the evaluation", name)
    return from_json(Run, json.loads(_BROUGHT.folder.joinpath(_reference(name)).read_text("utf-8")))


def has_reference(name: str) -> bool:
    """Whether its authors' results are there."""
    return name in names() and _BROUGHT.folder.joinpath(_reference(name)).is_file()


def _reference(name: str) -> str:
    return f"{name}.reference.json"
