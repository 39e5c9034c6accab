"""What the API takes and answers about drafting a template from a survey."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field

from adon.templates_catalog.questionnaire.answers import Answers
from adon.templates_catalog.questionnaire.asking import QUESTIONS, Question
from adon.templates_catalog.questionnaire.drafting import Draft
from adon.templates_catalog.questionnaire.text import as_yaml
from apps.rest.models import ListView, View


class AnswersBody(Answers):
    """A filled-in survey; what was left out was not asked for."""


class ReasonView(View):
    """Why a field of the draft has its value."""

    field: str
    because: str


class DraftView(View):
    """A template that nobody has saved yet; ``yaml`` has the reasons as comments."""

    template: dict[str, Any]
    reasons: list[ReasonView]
    yaml: str

    @classmethod
    def of(cls, draft: Draft) -> Self:
        """The draft as it is answered."""
        return cls(
            template=dict(draft.document),
            reasons=[ReasonView(field=one.field, because=one.because) for one in draft.reasons],
            yaml=as_yaml(draft),
        )


class QuestionView(View):
    """One question of the survey."""

    key: str
    text: str
    example: str
    default: str
    required: bool
    choices: list[str] = Field(description="its answers; none where anything may be typed")
    figure: str = Field(description="a figure that it takes beside its choices, as an example; empty: none")

    @classmethod
    def of(cls, question: Question) -> Self:
        """The question as it is asked."""
        same = ("key", "text", "example", "default", "required")
        named = {name: getattr(question, name) for name in same}
        return cls(**named, choices=list(question.choices), figure=question.figure)


class QuestionList(ListView):
    """The survey, in the order in which it is asked."""

    items: list[QuestionView]

    @classmethod
    def all(cls) -> Self:
        """Every question."""
        return cls(items=[QuestionView.of(question) for question in QUESTIONS])
