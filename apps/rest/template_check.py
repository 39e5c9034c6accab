"""A template's text, checked without being saved: what is wrong and where, and what it says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask.json.provider import JSONProvider

from adon import yamlfile
from adon.api.templates import Form
from adon.errors import InvalidInput, Problem
from adon.templates_catalog.model import Template
from adon.templates_catalog.rspec_xml import LinkDraft, draft_links


@dataclass(frozen=True, slots=True)
class Checked:
    """What a text was found to be.

    :param template: what it says, if nothing is wrong with it.
    :param drafts: of an RSpec, what each of its links asks for.
    """

    problems: tuple[Problem, ...] = ()
    template: Template | None = None
    drafts: tuple[LinkDraft, ...] = ()


def checked(text: str, form: Form, reader: JSONProvider) -> Checked:
    """What a text says, or everything that is wrong with it.

    :param reader: reads JSON as it is read everywhere here.
    """
    try:
        match form:
            case "yaml":
                return _template(*yamlfile.read_yaml(text))
            case "json":
                return _template(*_read_json(text, reader))
            case "rspec":
                drafts, wrong = draft_links(text)
                return Checked(wrong, drafts=drafts)
    except InvalidInput as error:
        return Checked(error.problems)


def _template(data: Any, lines: yamlfile.Lines | None) -> Checked:
    if data is not None and not isinstance(data, Mapping):
        return Checked((Problem("", "is not a mapping of a template's parts", line=1, column=1),))
    return Checked(template=yamlfile.check_model(data, Template, lines=lines))


def _read_json(text: str, reader: JSONProvider) -> tuple[Any, yamlfile.Lines | None]:
    try:
        data = reader.loads(text)
    except json.JSONDecodeError as error:
        where = Problem("", f"is not JSON: {error.msg}", None, error.lineno, error.colno)
        raise InvalidInput(where) from error
    except ValueError as error:
        raise InvalidInput(Problem("", f"is not JSON: {error}")) from error
    try:
        # To YAML a tab is no white space.
        _, lines = yamlfile.read_yaml(text.replace("\t", " "))
    except InvalidInput:
        return data, None  # JSON that is no YAML: then without lines
    return data, lines
