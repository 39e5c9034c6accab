"""Application templates: the catalog, and adding a version to it."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response, request
from pydantic import Field
from werkzeug.exceptions import NotAcceptable

from adon.access.policy import Action
from adon.api.templates import TemplateBody, TemplateList
from adon.store.template_rows import SavedTemplate
from adon.templates_catalog.model import Template
from adon.templates_catalog.rspec_xml import export_rspec
from adon.templates_catalog.template_text import write_template
from apps.rest.answers import answer, content_of, done
from apps.rest.api.common import PREFIX, Address, answers, blueprint
from apps.rest.guard import action, requester
from apps.rest.paging import InOrder, listed, sliced
from apps.rest.services import services
from apps.rest.template_views import to_template_summary
from measurement.model import from_json, to_json

api = blueprint("templates", "What applications need: the template catalog")

JSON, YAML, RSPEC = "application/json", "application/yaml", "application/rspec+xml"
"""The forms a template is given in; YAML by RFC 9512, GENI RSpec version 3."""
OFFERED = {
    JSON: JSON,
    YAML: YAML,
    RSPEC: RSPEC,
    "text/yaml": YAML,
    "application/xml": RSPEC,
    "text/xml": RSPEC,
}


class NameAddress(Address):
    """Which template."""

    name: str = Field(max_length=64, description="as in soykb")


class VersionAddress(NameAddress):
    """Which version of it."""

    version: int = Field(ge=1, le=10**9)


@api.get("/templates", responses=answers(200, TemplateList))
@action(Action.TEMPLATE_READ)
def list_templates(query: InOrder) -> Response:
    """The latest version of every template, by name, and which versions there are."""
    known: dict[str, list[SavedTemplate]] = {}
    for saved in services().store.templates():
        known.setdefault(saved.template.name, []).append(saved)
    shown, following = sliced(list(known), query, str)
    return listed(TemplateList(items=[to_template_summary(known[name]) for name in shown], next=following))


def latest() -> list[Template]:
    """Of each template its highest version, by name."""
    # The store lists them by name and version: the last of each name stays.
    newest = {saved.template.name: saved.template for saved in services().store.templates()}
    return list(newest.values())


@api.post("/templates", responses=answers(201, TemplateBody, 400, 409, 413, 415))
@action(Action.TEMPLATE_ADD)
def add_template(body: TemplateBody) -> Response:  # noqa: ARG001 - checks and documents; sent as it came
    """Save a template; without a ``version`` as the next one, unless it equals the latest already."""
    saved = save(request.get_json())
    where = f"{PREFIX}/templates/{saved.name}/versions/{saved.version}"
    return done(to_json(saved), HTTPStatus.CREATED, where)


def save(document: object) -> Template:
    """Have the controller save a template, as it was written; the version that it became.

    :raises AdonError: what the controller says against it.
    """
    command = {"template": document, "author": requester().name}
    return from_json(Template, services().controller.call("template.add", command))


@api.get("/templates/<name>", responses=answers(200, TemplateBody, 406))
@action(Action.TEMPLATE_READ)
def get_template(path: NameAddress) -> Response:
    """The latest version, as JSON, YAML or GENI RSpec (by ``Accept``)."""
    return _in_form(services().store.template(path.name).template)


@api.get("/templates/<name>/versions/<version>", responses=answers(200, TemplateBody, 406))
@action(Action.TEMPLATE_READ)
def get_template_version(path: VersionAddress) -> Response:
    """One version, as JSON, YAML or GENI RSpec (by ``Accept``); it never changes."""
    return _in_form(services().store.template(path.name, path.version).template)


def _in_form(template: Template) -> Response:
    accepted = request.accept_mimetypes
    wanted = accepted.best_match(OFFERED) if accepted else JSON
    if wanted is None:
        raise NotAcceptable(f"offered are {JSON}, {YAML} and {RSPEC}")
    match OFFERED[wanted]:
        case "application/yaml":
            return answer(write_template(to_json(template)).encode(), YAML)
        case "application/rspec+xml":
            return answer(export_rspec(template, "source", "destination").encode(), RSPEC)
        case _:
            return answer(content_of(to_json(template)))
