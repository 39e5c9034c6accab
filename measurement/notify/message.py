"""Alarms as people and programs read them.  Pure.

The document of a webhook and of the event stream::

    {"id": "…", "subscription": "s-1", "omitted": 0, "alarms": [{alarm}, …]}

with each alarm as :func:`measurement.model.to_json` writes it.
"""

from __future__ import annotations

from typing import Any

from measurement.anomaly.alarm import Alarm
from measurement.anomaly.alarm_text import moment
from measurement.errors import shorten
from measurement.model import to_json
from measurement.notify.outbox import Delivery

SUBJECT = 120
LINE = 300


def subject(delivery: Delivery) -> str:
    """One line: the alarm itself, or how many there are and the gravest of them."""
    alarms = delivery.alarms
    count = len(alarms) + delivery.omitted
    first = min(alarms, key=_gravest_first)
    line = f"[{_word(first)}] {first.text}"
    return shorten(line if count == 1 else f"{count} alarms, such as {line}", SUBJECT)


def text(delivery: Delivery) -> str:
    """The body of a mail."""
    lines = ["" if number == 0 else "\n" for number, _ in enumerate(delivery.alarms)]
    parts = [lead + _paragraph(alarm) for lead, alarm in zip(lines, delivery.alarms, strict=True)]
    if delivery.omitted:
        parts.append(f"\n{delivery.omitted} earlier ones are left out here.")
    parts.append(f"\n-- \nSubscription {delivery.subscription.id} of {delivery.subscription.owner}.")
    return "\n".join(parts) + "\n"


def document(delivery: Delivery) -> dict[str, Any]:
    """The body of a webhook, as an object."""
    return {
        "id": delivery.id,
        "subscription": delivery.subscription.id,
        "omitted": delivery.omitted,
        "alarms": [to_json(alarm) for alarm in delivery.alarms],
    }


def _paragraph(alarm: Alarm) -> str:
    lines = [
        f"{_word(alarm).upper()}: {shorten(alarm.text, LINE)}",
        f"  series   {shorten(str(alarm.series), LINE)}",
        f"  raised   {moment(alarm.raised_at)}",
    ]
    if alarm.cleared_at is not None:
        lines.append(f"  over     {moment(alarm.cleared_at)}")
    if alarm.acknowledged_by is not None:
        lines.append(f"  known to {shorten(alarm.acknowledged_by, LINE)}")
    return "\n".join([*lines, f"  id       {alarm.id}"])


def _word(alarm: Alarm) -> str:
    if not alarm.bad:
        return "better"
    return alarm.severity.value if alarm.open else "over"


def _gravest_first(alarm: Alarm) -> tuple[bool, bool, float]:
    return (not alarm.open, alarm.severity.value != "critical", alarm.raised_at)
