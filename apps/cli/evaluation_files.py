"""Templates and runs of ``adon evaluate``: files, folders, and built-in evaluations."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from adon.errors import Conflict, InvalidInput, NotFound
from apps.cli.text_files import nothing_is

if TYPE_CHECKING:
    from adon.evaluation_file import EvaluationFile
    from measurement.ceem.run import EvaluationRun


def find_template(name: str) -> tuple[str, EvaluationFile]:
    """Return the text of a template and the template: of a file, or a built-in one.

    :raises InvalidInput: with every problem, or if there is neither.
    """
    from adon.evaluation_file import BUILTIN, load_evaluation

    file = Path(name)
    if os.path.isfile(file):  # noqa: PTH113 - Path.is_file raises for some names
        template = load_evaluation(file)  # before read_text, which has no words for an unreadable file
        return file.read_text("utf-8-sig"), template
    if name in BUILTIN.names():
        return BUILTIN.text(name), BUILTIN.load(name)
    raise nothing_is("DOCUMENT", name, "file", "built-in evaluation", BUILTIN.names())


def find_reference(name: str) -> EvaluationRun:
    """Return the published results of a built-in evaluation.

    :raises InvalidInput: if there are none.
    """
    from adon.evaluation_file import BUILTIN

    known = [one for one in BUILTIN.names() if BUILTIN.has_reference(one)]
    if name in known:
        return BUILTIN.reference(name)
    raise nothing_is("RUN", name, "file or run's folder", "evaluation with a reference", known)


def find_run(name: str) -> EvaluationRun:
    """Return a run: of a folder, a ``run.json``, or a built-in evaluation.

    :raises InvalidInput: for a file that holds no run; it names the field.
    """
    from measurement.ceem.run import EvaluationRun
    from measurement.model import from_json

    file = Path(name)
    if os.path.isdir(file):  # noqa: PTH112 - Path.is_dir raises for some names
        return read_run_folder(file)
    if not os.path.isfile(file):  # noqa: PTH113 - as above
        return find_reference(name)
    try:
        return from_json(EvaluationRun, json.loads(file.read_text("utf-8")))
    except UnicodeDecodeError:
        raise InvalidInput.of(name, "is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise InvalidInput.of(name, f"is not JSON: {error}") from error
    except (ValueError, OSError) as error:
        raise InvalidInput.of(name, error) from error


def find_template_of_run(name: str, run: EvaluationRun, template: str | None) -> tuple[str, EvaluationFile]:
    """Return the template of a run: the named one, the one in its folder, or the built-in one of its name.

    :raises InvalidInput: if there is none.
    """
    from adon.evaluation_file import BUILTIN
    from measurement.ceem.run_log import TEMPLATE_FILE

    if template is not None:
        return find_template(template)
    file = Path(name)
    in_folder = (file if file.is_dir() else file.parent) / TEMPLATE_FILE
    if file.exists() and in_folder.is_file():
        return find_template(str(in_folder))
    if run.document.name in BUILTIN.names():
        return find_template(run.document.name)
    cause = f"the document {run.document.name!r} is not in the folder of the run; name its file"
    raise InvalidInput.of("--document", cause)


@contextmanager
def log_errors(folder: Path) -> Iterator[None]:
    """Translate the errors of the log of a run."""
    try:
        yield
    except FileNotFoundError:
        raise NotFound("run", str(folder)) from None
    except FileExistsError:
        raise Conflict("--out", f"{folder} holds a run; continue it with --resume") from None
    except BlockingIOError:
        raise Conflict("--out", f"the run in {folder} is in progress") from None
    except OSError as error:
        raise InvalidInput.of("--out", f"{folder}: {error.strerror}") from error


def read_run_folder(folder: Path) -> EvaluationRun:
    """Return the run in a folder.

    :raises NotFound: if there is none.
    :raises InvalidInput: for a damaged log; it names the line.
    """
    from measurement.ceem.run_log import LOG_FILE, read_log

    try:
        with log_errors(folder):
            return read_log(folder)
    except ValueError as error:
        raise InvalidInput.of(str(folder / LOG_FILE), error) from error
