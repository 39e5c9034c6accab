"""From a file to an experiment and its templates; everything wrong with it has its line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adon import yamlfile
from adon.errors import INVALID, InvalidInput, Problem
from adon.experiments.document import Experiment
from adon.experiments.surroundings import Surroundings
from adon.experiments.validation import problems
from adon.json_schema import json_schema
from adon.nearest_key import absent
from adon.templates_catalog.builtin_templates import builtin_templates
from adon.templates_catalog.model import Template
from adon.values import FrozenMap


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it was read.

    :param templates: those that it names, at full scale.
    :param text: the file itself, character by character.
    :param file: how it is called in messages; None if it never was a file.
    :param folder: from which the files that it names are seen.
    :param instead: by field (``network``, ``templates.0``) the file that stands for what is named there.
    """

    experiment: Experiment
    templates: Mapping[str, Template]
    text: str = ""
    lines: yamlfile.Lines | None = None
    file: str | None = None
    folder: Path | None = None
    instead: Mapping[str, Path] = FrozenMap()

    def check(self, surroundings: Surroundings) -> None:
        """Hold it against a network and a machine.

        :raises InvalidInput: with every problem found, each with file, line and field.
        """
        found = list(problems(self.experiment, self.templates, surroundings))
        if found:
            raise InvalidInput(self._problem(place, cause) for place, cause in found)

    def whole(self) -> Experiment:
        """The same with its templates in it: what it says does not depend on other files."""
        return self.experiment.model_copy(update={"templates": tuple(self.templates.values())})

    def digest(self) -> str:
        """SHA-256 of what it says, however it is laid out: the same for files that mean the same."""
        told = json.dumps(self.whole().model_dump(mode="json", by_alias=True), sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()

    def changed(self, **changes: Any) -> Source:
        """The same with another seed, number of repetitions or list of policies.

        :raises InvalidInput: if one of them cannot be.
        """
        data = self.experiment.model_dump(mode="json", by_alias=True, exclude_unset=True) | changes
        experiment = yamlfile.check_model(data, Experiment)
        return replace(self, experiment=experiment)

    def placed(self, error: InvalidInput, place: tuple[str | int, ...]) -> InvalidInput:
        """The causes of an error about something that the file names, at the place where it does."""
        return InvalidInput(self._problem(place, problem.cause, problem.code) for problem in error.problems)

    def _problem(self, place: tuple[str | int, ...], cause: str, code: str = INVALID) -> Problem:
        line, column = (None if self.lines is None else self.lines.of(place)) or (None, None)
        return Problem(".".join(map(str, place)), cause, self.file, line, column, code)


def read(path: Path, folder: Path | None = None, instead: Mapping[str, Path] = FrozenMap()) -> Source:
    """An experiment's file.

    :param folder: from which the files that it names are seen; its own if it is not said.
    :param instead: see :class:`Source`.
    :raises InvalidInput: with every problem, each with file, line and field.
    """
    return parse(yamlfile.read_text(path), str(path), path.parent if folder is None else folder, instead)


def parse(
    text: str,
    file: str | None = None,
    folder: Path | None = None,
    instead: Mapping[str, Path] = FrozenMap(),
) -> Source:
    """The same from text.

    :param folder: from which the templates' files that it names are seen; without it they are refused.
    :raises InvalidInput: likewise.
    """
    data, lines = yamlfile.read_yaml(text, file)
    experiment = yamlfile.check_model(data, Experiment, file, lines)
    source = Source(experiment, FrozenMap(), text, lines, file, folder, instead)
    found, wrong = {}, []
    for row, template in enumerate(_templates(source)):
        if isinstance(template, Problem):
            wrong.append(template)
        elif template.name in found:
            cause = f"there is a {template.name!r} already"
            wrong.append(source._problem(("templates", row), cause, code="duplicate"))
        else:
            found[template.name] = template
    if wrong:
        raise InvalidInput(wrong)
    return replace(source, templates=FrozenMap(found))


def _templates(source: Source) -> Iterator[Template | Problem]:
    known = {template.name: template for template in builtin_templates()}
    for row, one in enumerate(source.experiment.templates):
        kept = source.instead.get(f"templates.{row}")
        if isinstance(one, Template):
            yield one
        elif kept is not None:
            yield from _from_file(kept)
        elif one in known:
            yield known[one]
        elif one.endswith((".yaml", ".yml")):
            if source.folder is None:
                cause = f"{one!r} is a file, and nobody knows where from"
                yield source._problem(("templates", row), cause)
            else:
                yield from _from_file(source.folder / one)
        else:
            yield source._problem(
                ("templates", row), absent("built-in template", one, known), code="unknown-name"
            )


def _from_file(file: Path) -> Iterator[Template | Problem]:
    try:
        yield yamlfile.load_model(file, Template)
    except InvalidInput as error:
        yield from error.problems


def schema() -> dict[str, Any]:
    """The JSON schema (2020-12) of a file, for editors; that names are there it cannot say."""
    return json_schema(Experiment, "ADON experiment")
