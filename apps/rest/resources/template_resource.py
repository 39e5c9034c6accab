"""Application templates, their versions and backtests."""

from __future__ import annotations

from typing import Any

from flask import Response, current_app, request
from werkzeug.exceptions import NotAcceptable

from adon.api import routes
from adon.api.base import InOrder, NewestFirst
from adon.api.templates import (
    BacktestBody,
    BacktestList,
    BacktestView,
    CheckBody,
    DiffQuery,
    TemplateBody,
    TemplateCheck,
    TemplateDiff,
    TemplateList,
    VersionList,
    VersionView,
)
from adon.errors import NotFound, Unavailable
from adon.store.template_rows import SavedTemplate
from adon.templates_catalog.model import Template
from adon.templates_catalog.rspec_xml import export_rspec
from adon.templates_catalog.template_text import write_template
from apps.rest.authentication import requester
from apps.rest.dispatch import handles
from apps.rest.explanations import Backtests
from apps.rest.pagination import cut, sliced
from apps.rest.responses import answer, content_of
from apps.rest.services import services
from apps.rest.template_views import (
    checked,
    curves,
    to_link_draft_view,
    to_template_diff,
    to_template_summary,
)
from measurement.model import from_json, to_json

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


@handles(routes.LIST_TEMPLATES)
def list_templates(query: InOrder) -> TemplateList:
    """Return the latest version of every template, by name, with the list of versions."""
    known: dict[str, list[SavedTemplate]] = {}
    for saved in services().store.templates():
        known.setdefault(saved.template.name, []).append(saved)
    shown, following = sliced(list(known), query, str)
    return TemplateList(items=[to_template_summary(known[name]) for name in shown], next=following)


def latest() -> list[Template]:
    """Of each template its highest version, by name."""
    # The store lists them by name and version: the last of each name stays.
    newest = {saved.template.name: saved.template for saved in services().store.templates()}
    return list(newest.values())


@handles(routes.ADD_TEMPLATE)
def add_template(body: TemplateBody) -> dict[str, Any]:  # noqa: ARG001 - checks and documents; sent as it came
    """Save a template; without ``version`` as the next one, unless it equals the latest."""
    command = {"template": request.get_json(), "author": requester().name}
    saved = from_json(Template, services().controller.call("template.add", command))
    document: dict[str, Any] = to_json(saved)
    return document


@handles(routes.GET_TEMPLATE)
def get_template(name: str) -> Response:
    """Return the latest version of a template as JSON, YAML or GENI RSpec (by ``Accept``)."""
    return _in_form(services().store.template(name).template)


@handles(routes.GET_TEMPLATE_VERSION)
def get_template_version(name: str, version: int) -> Response:
    """Return one version of a template as JSON, YAML or GENI RSpec (by ``Accept``)."""
    return _in_form(services().store.template(name, version).template)


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


@handles(routes.LIST_VERSIONS)
def list_versions(name: str, query: InOrder) -> VersionList:
    """Return every version of a template with author and time, the oldest first."""
    found = services().store.templates(name)
    if not found:
        raise NotFound("template", name)
    shown, following = sliced(found, query, lambda saved: str(saved.template.version))
    return VersionList(
        items=[
            VersionView.of(saved.template, author=saved.author, saved_at=saved.saved_at) for saved in shown
        ],
        next=following,
    )


@handles(routes.COMPARE_VERSIONS)
def compare_versions(name: str, query: DiffQuery) -> TemplateDiff:
    """Return the differences of two versions of a template, by value and as a text."""
    store = services().store
    after = store.template(name, query.to).template
    before = after if query.from_ is None else store.template(name, query.from_).template
    if query.from_ is None:
        older = [saved.template for saved in store.templates(name)]
        before = max(
            (one for one in older if one.version < after.version), key=_version, default=after
        )  # of the first version there is nothing before: it is like itself
    return to_template_diff(before, after)


def _version(template: Template) -> int:
    return template.version


def _next_version(name: str) -> int:
    """The version that a template would be saved as."""
    try:
        return services().store.template(name).template.version + 1
    except NotFound:
        return 1


@handles(routes.CHECK_TEMPLATE)
def check_template(body: CheckBody) -> TemplateCheck:
    """Check the text of a template; return its problems with line and column, and save nothing."""
    found = checked(body.text, body.form, current_app.json)
    template = found.template
    return TemplateCheck(
        ok=not found.problems or bool(found.drafts),
        problems=found.problems,
        template=None if template is None else to_json(template),
        next_version=None if template is None else _next_version(template.name),
        curves=[] if template is None else curves(template),
        links=[to_link_draft_view(draft) for draft in found.drafts],
    )


def _backtests() -> Backtests:
    found = services().backtests
    if found is None:
        raise Unavailable("this web process does not know the configuration; start it with adon serve")
    return found


@handles(routes.LIST_BACKTESTS)
def list_backtests(query: NewestFirst) -> BacktestList:
    """Return the last 20 backtests since the web process started, the newest first."""
    return cut(BacktestList(items=list(_backtests().listed)), query, lambda one: str(one.id))


@handles(routes.START_BACKTEST)
def start_backtest(body: BacktestBody) -> BacktestView:
    """Replay the past with this version of a template and with the present one; 409 while one runs."""
    services().store.template(body.template.name)
    return _backtests().start(body.template, body.since, body.until, requester().name)


@handles(routes.GET_BACKTEST)
def get_backtest(id_: str) -> BacktestView:
    """Return the progress of a backtest, and its comparison by flow when it is done."""
    return _backtests().get(id_)


@handles(routes.CANCEL_BACKTEST)
def cancel_backtest(id_: str) -> BacktestView:
    """Cancel a running backtest."""
    return _backtests().cancel(id_)
