"""Objects that belong to somebody: whoever may not see one is told that there is none.

So nobody learns by trying ids which flows, jobs or reservations others have: the answer is, to the letter,
that for an object that was never there.  Who may see it, and not do what was asked, is told 403 and why.
A role that may not do it even on an object of its own has been refused before, at the gate.
"""

from __future__ import annotations

from flask import g

from adon.access.policy import Action, Owned
from adon.broker.flow import Flow
from adon.errors import NotFound
from apps.rest.guard import check
from apps.rest.services import services

_READING = {
    Action.FLOW_CANCEL: Action.FLOW_READ,
    Action.FLOW_REPORT: Action.FLOW_READ,
    Action.JOB_CANCEL: Action.JOB_READ,
    Action.RESERVATION_RELEASE: Action.RESERVATION_READ,
    Action.SUBSCRIPTION_DELETE: Action.SUBSCRIPTION_READ,
    Action.TOKEN_REVOKE: Action.TOKEN_READ,
    Action.SESSION_END: Action.SESSION_READ,
}
"""What shows an object that something is done to."""


def check_owned(wanted: Action, kind: str, name: str, owner: str | None) -> None:
    """Refuse whoever may not do this to an object that is there.

    :param kind: the sort of thing (``flow``); with ``name`` what its absence is told by.
    :raises NotFound: if this actor may not see it.
    :raises Forbidden: if they may see it only.
    """
    shown = services().policy.decide(g.actor, _READING.get(wanted, wanted), Owned(owner))
    if not shown.allowed:
        g.hidden = shown.reason  # for whoever notes refusals
        raise NotFound(kind, name)
    check(wanted, owner)


def check_flow(wanted: Action, flow: Flow) -> None:
    """:func:`check_owned` of a flow.

    :raises NotFound, Forbidden: as there.
    """
    check_owned(wanted, "flow", flow.id, flow.requester)
