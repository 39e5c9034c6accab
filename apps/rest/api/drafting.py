"""Drafts of templates, from the answers of a survey; nothing is saved here."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response

from adon.access.policy import Action
from adon.errors import Forbidden
from adon.store import codec
from adon.templates_catalog.model import Template
from adon.templates_catalog.questionnaire.drafting import draft
from apps.rest.answers import done
from apps.rest.api.common import PREFIX, answers, blueprint
from apps.rest.api.templates import save
from apps.rest.drafting_models import AnswersBody, DraftView, QuestionList, SimilarList
from apps.rest.guard import action
from apps.rest.models import TemplateBody
from apps.rest.paging import InOrder, cut
from apps.rest.similar import next_version, permission, similar

NOTES = 4000
"""Characters that a template's notes may have."""

api = blueprint("template drafts", "Templates drafted from a survey")


@api.get("/template-drafts/questions", responses=answers(200, QuestionList))
@action(Action.TEMPLATE_DRAFT)
def list_questions(query: InOrder) -> Response:
    """The questions of the survey."""
    return cut(QuestionList.all(), query, lambda one: str(one.key))


@api.post("/template-drafts", responses=answers(200, DraftView, 400, 413, 415))
@action(Action.TEMPLATE_DRAFT, asks=True)
def draft_template(body: AnswersBody) -> Response:
    """A template from the answers, every number with its reason; it is not saved."""
    drafted = draft(body)
    return done(DraftView.of(drafted, likened(drafted.template)), HTTPStatus.OK)


def likened(template: Template) -> SimilarList:
    """The templates that a specification is like, and whether who asks may register it by that."""
    found = similar(template)
    return SimilarList.of(found, permission(template, found))


@api.post("/template-drafts/similar", responses=answers(200, SimilarList, 400, 413, 415))
@action(Action.TEMPLATE_DRAFT, asks=True)
def compare_template(body: TemplateBody) -> Response:
    """The templates that a specification is like, part by part, and how their flows fared."""
    return done(likened(body), HTTPStatus.OK)


@api.post("/self-service", responses=answers(201, TemplateBody, 400, 409, 413, 415))
@action(Action.TEMPLATE_SELF_SERVICE)
def serve_yourself(body: TemplateBody) -> Response:
    """Save a template without a performance engineer, if a similar one succeeded; 403 says what lacks.

    Its ``match`` is left out: requests have to name it.
    """
    saved = served(body)
    where = f"{PREFIX}/templates/{saved.name}/versions/{saved.version}"
    return done(codec.encode_template(saved), HTTPStatus.CREATED, where)


def served(template: Template) -> Template:
    """Register a template by self-service; the version that it became.

    :raises Forbidden: if the policy does not allow it, saying what lacks.
    :raises AdonError: what the controller says against it.
    """
    allowed = permission(template, similar(template))
    if not allowed.allowed:
        raise Forbidden(allowed.reason)
    # Its version is named: should the name be taken meanwhile, it is refused rather than made the next one.
    document = template.model_dump(mode="json", by_alias=True) | {"version": next_version(template.name)}
    del document["match"]  # nobody's requests come to it but those that name it
    line = f"By self-service: {allowed.reason}."
    document["notes"] = "\n".join(part for part in (template.notes[: NOTES - len(line) - 1], line) if part)
    return save(document)
