"""A template's versions: which there are, how two differ, and what a text would become."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response, current_app
from pydantic import Field

from adon.access.policy import Action
from adon.api.templates import CheckBody, TemplateCheck, TemplateDiff, VersionList
from adon.errors import NotFound
from adon.templates_catalog.model import Template
from apps.rest.answers import done, json_answer
from apps.rest.api.common import Query, answers, blueprint
from apps.rest.api.templates import NameAddress
from apps.rest.checking import checked
from apps.rest.guard import action
from apps.rest.paging import InOrder, listed, sliced
from apps.rest.services import services
from apps.rest.template_views import (
    curves,
    problem_items,
    to_link_draft_view,
    to_template_diff,
    to_version_view,
)
from measurement.model import to_json

api = blueprint("template versions", "How templates became what they are, and what a text would become")


@api.get("/templates/<name>/versions", responses=answers(200, VersionList))
@action(Action.TEMPLATE_READ)
def list_versions(path: NameAddress, query: InOrder) -> Response:
    """Every version of a template, the first first: who saved it, and when."""
    found = services().store.templates(path.name)
    if not found:
        raise NotFound("template", path.name)
    shown, following = sliced(found, query, lambda saved: str(saved.template.version))
    return listed(VersionList(items=[to_version_view(saved) for saved in shown], next=following))


class DiffQuery(Query):
    """Which versions; without any the latest beside the one before it."""

    from_: int | None = Field(default=None, alias="from", ge=1, le=10**9)
    to: int | None = Field(default=None, ge=1, le=10**9)


@api.get("/templates/<name>/diff", responses=answers(200, TemplateDiff))
@action(Action.TEMPLATE_READ)
def compare_versions(path: NameAddress, query: DiffQuery) -> Response:
    """How two versions of a template differ, value by value and as a text."""
    store = services().store
    after = store.template(path.name, query.to).template
    before = after if query.from_ is None else store.template(path.name, query.from_).template
    if query.from_ is None:
        older = [saved.template for saved in store.templates(path.name)]
        before = max(
            (one for one in older if one.version < after.version), key=_version, default=after
        )  # of the first version there is nothing before: it is like itself
    return json_answer(to_template_diff(before, after))


def _version(template: Template) -> int:
    return template.version


def _next_version(name: str) -> int:
    """The version that a template would be saved as."""
    try:
        return services().store.template(name).template.version + 1
    except NotFound:
        return 1


@api.post("/template-checks", responses=answers(200, TemplateCheck, 400, 413, 415))
@action(Action.TEMPLATE_CHECK, asks=True)
def check_template(body: CheckBody) -> Response:
    """What is wrong with a template's text, with line and column, and what it says; saves nothing."""
    found = checked(body.text, body.form, current_app.json)
    template = found.template
    view = TemplateCheck(
        ok=not found.problems or bool(found.drafts),
        problems=problem_items(found.problems),
        template=None if template is None else to_json(template),
        next_version=None if template is None else _next_version(template.name),
        curves=[] if template is None else curves(template),
        links=[to_link_draft_view(draft) for draft in found.drafts],
    )
    return done(view, HTTPStatus.OK)
