"""Reasons of decisions: a stable code for programs, and a text for users.

docs/reference/codes.md gives the meaning of each code.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

DecisionCode = Literal[
    # admission
    "best-score",
    "tied-score",
    "only-qualified",
    "default-path",
    "reservation",
    "preempts",
    "joint-plan",
    "cheaper-site",
    # queue
    "no-path",
    "none-qualified",
    "all-unknown",
    "no-default-path",
    "default-path-unusable",
    "no-site",
    "site-kept",
    "not-before",
    # running flows
    "keeps-path",
    "no-alternative",
    "min-dwell",
    "within-margin",
    "within-patience",
    "path-unknown",
    "better-score",
    "patience-exhausted",
    "path-removed",
    "path-excluded",
    "no-refuge",
    # running flows and candidates
    "maintenance",
    "path-down",
    "path-held-down",
    "preempted",
    # candidates
    "bounds-kept",
    "bound-missed",
    "metric-unknown",
    "switch-disconnected",
    "port-unknown",
    "port-down",
    "link-down",
    "circuit-obsolete",
    "given-up",
    "not-permitted",
    "reserved",
    "path-kept",
    "no-rule-space",
    "switch-unfit",
    "slice-limit",
    "no-queue",
    "address-family",
    "firewall",
    "nat",
    "mtu",
]
"""Code of a decision's outcome, or of a candidate path's verdict."""

AnnouncementCode = Literal[
    "alarm-raised",
    "alarm-cleared",
    "booking-late",
    "booking-unused",
    "circuit-added",
    "circuit-refused",
    "circuit-removed",
    "connections-aggregated",
    "connections-refused",
    "flow-active",
    "flow-admitted",
    "flow-dry-run",
    "flow-ended",
    "flow-not-restored",
    "flow-queued",
    "flow-requeued",
    "flow-rerouted",
    "flow-stays",
    "install-failed",
    "hello-forged",
    "hello-malformed",
    "hello-standby",
    "job-cancelling",
    "job-changed",
    "job-not-run",
    "job-requested",
    "link-down",
    "link-live",
    "link-loop",
    "link-miswired",
    "link-one-way",
    "link-penalised",
    "link-shared",
    "maintenance-announced",
    "maintenance-cancelled",
    "maintenance-stage",
    "neighbour-foreign",
    "packets-lost",
    "repair-refused",
    "reservation-begun",
    "reservation-ended",
    "reservation-made",
    "reservation-overdrawn",
    "reservation-released",
    "result-in-future",
    "rules-changed",
    "rules-repaired",
    "site-answers",
    "site-silent",
    "switch-connected",
    "switch-disconnected",
    "switch-limited",
    "switch-refused",
    "template-saved",
    "trigger-fired",
]
"""Code of an announcement."""


class Reason(NamedTuple):
    """Reason of a decision, or of an unusable path."""

    code: DecisionCode
    text: str

    def __str__(self) -> str:
        return self.text

    def with_text(self, text: str) -> Reason:
        """Return the same reason in other words."""
        return Reason(self.code, text)


def reason_of(code: DecisionCode, text: str) -> Reason | None:
    """Return a reason; None without text."""
    return Reason(code, text) if text else None
