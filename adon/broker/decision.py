"""The record of a choice: everything it was based on, so that it explains itself.

A decision refers to nothing that can change afterwards: candidates carry the values seen, their age
and source; the tables used are kept, generated ones included; the digest of what was seen makes an
unchanged outcome recognisable, so that it is not recorded again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from adon.broker.outcomes import Forecast
from adon.flowvisor.rules.queue_ladder import GrantRecord
from adon.flowvisor.selection.assessment import CandidateRecord
from adon.values import FrozenMap
from measurement.model import finite


class Outcome(StrEnum):
    """What the decision does with the flow."""

    ADMIT = "admit"
    QUEUE = "queue"
    MOVE = "move"
    STAY = "stay"


@dataclass(frozen=True, slots=True)
class SiteCost:
    """Algorithm 4 for one compute site, every term visible; times in seconds, ``inf`` where impossible.

    ``total`` is T_t, ``queue`` T_q, ``compute`` T_c, ``network`` T_n, ``duplication`` C_D; sizes in
    bytes, rates in bits/s: ``compute_size`` S_c, ``transfer_size`` S_t, ``node_rate`` Γ_c, ``theoretical``
    Γ_t, ``available`` Γ_a for S_t.

    :param campus: where the site is.
    :param basis: what Γ_a rests on (:class:`~adon.flowvisor.topology.path.Basis`); empty where it is unknown.
    :param deviations: the standard deviation of a term by its name (``busy`` is T_c without T_q, ``result``
        the result in bytes); what is not there has none that anybody has observed.
    :param origins: who says what a term and its spread are.
    """

    site: str
    local: bool
    cost: float
    total: float
    queue: float
    compute: float
    network: float
    duplication: float
    compute_size: int
    transfer_size: int
    nodes: int
    node_rate: float
    theoretical: float
    available: float
    path: str | None
    why: str = ""
    campus: str = ""
    basis: str = ""
    deviations: Mapping[str, float] = field(default_factory=FrozenMap)
    origins: Mapping[str, str] = field(default_factory=FrozenMap)


@dataclass(frozen=True, slots=True)
class Decision:
    """The recorded outcome for one flow at one time.

    :param cause: the id of the event that led to it; rules, log lines and answers repeat it.
    :param code, reason: the rule that led to the outcome, and the explanation.
    :param alarm: the id of the alarm that this event was about, if it was about one.
    :param cause_text: what the event was (:func:`adon.broker.cause.cause_text`).
    :param slice: the slice that the flow belongs to, if there are slices.
    :param granted: what the queue ladder gives it on the path, beside what it asked.
    :param trigger: the trigger of its template that led to it, and what that saw, if one did.
    :param forecast: when its transfer is expected to be over, if it is admitted and that can be told.
    """

    id: str
    flow: str
    at: float
    cause: str
    outcome: Outcome
    path: str | None
    previous_path: str | None
    code: str
    reason: str
    template: str
    weights: Mapping[str, float]
    candidates: tuple[CandidateRecord, ...] = ()
    tables: Mapping[str, Any] | None = None
    compute: tuple[SiteCost, ...] = ()
    compute_site: str | None = None
    alarm: str | None = None
    slice: str | None = None
    granted: GrantRecord | None = None
    trigger: str | None = None
    forecast: Forecast | None = None
    cause_text: str = ""

    def body(self) -> dict[str, Any]:
        """The decision as plain JSON values (``inf`` as the string ``"inf"``)."""
        body: dict[str, Any] = finite(asdict(self))
        return body

    def digest(self) -> str:
        """A hash of the outcome and the reasons that matter: equal digests need no second record."""
        seen = {
            "flow": self.flow,
            "outcome": self.outcome,
            "path": self.path,
            "site": self.compute_site,
            "verdicts": [
                (c.path, c.verdict, [m.metric for m in c.metrics if m.bound_met is False or m.unknown])
                for c in self.candidates
            ],
        }
        return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()
