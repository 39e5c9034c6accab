"""What a listener is told of an event, and who may hear it: made once per event, whoever listens.

Pure, but for the owner of a flow, which is asked for where the event does not name it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from adon.access.identity import Actor
from adon.access.policy import Action, OwnedObject, Policy
from adon.api.alarms import AlarmView
from measurement.anomaly.alarm import Alarm
from measurement.model import Series, from_json


@dataclass(frozen=True, slots=True)
class Audience:
    """Who may hear of it: the readers of a series, else whoever may do this on an object of that owner.

    :param only: the one name that may, whatever the roles.
    """

    series: Series | None = None
    action: Action = Action.FLOW_READ
    owner: str | None = None
    only: str | None = None

    def admits(self, actor: Actor | None, policy: Policy) -> bool:
        """Whether this actor may hear of it."""
        if self.only is not None:
            return actor is not None and actor.name == self.only
        if self.series is not None:
            return policy.decide(actor, Action.MEASUREMENT_READ, self.series).allowed
        return policy.decide(actor, self.action, OwnedObject(self.owner)).allowed


@dataclass(frozen=True, slots=True)
class Told:
    """One event, ready to be sent.

    :param text: its content, JSON on one line.
    """

    kind: str
    text: str
    audience: Audience


def tell(kind: str, payload: Mapping[str, Any], owner_of: Callable[[str], str | None]) -> Told:
    """The event that a message of another process is.

    :param owner_of: the requester of a flow (``f-17``); None for one that is not known.
    :raises ValueError, KeyError: for a message that is none of ours.
    """
    match kind:
        case "alarm":
            alarm = from_json(Alarm, payload)
            return Told(kind, json.dumps(AlarmView.of(alarm).body()), Audience(series=alarm.series))
        case "notice":
            alarms = [AlarmView.of(from_json(Alarm, alarm)).body() for alarm in payload["alarms"]]
            body = {"subscription": payload["subscription"], "alarms": alarms}
            return Told(kind, json.dumps(body), Audience(only=str(payload["owner"])))
        case "path":
            series = from_json(Series, payload)
            return Told(kind, json.dumps(dict(payload)), Audience(series=series))
        case "announce" | "flow" | "decision":
            flow = payload.get("flow")
            owner = owner_of(flow) if isinstance(flow, str) else None
            action = Action.DECISION_READ if kind == "decision" else Action.FLOW_READ
            return Told(kind, json.dumps(dict(payload)), Audience(action=action, owner=owner))
    raise ValueError(f"{kind!r} is no kind of event")
