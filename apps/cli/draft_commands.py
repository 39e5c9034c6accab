"""Drafts of templates from a survey and from GENI RSpec documents."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput, Problem, problems_of
from apps.cli.common import error_lines, write
from apps.cli.document_printer import print_document

if TYPE_CHECKING:
    from adon.templates_catalog.model import Template
    from adon.templates_catalog.template_draft import Answers, Question

HEAD = "# Drafted from a survey. Look through it, then: adon template add FILE"
SUFFIXES = (".rspec", ".xml")
MAX_BYTES = 1_000_000
MAX_NAME = 63


# -- survey ----------------------------------------------------------------------------------------------


def draft(
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The answers (YAML); without it they are asked for.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the draft here.")
    ] = None,
) -> None:
    """Draft a template from a survey.

    The output is YAML; its comments give the reason for every number.
    """
    from adon.templates_catalog.template_draft import Answers, draft_template
    from adon.templates_catalog.template_text import write_template
    from adon.yamlfile import load_model

    if output is not None and output.exists():
        raise InvalidInput(Problem("", "exists; write the name of a new file", str(output)))
    found = draft_template(_ask_survey() if answers is None else load_model(answers, Answers))
    document = found.model_dump(mode="json", by_alias=True, exclude_unset=True)
    text = f"{HEAD}\n{write_template(document, version=False)}"
    if output is not None:
        write(output, text, "--output")
    if print_document({"template": document, "yaml": text, "file": None if output is None else str(output)}):
        return
    if output is None:
        typer.echo(text, nl=False)
        return
    typer.echo(f"{output}: a draft of {found.name}; check it, then: adon template add {output}")


def _ask_survey() -> Answers:
    """Ask the survey question by question; ask contradicting answers again."""
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
            for line in error_lines(error):
                typer.echo(line, err=True)
            again = _find_questions(error, set(questions()))


def _find_questions(error: InvalidInput, keys: set[str]) -> set[str]:
    """Return the questions that an error is about: of a contradiction both."""
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


# -- RSpec -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft of a template from one link of a file."""

    file: Path
    link: str
    template: Template
    remarks: tuple[str, ...]

    def text(self) -> str:
        """Return the draft as YAML, below its remarks as comments."""
        from adon.templates_catalog.template_text import write_template

        head = (
            f"Drafted from link {self.link!r} of {self.file.name}; the document is kept below.",
            *self.remarks,
        )
        comments = "".join(f"# {' '.join(line.split())}\n" for line in head)
        return comments + write_template(self.document(), version=False)

    def document(self) -> dict[str, Any]:
        """Return the template as JSON values."""
        return self.template.model_dump(mode="json", by_alias=True, exclude_unset=True)


def from_rspec(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A GENI RSpec v3 document, or a folder of them.")
    ],
    link: Annotated[str | None, typer.Option(help="Only this link, by its client_id.")] = None,
    name: Annotated[str | None, typer.Option(help="The template's name (default: of file and link).")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Write each draft into this folder.")
    ] = None,
) -> None:
    """Draft templates from GENI RSpec documents.

    For a file with one link, or with --link, the output is YAML.  For a folder, it is the name of each draft,
    or the reason why there is none.  Exit status: 2 if there is no draft at all.
    """
    files = _find_documents(path) if path.is_dir() else [path]
    if not files:
        cause = f"has no file that ends in {' or '.join(SUFFIXES)}"
        raise InvalidInput(Problem("", cause, str(path), code="missing"))
    drafts: list[Draft] = []
    problems: list[Problem] = []
    names: set[str] = set()
    for file in files:
        found, wrong = _draft_file(file, link, name, names)
        drafts += found
        problems += (replace(one, file=str(file)) for one in wrong)
    if not drafts:
        raise InvalidInput(problems)
    if output is None and not path.is_dir():
        _print_only(drafts, problems)
    else:
        _print_all(files, drafts, problems, output)


