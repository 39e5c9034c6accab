"""Evaluation files: YAML with units, each problem with its line, and the built-in evaluations ([CEEM]).

:mod:`measurement.ceem` reads and runs what a file says.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from adon import yamlfile
from adon.errors import NotFound
from adon.json_schema import json_schema
from adon.units import Duration, Ratio
from measurement.ceem.run import EvaluationRun
from measurement.ceem.template import Analysis, Design, EvaluationTemplate, Pilot, Positive, Share
from measurement.model import from_json


class PilotFile(Pilot):
    """Pilot with units."""

    duration: Annotated[Duration, Positive] = 2.0


class DesignFile(Design):
    """Step 7 with units."""

    duration: Annotated[Duration, Positive]
    pause: Duration = 0.0
    pilot: PilotFile = PilotFile()


class AnalysisFile(Analysis):
    """Step 9 with units."""

    varies_from: Annotated[Ratio, Share] = 0.2
    alike_within: Annotated[Ratio, Share] = 0.1
    confidence: Annotated[Ratio, Share] = 0.95


class EvaluationFile(EvaluationTemplate):
    """Evaluation template as it is written: the ten steps of [CEEM] figure 1 under their names."""

    design: DesignFile
    analysis: AnalysisFile


def load_evaluation(file: Path) -> EvaluationFile:
    """Return the evaluation in a file.

    :raises InvalidInput: with every problem, each with file, line and field.
    """
    return yamlfile.load_model(file, EvaluationFile)


def parse_evaluation(text: str, file: str | None = None) -> EvaluationFile:
    """Return the evaluation in a text.

    :raises InvalidInput: as :func:`load_evaluation`.
    """
    return yamlfile.parse_model(text, EvaluationFile, file)


def evaluation_schema() -> dict[str, Any]:
    """Return the JSON schema (2020-12) of evaluation files, for editors; it does not relate steps."""
    return json_schema(EvaluationFile, "CEEM evaluation")


class BuiltinEvaluations(yamlfile.BuiltinFiles):
    """Built-in evaluations, and the published results of some."""

    def load(self, name: str) -> EvaluationFile:
        """Return an evaluation.

        :raises NotFound: if there is none of this name.
        """
        return parse_evaluation(self.text(name), f"{name}{yamlfile.SUFFIX}")

    def has_reference(self, name: str) -> bool:
        """Return whether there are published results of an evaluation."""
        return name in self.names() and self.folder.joinpath(f"{name}.reference.json").is_file()

    def reference(self, name: str) -> EvaluationRun:
        """Return the published results of an evaluation.

        :raises NotFound: if there are none.
        """
        if not self.has_reference(name):
            raise NotFound("reference of the evaluation", name)
        text = self.folder.joinpath(f"{name}.reference.json").read_text("utf-8")
        return from_json(EvaluationRun, json.loads(text))


BUILTIN = BuiltinEvaluations("built-in evaluation", "adon.evaluations")
