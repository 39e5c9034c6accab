"""Drafts of templates, from the answers of a survey; nothing is saved here."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response

from adon.access.policy import Action
from adon.templates_catalog.questionnaire.drafting import draft
from apps.rest.answers import done
from apps.rest.api.common import answers, blueprint
from apps.rest.drafting_models import AnswersBody, DraftView, QuestionList
from apps.rest.guard import action
from apps.rest.paging import InOrder, cut

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
    return done(DraftView.of(draft(body)), HTTPStatus.OK)
