"""From advice that outcomes confirmed to a best practice, and to the template version that carries it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from adon.broker.tuning.advice import Advice
from adon.broker.tuning.confirmation import Confirmation, Verdict
from adon.errors import Conflict
from adon.frozenmap import FrozenMap
from adon.templates_catalog.best_practice import BestPractice, gain
from adon.templates_catalog.model import Template


def best_practice(
    advice: Advice, confirmation: Confirmation, applied_at: float, accepted_at: float, accepted_by: str
) -> BestPractice:
    """What is kept of advice that held.

    :raises Conflict: if the outcomes do not confirm it, or it advises nothing.
    """
    medians, achieved = confirmation.medians, confirmation.gain
    if confirmation.verdict is not Verdict.CONFIRMED or medians is None or achieved is None:
        raise Conflict("advice", f"{confirmation.verdict}: {confirmation.text}")
    if advice.streams is None or advice.buffer is None:
        raise Conflict("advice", "says neither how many streams nor which buffers; there is nothing to keep")
    kept = gain(achieved.low, achieved.estimate, achieved.high)
    if kept is None or confirmation.p is None or confirmation.effect is None:
        raise Conflict("advice", "the gain of these transfers is not a finite number")
    promised = None if advice.prediction is None else advice.prediction.gain
    settings = {one.key: one.value for end in advice.hosts for one in end.settings if one.kind == "sysctl"}
    return BestPractice(
        path=advice.path.name,
        source=advice.sender.host,
        destination=advice.receiver.host,
        streams=advice.streams,
        buffer=f"{advice.buffer} B",
        mtu=advice.mtu,
        congestion_control=advice.control,
        settings=FrozenMap(settings),
        applied_at=datetime.fromtimestamp(applied_at, UTC),
        accepted_at=datetime.fromtimestamp(accepted_at, UTC),
        accepted_by=accepted_by,
        before_throughput=f"{medians[0]!r} bps",
        after_throughput=f"{medians[1]!r} bps",
        predicted=None if promised is None else gain(promised.low, promised.expected, promised.high),
        achieved=kept,
        p_value=confirmation.p,
        effect=confirmation.effect,
        before=tuple(f"f-{number}" for number in confirmation.before),
        after=tuple(f"f-{number}" for number in confirmation.after),
    )


def with_practice(template: Template, practice: BestPractice) -> dict[str, Any]:
    """The next version of a template, without its number: the practice takes its predecessor's place."""
    others = [one for one in template.best_practices if one.place != practice.place]
    body = template.model_dump(mode="json", exclude={"version"})
    body["best_practices"] = [one.model_dump(mode="json") for one in (*others, practice)]
    return body


def practice_for(template: Template, path: str, source: str, destination: str) -> BestPractice | None:
    """The template's practice for one path between two hosts."""
    return next((one for one in template.best_practices if one.place == (path, source, destination)), None)
