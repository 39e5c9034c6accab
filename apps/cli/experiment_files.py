"""Where ``adon experiment`` finds experiments and runs: files, folders, and what ADON brings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from adon.errors import InvalidInput, NotFound
from adon.paths import is_file
from apps.cli.text_files import nothing_is

if TYPE_CHECKING:
    from adon.experiments.reading import Source
    from adon.experiments.results import Run


def experiment_of(name: str) -> tuple[str, Source]:
    """An experiment's text and what it says: a file, a run's folder, or one that ADON brings.

    :raises InvalidInput: with every problem, or if it is none of these.
    """
    from adon.experiments import builtins, reading
    from apps.experiments import folder

    file = Path(name)
    if is_file(file / folder.ABOUT):
        found = folder.document(file)
        return found.text, found
    if is_file(file):
        found = reading.read(file)
        return found.text, found
    if name in builtins.names():
        return builtins.text(name), builtins.source(name)
    raise nothing_is("EXPERIMENT", name, "file or run's folder", "built-in experiment", builtins.names())


def run_of(name: str, results: Path) -> tuple[Path, Source, Run]:
    """A run by its folder, by ``NAME/RUN``, or by ``NAME`` for the last run of it: with its file.

    :raises InvalidInput: if there is none, or a file of it is damaged.
    """
    from apps.experiments import folder

    try:
        path = folder.named(name, results)
    except NotFound as error:
        raise InvalidInput.of("RUN", f"{name}: there is no such run in {results}") from error
    return path, folder.document(path), folder.read(path)
