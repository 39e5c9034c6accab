"""The pSConfig template that a configuration names with ``measurements.psconfig``."""

from __future__ import annotations

from pathlib import Path

from adon.config import Configuration
from adon.errors import InvalidInput, Problem
from measurement.psconfig.errors import TemplateError
from measurement.psconfig.expand import Expansion, expand
from measurement.psconfig.template import read

FIELD = "measurements.psconfig"


def read_template(configuration: Configuration, folder: Path) -> Expansion:
    """Return the tasks of the template, and what of it is skipped; empty if the configuration names none.

    :param folder: a relative name is relative to it.
    :raises InvalidInput: with every problem of the template.
    """
    name = configuration.measurements.psconfig
    if name is None:
        return Expansion()
    try:
        return expand(read((folder / name).read_bytes()))
    except OSError as error:
        cause = f"{name} cannot be read: {error.strerror or type(error).__name__}"
        raise InvalidInput.of(FIELD, cause, "unreadable") from None
    except TemplateError as error:
        causes = [f"{name}: {problem}" for problem in error.problems]
        raise InvalidInput(Problem(FIELD, cause, code=error.code) for cause in causes) from None
