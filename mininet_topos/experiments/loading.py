"""Experiments from files: built-in ones by name, others by path; every problem has its file and line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adon import yamlfile
from adon.errors import INVALID, InvalidInput, Problem
from adon.nearest_key import describe_missing, unknown_name_problem
from adon.templates_catalog.builtin_templates import builtin_templates
from adon.templates_catalog.model import Template
from adon.yamlfile import SUFFIX, BuiltinFiles
from mininet_topos.experiments.document import Experiment

BUILT_IN = BuiltinFiles("built-in experiment", "mininet_topos.experiments")


@dataclass(frozen=True, slots=True)
class ExperimentFile:
    """An experiment with its text.

    :param experiment: with every template in line.
    :param text: that is kept with a run: without the files that the document names.
    :param problems: those of templates that the document names and that are left out of ``experiment``.
    :param file: its name in messages.
    :param folder: to which the files that it names are relative; None if it was never a file.
    """

    experiment: Experiment
    text: str
    lines: yamlfile.Lines
    file: str
    folder: Path | None = None
    problems: tuple[Problem, ...] = ()

    def problem(self, place: yamlfile.Place, cause: str, code: str = INVALID) -> Problem:
        """Return the problem of a value, with file and line."""
        line, column = self.lines.of(place) or (None, None)
        return Problem(".".join(map(str, place)), cause, self.file, line, column, code)

    def change_fields(self, **changes: Any) -> ExperimentFile:
        """Return the same with other fields, such as ``repetitions=1``.

        :raises InvalidInput: for a value that a field cannot have.
        """
        data = _to_data(self.experiment) | changes
        return replace(self, experiment=yamlfile.check_model(data, Experiment), text=yamlfile.dump_data(data))


def load_experiment(reference: str) -> ExperimentFile:
    """Return a built-in experiment, or the one in a file.

    :param reference: a built-in name, or a path with a suffix or a folder.
    :raises InvalidInput: if there is no such experiment; or with each value that a field cannot have, and
        its file and line.
    """
    path = Path(reference)
    if path.suffix or len(path.parts) > 1:
        return parse_experiment(yamlfile.read_text(path), str(path), path.parent)
    if reference not in BUILT_IN.names():
        raise InvalidInput((unknown_name_problem("experiment", BUILT_IN.kind, reference, BUILT_IN.names()),))
    return parse_experiment(BUILT_IN.text(reference), f"{reference}{SUFFIX}")


def parse_experiment(text: str, file: str, folder: Path | None = None) -> ExperimentFile:
    """Return the experiment of a text; as :func:`load_experiment`."""
    data, lines = yamlfile.read_yaml(text, file)
    read = ExperimentFile(yamlfile.check_model(data, Experiment, file, lines), text, lines, file, folder)
    found = list(_read_templates(read))
    templates = tuple(one for one in found if isinstance(one, Template))
    problems = tuple(one for one in found if isinstance(one, Problem))
    experiment = read.experiment.model_copy(update={"templates": templates})
    kept = text if folder is None else yamlfile.dump_data(_to_data(experiment))
    return replace(read, experiment=experiment, text=kept, problems=problems)


def _to_data(experiment: Experiment) -> dict[str, Any]:
    return experiment.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _read_templates(read: ExperimentFile) -> Iterator[Template | Problem]:
    known = {template.name: template for template in builtin_templates()}
    for row, one in enumerate(read.experiment.templates):
        if isinstance(one, Template):
            yield one
        elif one in known:
            yield known[one]
        elif read.folder is not None and one.endswith((".yaml", ".yml")):
            try:
                yield yamlfile.load_model(read.folder / one, Template)
            except InvalidInput as error:
                yield from error.problems
        else:
            cause = describe_missing("built-in template", one, known)
            yield read.problem(("templates", row), cause, "unknown-name")
