"""A proposal to change a template's scoring, with the evidence it rests on: values only.

[ADON] 3.3: the catalog is tuned as the knowledge base grows, and lookup tables are updated with successful
practice.  What was learnt is a :class:`Finding`; kept under a number, with who decided what about it, it is a
:class:`Proposal`.  A performance engineer accepts it, and it becomes the next version of the template, or
refuses it with a reason.  How it is learnt is in :mod:`adon.templates_catalog.learning`, which nobody here
needs to know: the controller keeps proposals and never computes one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from adon import yamlfile
from adon.errors import Conflict
from adon.frozenmap import FrozenMap
from adon.templates_catalog.lookup import LookupTable, as_text
from adon.templates_catalog.model import Template
from measurement.model import Metric

NOTES = 4000
"""Characters that a template's notes may have."""

Response = Literal["throughput", "kept"]
"""What outcomes are judged by: bits/s achieved, or the share of its time in which a flow's QSpec was kept."""


class ProposalState(StrEnum):
    """What became of a proposal."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True)
class MetricEvidence:
    """One metric of a finding.

    :param varied: whether its values differed enough to say anything; if not it stays as it is today.  One
        that varied and has no ``scale`` moved nothing.
    :param explained: share of the response's variance that it explains by itself, on outcomes that it was
        not fitted to; zero or less for nothing.
    :param scale: the responses that score 1 and 10 in the proposed table; None where it is today's.
    :param points: outcomes, as pairs of the metric's value and the response; some of them if there are many.
    """

    metric: str
    varied: bool
    explained: float
    weight_today: float
    weight: float
    today: LookupTable
    proposed: LookupTable
    scale: tuple[float, float] | None = None
    points: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """How good today's scoring and the proposed one foretell the response of outcomes that they did not see.

    Errors are root mean squares in the response's own unit.

    :param outcomes: that were used, from ``since`` to ``until``.
    :param left_out: how many were not, by reason.
    :param folds: stretches of time, each foretold from the others.
    :param gain: by how much the mean square is smaller, and ``margin`` what that had to exceed: its own
        uncertainty between the stretches.
    """

    response: Response
    outcomes: int
    since: float
    until: float
    folds: int
    error_today: float
    error: float
    gain: float
    margin: float
    left_out: Mapping[str, int] = field(default_factory=FrozenMap)
    metrics: tuple[MetricEvidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What outcomes say about the scoring of one template version (``soykb@3``)."""

    template: str
    weights: Mapping[str, float]
    tables: Mapping[str, LookupTable]
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Proposal:
    """A finding under a number; replaced as a whole when it is decided on.

    :param saved: the template version that it became (``soykb@4``).
    """

    number: int
    at: float
    proposer: str
    finding: Finding
    state: ProposalState = ProposalState.OPEN
    decided_at: float | None = None
    decided_by: str = ""
    reason: str = ""
    saved: str | None = None

    @property
    def id(self) -> str:
        """``p-3``: how the proposal is named at the borders."""
        return f"p-{self.number}"

    def decided(self, state: ProposalState, who: str, reason: str, at: float) -> Proposal:
        """The proposal after a decision on it.

        :raises Conflict: if it was decided on before.
        """
        if self.state is not ProposalState.OPEN:
            raise Conflict("state", f"proposal {self.id} is {self.state} already")
        return replace(self, state=state, decided_by=who, reason=reason, decided_at=at)

    def becoming(self, reference: str) -> Proposal:
        """The proposal with the template version that it became."""
        return replace(self, saved=reference)


def applied(template: Template, proposal: Proposal) -> Template:
    """The template with the proposed scoring; its version is the catalog's to give.

    :raises Conflict: if the proposal is about another version.
    :raises InvalidInput: if it makes no valid template, which none that was learnt does.
    """
    finding = proposal.finding
    if template.reference != finding.template:
        raise Conflict(
            "template", f"{template.reference} was saved since {finding.template}: have it learnt anew"
        )
    document = template.model_dump(mode="json", by_alias=True, exclude={"version"})
    document["tables"] |= {metric: as_text(Metric(metric), table) for metric, table in finding.tables.items()}
    document["weights"] = dict(finding.weights)
    line = f"Scoring from proposal {proposal.id}, {finding.evidence.outcomes} outcomes."
    document["notes"] = "\n".join(part for part in (template.notes[: NOTES - len(line) - 1], line) if part)
    return yamlfile.check_model(document, Template)
