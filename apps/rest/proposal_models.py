"""What the API takes and answers about proposals to change a template's scoring."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field

from adon.templates_catalog.lookup import as_text
from adon.templates_catalog.model import Name
from adon.templates_catalog.proposal import Evidence, MetricEvidence, Proposal, ProposalState, Response
from apps.rest.models import NewestFirstView, View
from apps.rest.times import Time
from measurement.model import Metric

RESPONSE_UNITS = {"throughput": "bps", "kept": "ratio"}


class LearnBody(BaseModel):
    """Of which template the scoring is to be learnt."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    template: Name = Field(description="its name; the latest version is held against what is learnt")


class AcceptProposal(BaseModel):
    """A proposal is accepted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str = Field(default="", max_length=500)


class RefuseProposal(BaseModel):
    """A proposal is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str = Field(min_length=1, max_length=500)


class MetricEvidenceView(View):
    """One metric: its table and weight, today and as proposed, and what they rest on."""

    metric: str
    varied: bool = Field(description="false: its values hardly differed, it stays as it is")
    explained: float = Field(description="share of the variance that it explains by itself, held out")
    weight_today: float
    weight: float
    table_today: dict[str, Any]
    table: dict[str, Any]
    scale: list[float] | None = Field(description="the responses that score 1 and 10 in the proposed table")
    points: list[tuple[float, float]] = Field(description="outcomes: the metric's value, the response")

    @classmethod
    def of(cls, found: MetricEvidence) -> Self:
        """The metric as it is answered."""
        same = ("metric", "varied", "explained", "weight_today", "weight")
        metric = Metric(found.metric)
        return cls(
            **{name: getattr(found, name) for name in same},
            table_today=as_text(metric, found.today),
            table=as_text(metric, found.proposed),
            scale=None if found.scale is None else list(found.scale),
            points=list(found.points),
        )


class ProposalEvidenceView(View):
    """How well both scorings foretell outcomes that they did not see."""

    response: Response
    unit: str
    outcomes: int
    since: Time
    until: Time
    folds: int
    error_today: float
    error: float
    gain: float = Field(description="by how much the mean square is smaller; margin is what it had to exceed")
    margin: float
    left_out: dict[str, int]
    metrics: list[MetricEvidenceView]

    @classmethod
    def of(cls, evidence: Evidence) -> Self:
        """The evidence as it is answered."""
        same = ("response", "outcomes", "since", "until", "folds", "error_today", "error", "gain", "margin")
        return cls(
            **{name: getattr(evidence, name) for name in same},
            unit=RESPONSE_UNITS[evidence.response],
            left_out=dict(evidence.left_out),
            metrics=[MetricEvidenceView.of(one) for one in evidence.metrics],
        )


class ProposalView(View):
    """A proposal, and what became of it."""

    id: str
    template: str
    at: Time
    proposer: str
    state: ProposalState
    decided_at: Time | None
    decided_by: str
    reason: str
    saved: str | None = Field(description="the template version that it became")
    weights: dict[str, float]
    evidence: ProposalEvidenceView

    @classmethod
    def of(cls, proposal: Proposal) -> Self:
        """The proposal as it is answered."""
        same = ("id", "at", "proposer", "state", "decided_at", "decided_by", "reason", "saved")
        return cls(
            **{name: getattr(proposal, name) for name in same},
            template=proposal.finding.template,
            weights=dict(proposal.finding.weights),
            evidence=ProposalEvidenceView.of(proposal.finding.evidence),
        )


class ProposalList(NewestFirstView):
    """Proposals, the newest first."""

    items: list[ProposalView]
