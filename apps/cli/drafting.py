"""``adon template draft``: the survey, asked in the terminal or answered in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput, Problem
from apps.cli.common import JsonFlag, lines, print_json, write

if TYPE_CHECKING:
    from adon.templates_catalog.template_draft import Answers, Question

HEAD = "# Drafted from a survey. Look through it, then: adon template add FILE"


def draft(
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The answers (YAML); without it they are asked for.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the draft here.")
    ] = None,
    json_: JsonFlag = False,
) -> None:
    """Draft a template from a survey.

    The output is YAML; its comments give the reason for every number.
    """
    from adon.templates_catalog.template_draft import Answers, draft_template
    from adon.templates_catalog.template_text import write_template
    from adon.yamlfile import load_model

    if output is not None and output.exists():
        raise InvalidInput(Problem("", "is there already; it is not written over", str(output)))
    found = draft_template(_asked() if answers is None else load_model(answers, Answers))
    document = found.model_dump(mode="json", by_alias=True, exclude_unset=True)
    text = f"{HEAD}\n{write_template(document, version=False)}"
    if output is not None:
        write(output, text, "--output")
    if json_:
        told = {
            "template": document,
            "yaml": text,
            "file": None if output is None else str(output),
        }
        print_json(told)
        return
    if output is None:
        typer.echo(text, nl=False)
        return
    typer.echo(f"{output}: a draft of {found.name}; check it, then: adon template add {output}")


def _asked() -> Answers:
    """The survey, asked question by question; what contradicts itself is asked again."""
    from adon.templates_catalog.template_draft import questions, read_typed

    said: dict[str, str] = {}
    again = set(questions())
    while True:
        for question in questions().values():
            if question.key in again and question.is_asked(said):
                said[question.key] = _ask(question, said.get(question.key, question.default))
        try:
            return read_typed(said)
        except InvalidInput as error:
            for line in lines(error):
                typer.echo(line, err=True)
            again = _concerned(error, set(questions()))


def _concerned(error: InvalidInput, keys: set[str]) -> set[str]:
    """The questions that a refusal is about: of a contradiction both."""
    found = {problem.field.partition(".")[0] for problem in error.problems} & keys
    words = {word.strip(":,.") for problem in error.problems for word in problem.cause.split()}
    return found | (
        words & keys if any("contradict" in problem.cause for problem in error.problems) else set()
    )


def _ask(question: Question, before: str) -> str:
    from adon.templates_catalog.template_draft import find_objection

    hint = ", ".join(word.say[0] for word in question.words) or f"for example {question.example}"
    text = f"{question.ask} ({hint})"
    while True:
        said = str(typer.prompt(text, default=before, show_default=bool(before), err=True)).strip()
        wrong = find_objection(question.key, said)
        if not wrong:
            return said
        typer.echo(f"  {wrong}", err=True)
