"""A configuration file, checked as far as it can be without starting anything.

``adon config check`` and a reload use this one function, so that what the one accepts the other does too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from adon import yamlfile
from adon.config import Configuration, load
from adon.errors import InvalidInput, Problem
from adon.measurement_plan import MeasurementPlan, plan_measurements
from apps.collector.psconfig_file import read_template


def check_file(file: Path) -> tuple[Configuration, MeasurementPlan]:
    """The configuration, and the plan of its tests and of its pSConfig template.

    :raises InvalidInput: with every problem found, each with file, line and field; if its tests fit no
        schedule, which one and why.
    """
    configuration = load(file)
    try:
        return configuration, plan_measurements(
            configuration, psconfig=read_template(configuration, file.parent)
        )
    except InvalidInput as error:
        raise InvalidInput(locate_problems(error.problems, file)) from error


def locate_problems(problems: Iterable[Problem], file: Path) -> Iterator[Problem]:
    """Problems of a configuration with its file, and the line of their field."""
    _, lines = yamlfile.read_yaml(yamlfile.read_text(file), str(file))
    for problem in problems:
        line, column = lines.of(yamlfile.find_place(problem.field)) or (None, None)
        yield replace(problem, file=str(file), line=line, column=column)
