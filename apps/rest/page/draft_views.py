"""The survey as a form, and the draft that it leads to, to be looked through and saved."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from flask import Response, g, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from adon import yamlfile
from adon.access.policy import Action, Object, may
from adon.errors import Conflict, Forbidden, InvalidInput, Problem, Unavailable
from adon.templates_catalog.model import Template
from adon.templates_catalog.questionnaire.asking import QUESTIONS, typed
from adon.templates_catalog.questionnaire.drafting import Draft, draft
from adon.templates_catalog.questionnaire.text import as_yaml
from apps.rest.api.drafting import likened, served
from apps.rest.api.templates import save
from apps.rest.guard import action
from apps.rest.page import frame

GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("The application", "", ("application", "title", "purpose", "kind", "transport", "parallel")),
    ("Fast enough", "", ("amount", "within", "rate", "fastest", "sessions")),
    ("Quality", "", ("loss", "response", "steadiness", "counts")),
    ("Its place among others", "", ("urgency", "moves", "waits")),
    ("How it is recognised", "", ("ports", "dscp")),
    (
        "Where its data goes",
        "Worker nodes, cores, memory and what follows are read only if jobs work on the data.",
        (
            "sites",
            "storage",
            "software",
            "analysed",
            "nodes",
            "cores",
            "memory",
            "saves",
            "result_share",
            "result_home",
        ),
    ),
)
"""The questions as the form groups them: heading, a word on it, keys."""

page = frame.blueprint("drafted")


@page.get("/templates/draft")
@action(Action.TEMPLATE_DRAFT)
def show_form() -> AnyResponse:
    """The survey."""
    return _shown({}, ())


@page.post("/templates/draft")
@action(Action.TEMPLATE_DRAFT)
def draft_template() -> AnyResponse:
    """The draft that the answers lead to, or what is wrong with them."""
    said = request.form.to_dict()
    try:
        found = draft(typed(said))
    except InvalidInput as error:
        return _shown(said, error.problems, status=error.status)
    return _shown(said, (), found=found, text=as_yaml(found))


@page.post("/templates/self-service")
@action(Action.TEMPLATE_SELF_SERVICE)
def serve_yourself() -> AnyResponse:
    """Save a draft without a performance engineer; shows the template, or what lacks."""
    text = request.form.get("yaml", "")
    try:
        saved = served(yamlfile.parse_model(text, Template))
    except InvalidInput as error:
        return _shown({}, error.problems, text=text, status=error.status)
    except (Conflict, Forbidden, Unavailable) as error:
        return _shown({}, (Problem("", str(error)),), text=text, status=error.status)
    return redirect(url_for("page.show_template", name=saved.name, version=saved.version), 303)


@page.post("/templates/add")
@action(Action.TEMPLATE_ADD)
def add_draft() -> AnyResponse:
    """Save a draft as it stands in the form; shows the template, or what is wrong with it."""
    text = request.form.get("yaml", "")
    try:
        template = yamlfile.parse_model(text, Template)
        saved = save(template.model_dump(mode="json", by_alias=True, exclude_unset=True))
    except InvalidInput as error:
        return _shown({}, error.problems, text=text, status=error.status)
    except Conflict as error:
        return _shown({}, (Problem(error.field, error.cause),), text=text, status=error.status)
    except Unavailable as error:
        return _shown({}, (Problem("", str(error)),), text=text, status=error.status)
    return redirect(url_for("page.show_template", name=saved.name, version=saved.version), 303)


def _shown(
    said: Mapping[str, str],
    problems: tuple[Problem, ...],
    *,
    found: Draft | None = None,
    text: str = "",
    status: int = HTTPStatus.OK,
) -> AnyResponse:
    known = {question.key: question for question in QUESTIONS}
    groups = [(heading, note, [known[key] for key in keys]) for heading, note, keys in GROUPS]
    shown = render_template(
        "draft.html",
        groups=groups,
        said=said,
        problems=problems,
        draft=found,
        text=text,
        similar=None if found is None else likened(found.template),
        adding=may(g.actor, Action.TEMPLATE_ADD, Object("template")).allowed,
    )
    return Response(shown, status)