def _find_documents(folder: Path) -> list[Path]:
    """Return the RSpec documents in a folder, in order.

    :raises InvalidInput: if the folder, or a folder in it, cannot be read.
    """

    def refuse(error: OSError) -> None:
        cause = f"cannot be read: {error.strerror}; expected a readable folder"
        raise InvalidInput(Problem("", cause, error.filename, code="unreadable"))

    walk = os.walk(folder, onerror=refuse)
    files = (Path(parent, name) for parent, _, names in walk for name in names)
    return sorted(file for file in files if file.suffix.lower() in SUFFIXES)


def _draft_file(
    file: Path, link: str | None, name: str | None, names: set[str]
) -> tuple[list[Draft], Sequence[Problem]]:
    from adon.templates_catalog.rspec_document import decode_document
    from adon.templates_catalog.rspec_xml import draft_links

    try:
        found, wrong = draft_links(decode_document(_read(file)), link)
    except InvalidInput as error:
        return [], error.problems
    except ValueError as error:
        return [], problems_of(error, "rspec")
    several = len(found) + len(wrong) > 1 and link is None
    drafts = []
    for one in found:
        base = name or _name(file.stem)
        chosen = (
            name if name and not several else _free(f"{base}-{_name(one.link)}" if several else base, names)
        )
        drafts.append(Draft(file, one.link, one.template(chosen), one.remarks))
    return drafts, wrong


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidInput.of("", f"cannot be read: {error.strerror}", "unreadable") from error
    if len(content) > MAX_BYTES:
        raise InvalidInput.of("rspec", f"is larger than {MAX_BYTES} bytes, refused unread", "too-large")
    return content


def _name(text: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._") or "link"


def _free(name: str, names: set[str]) -> str:
    """Return a name that no other draft has, with a number if need be."""
    number, free = 1, name[:MAX_NAME]
    while free in names:
        number += 1
        free = f"{name[: MAX_NAME - 5]}-{number}"
    names.add(free)
    return free


def _print_only(drafts: Sequence[Draft], problems: Sequence[Problem]) -> None:
    if len(drafts) > 1:
        links = ", ".join(one.link for one in drafts)
        cause = (
            f"the document has several links: {links}; expected one, for example --link {drafts[0].link!r}"
        )
        raise InvalidInput.of("--link", f"{cause}, or --output DIR for a draft of each", "missing")
    if print_document(drafts[0].document()):
        return
    typer.echo(drafts[0].text(), nl=False)
    for problem in problems:
        typer.echo(str(problem), err=True)


def _print_all(
    files: Sequence[Path],
    drafts: Sequence[Draft],
    problems: Sequence[Problem],
    output: Path | None,
) -> None:
    if output is not None:
        _write_all(drafts, output)
    if print_document(
        {"drafts": [_as_json(one) for one in drafts], "problems": [_problem(one) for one in problems]}
    ):
        return
    by_file: dict[str, list[str]] = {str(file): [] for file in files}
    for draft in drafts:
        where = draft.template.name if output is None else output / f"{draft.template.name}.yaml"
        by_file[str(draft.file)].append(f"{draft.file}: link.{draft.link}: draft {where}")
    for problem in problems:
        by_file[problem.file or ""].append(str(problem))
    for line in (line for lines in by_file.values() for line in lines):
        typer.echo(" ".join(line.split()))
    drafted = len({draft.file for draft in drafts})
    typer.echo(f"{len(files)} documents: {drafted} with {len(drafts)} drafts, {len(files) - drafted} without")


def _write_all(drafts: Sequence[Draft], output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput.of("--output", f"{output}: {error.strerror}") from error
    files = {output / f"{draft.template.name}.yaml": draft for draft in drafts}
    present = [file for file in files if file.exists()]
    if present:
        raise InvalidInput(Problem("", "exists; write the name of a new folder", str(one)) for one in present)
    for file, draft in files.items():
        write(file, draft.text(), "--output")


def _as_json(draft: Draft) -> dict[str, Any]:
    return {
        "file": str(draft.file),
        "link": draft.link,
        "template": draft.document(),
        "remarks": list(draft.remarks),
    }


def _problem(problem: Problem) -> dict[str, Any]:
    return {"file": problem.file, "field": problem.field, "cause": problem.cause, "code": problem.code}
