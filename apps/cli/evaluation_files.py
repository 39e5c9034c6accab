"""Where ``adon evaluate`` finds documents and runs: files, folders, and what ADON brings."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from adon.errors import InvalidInput
from apps.cli.text_files import nothing_is

if TYPE_CHECKING:
    from adon.evaluations.reading import DocumentFile
    from measurement.evaluation.run import Run


def document_of(name: str) -> tuple[str, DocumentFile]:
    """A document's text and what it says: a file, or one that ADON brings.

    :raises InvalidInput: with every problem, or if it is neither.
    """
    from adon.evaluations import builtins, reading

    file = Path(name)
    if os.path.isfile(file):  # noqa: PTH113 - Path.is_file raises for some names
        found = reading.read(file)  # first: it says in words what cannot be read
        return file.read_text("utf-8-sig"), found
    if name in builtins.names():
        return builtins.text(name), builtins.document(name)
    raise nothing_is("DOCUMENT", name, "file", "built-in evaluation", builtins.names())


def reference_of(name: str) -> Run:
    """What the authors of a built-in evaluation found.

    :raises InvalidInput: if there is none.
    """
    from adon.evaluations import builtins

    known = [one for one in builtins.names() if builtins.has_reference(one)]
    if name in known:
        return builtins.reference(name)
    raise nothing_is("RUN", name, "file or run's folder", "evaluation with a reference", known)


def run_of(name: str) -> Run:
    """A run: by its folder, its ``run.json``, or the name of a built-in evaluation.

    :raises InvalidInput: for a file that is none; it names the field.
    """
    from apps.evaluation import logfile
    from measurement.evaluation.run import Run
    from measurement.model import from_json

    file = Path(name)
    if os.path.isdir(file):  # noqa: PTH112 - Path.is_dir raises for some names
        return logfile.read(file)
    if not os.path.isfile(file):  # noqa: PTH113 - as above
        return reference_of(name)
    try:
        found = from_json(Run, json.loads(file.read_text("utf-8")))
    except UnicodeDecodeError:
        raise InvalidInput.of(name, "is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise InvalidInput.of(name, f"is no JSON: {error}") from error
    except (ValueError, OSError) as error:
        raise InvalidInput.of(name, error) from error
    return found


def document_for(name: str, found: Run, document: str | None) -> tuple[str, DocumentFile]:
    """The document of a run: what was named, what lies beside it, or the built-in one of its name.

    :raises InvalidInput: if there is none.
    """
    from adon.evaluations import builtins
    from apps.evaluation.logfile import DOCUMENT

    if document is not None:
        return document_of(document)
    file = Path(name)
    beside = (file if file.is_dir() else file.parent) / DOCUMENT
    if file.exists() and beside.is_file():
        return document_of(str(beside))
    if found.document.name in builtins.names():
        return document_of(found.document.name)
    cause = f"the document {found.document.name!r} is not in the folder of the run; name its file"
    raise InvalidInput.of("--document", cause)
