"""What the API takes and answers about drafting a template from a survey."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Self

from pydantic import Field

from adon.templates_catalog.questionnaire.answers import Answers
from adon.templates_catalog.questionnaire.asking import QUESTIONS, Question
from adon.templates_catalog.questionnaire.drafting import Draft
from adon.templates_catalog.questionnaire.text import as_yaml
from apps.rest.models import ListView, View
from apps.rest.similar import Found


class AnswersBody(Answers):
    """A filled-in survey; what was left out was not asked for."""


class ReasonView(View):
    """Why a field of the draft has its value."""

    field: str
    because: str


class PartView(View):
    """How far one part of two specifications is apart."""

    part: str
    share: float = Field(description="how much the part counts")
    distance: float
    differs: str


class SimilarView(View):
    """A template of the catalog that a specification is like."""

    reference: str
    similarity: float
    because: str
    parts: list[PartView]
    outcomes: int
    kept: int = Field(description="of the outcomes, those that kept the QSpec all the time")
    kept_at_least: float = Field(description="lower end of Wilson's interval (95 %) for their share")
    excess: list[str] = Field(description="what would be more than it gives")

    @classmethod
    def of(cls, found: Found) -> Self:
        """The template as it is answered."""
        like, fared = found.similarity, found.success
        return cls(
            reference=like.reference,
            similarity=like.value,
            because=like.text,
            parts=[PartView(**asdict(part)) for part in like.parts],
            outcomes=fared.outcomes,
            kept=fared.kept,
            kept_at_least=fared.at_least,
            excess=list(found.excess),
        )


class SimilarList(View):
    """The templates that a specification is like, the most similar first."""

    items: list[SimilarView]

    @classmethod
    def of(cls, found: list[Found]) -> Self:
        """The list as it is answered."""
        return cls(items=[SimilarView.of(one) for one in found])


class DraftView(View):
    """A template that nobody has saved yet; ``yaml`` has the reasons as comments."""

    template: dict[str, Any]
    reasons: list[ReasonView]
    yaml: str
    similar: SimilarList

    @classmethod
    def of(cls, draft: Draft, similar: SimilarList) -> Self:
        """The draft as it is answered."""
        return cls(
            template=dict(draft.document),
            reasons=[ReasonView(field=one.field, because=one.because) for one in draft.reasons],
            yaml=as_yaml(draft),
            similar=similar,
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
