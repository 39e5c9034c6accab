"""From a filled-in form to a request as the API takes it.  Pure.

What was left empty is left out, so that the template and the controller decide it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from adon.errors import InvalidInput, Problem
from adon.units import format_size, parse_size

MOST = 10
"""Where a slider ends."""
PLAIN = ("template", "source", "destination", "size", "label", "queue_patience")
MOMENTS = ("not_before", "deadline")
WHOLE = ("priority", "streams")


@dataclass(frozen=True, slots=True)
class Typed:
    """What stands in the form.

    :param texts: the fields' texts by the request's names.
    :param sliders: what matters, 0 to :data:`MOST` by metric.
    :param usual: how the template sets the sliders.
    """

    texts: Mapping[str, str | None]
    sliders: Mapping[str, float] = field(default_factory=dict)
    usual: Mapping[str, float] = field(default_factory=dict)
    pausable: bool = False


def wish(typed: Typed, zone: ZoneInfo) -> dict[str, Any]:
    """The request; whether it can be granted is the controller's to say.

    :param zone: time zone of the user, for times without an offset.
    :raises InvalidInput: for a port, a priority or a number of streams that is no whole number, and for
        sliders that all stand at nothing.
    """
    texts = {name: (text or "").strip() for name, text in typed.texts.items()}
    request: dict[str, Any] = {name: texts[name] for name in PLAIN if texts.get(name)}
    problems: list[Problem] = []
    for name in MOMENTS:
        if texts.get(name):
            request[name] = moment(texts[name], zone)
    for name in WHOLE:
        if texts.get(name):
            request[name] = _whole(texts[name], name, problems)
    ports = texts.get("ports", "").replace(",", " ").split()
    if ports:
        request["ports"] = [_whole(port, "ports", problems) for port in ports]
    if dict(typed.sliders) != dict(typed.usual):
        if not any(typed.sliders.values()):
            problems.append(Problem("weights", "all weights are zero; move at least one slider above zero"))
        request["weights"] = {name: weight for name, weight in typed.sliders.items() if weight}
    if typed.pausable:
        request["pausable"] = True
    if problems:
        raise InvalidInput(problems)
    return request


def moment(text: str, zone: ZoneInfo) -> str:
    """A time as the API takes it: with the offset of the zone where none is given; anything else as it is."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return text  # a span (``8 h``), or a mistake that the API names
    return (read if read.tzinfo is not None else read.replace(tzinfo=zone)).isoformat()


def sliders_of(weights: Mapping[str, float]) -> dict[str, float]:
    """Where a template's weights set the sliders: the greatest stands at the end."""
    greatest = max(weights.values(), default=0.0)
    return {name: round(MOST * weight / greatest) for name, weight in weights.items()} if greatest else {}


def again(request: Mapping[str, Any]) -> dict[str, str]:
    """The form's texts for the request of an earlier flow; its times are over, so they are left out."""
    texts = {name: str(request[name]) for name in (*PLAIN, *WHOLE) if request.get(name) is not None}
    if "size" in texts:
        texts["size"] = _short(texts["size"])
    if request.get("ports"):
        texts["ports"] = " ".join(str(port) for port in request["ports"])
    return texts


def _short(size: str) -> str:
    """``80 MB`` for ``80000000 B``, where that is exactly the same."""
    exact = parse_size(size)
    short = format_size(exact)
    return short if parse_size(short) == exact else size


def _whole(text: str, name: str, problems: list[Problem]) -> int:
    if text.isdecimal() and text.isascii() and len(text) <= 9:
        return int(text)
    problems.append(Problem(name, f"{text[:40]!r} is not a whole number"))
    return 0
