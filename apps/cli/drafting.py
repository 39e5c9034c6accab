"""``adon template draft``: the survey, asked in the terminal or answered in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput, Problem
from apps.cli.common import JsonFlag, lines, print_json, write

if TYPE_CHECKING:
    from adon.templates_catalog.questionnaire.answers import Answers
    from adon.templates_catalog.questionnaire.asking import Question


def draft(
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The answers (YAML); without it they are asked for.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the draft here.")
    ] = None,
    json_: JsonFlag = False,
) -> None:
    """Draft a template from a survey; needs no server.

    Prints YAML with a reason beside every number, to look through and add.
    """
    from adon.templates_catalog.questionnaire.answers import Answers
    from adon.templates_catalog.questionnaire.drafting import draft as drafted
    from adon.templates_catalog.questionnaire.text import as_yaml
    from adon.yamlfile import load_model

    if output is not None and output.exists():
        raise InvalidInput(Problem("", "is there already; it is not written over", str(output)))
    found = drafted(_asked() if answers is None else load_model(answers, Answers))
    text = as_yaml(found)
    if output is not None:
        write(output, text, "--output")
    if json_:
        told = {
            "template": dict(found.document),
            "yaml": text,
            "file": None if output is None else str(output),
        }
        print_json(told)
        return
    if output is None:
        typer.echo(text, nl=False)
        return
    typer.echo(
        f"{output}: a draft of {found.template.name}; look through it, then: adon template add {output}"
    )


def _asked() -> Answers:
    """The survey, asked question by question; what contradicts itself is asked again."""
    from adon.templates_catalog.questionnaire.asking import QUESTIONS, typed

    said: dict[str, str] = {}
    again = {question.key for question in QUESTIONS}
    while True:
        for question in QUESTIONS:
            if question.key in again and question.asked(said):
                said[question.key] = _ask(question, said.get(question.key, question.default))
        try:
            return typed(said)
        except InvalidInput as error:
            for line in lines(error):
                typer.echo(line, err=True)
            again = _concerned(error, {question.key for question in QUESTIONS})


def _concerned(error: InvalidInput, keys: set[str]) -> set[str]:
    """The questions that a refusal is about: of a contradiction both."""
    found = {problem.field.partition(".")[0] for problem in error.problems} & keys
    words = {word.strip(":,.") for problem in error.problems for word in problem.cause.split()}
    return found | (
        words & keys if any("contradict" in problem.cause for problem in error.problems) else set()
    )


def _ask(question: Question, before: str) -> str:
    from adon.templates_catalog.questionnaire.asking import objection

    hint = ", ".join(question.choices) or (f"for example {question.example}" if question.example else "")
    text = f"{question.text} ({hint})" if hint else question.text
    while True:
        said = str(typer.prompt(text, default=before, show_default=bool(before), err=True)).strip()
        wrong = objection(question, said)
        if not wrong:
            return said
        typer.echo(f"  {wrong}", err=True)
