"""From answers to a template, every number with the reason that it has.

The weights are rank-order centroids: of n things in order of importance the i-th has (1/n)·Σ 1/k, k from i
to n, the mean of all weights that agree with the order (Barron and Barrett, "Decision quality using ranked
attribute weights", Management Science 42, 1996).  Things that count the same share what their places have.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from adon import yamlfile
from adon.templates_catalog.model import Template
from adon.templates_catalog.questionnaire.answers import HEADROOM, Answers
from adon.templates_catalog.questionnaire.words import (
    COUNTS,
    LOSS,
    MOVES,
    RESPONSE,
    STEADINESS,
    URGENCY,
    Word,
)
from adon.units import (
    format_duration,
    format_rate,
    format_ratio,
    format_size,
    parse_duration,
    parse_rate,
    parse_size,
)

NOTES = 4000
"""Characters that notes may have."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a field of the draft has its value."""

    field: str
    because: str

    def __str__(self) -> str:
        return f"{self.field}: {self.because}"


@dataclass(frozen=True, slots=True)
class Draft:
    """A template that nobody has saved yet.

    :param document: the same as it would be written, quantities with their units.
    :param reasons: in the order of the document.
    """

    template: Template
    document: Mapping[str, Any]
    reasons: tuple[Reason, ...]


class _Sheet:
    """A document in the making; fields are named by dotted paths."""

    def __init__(self) -> None:
        self.document: dict[str, Any] = {}
        self.reasons: list[Reason] = []

    def put(self, field: str, value: object, because: str = "") -> None:
        """Write one field."""
        *above, last = field.split(".")
        place = self.document
        for name in above:
            place = place.setdefault(name, {})
        place[last] = dict(value) if isinstance(value, Mapping) else value
        if because:
            self.reasons.append(Reason(field, because))

    def mean(self, word: Word) -> None:
        """Write what an answer in words means."""
        for field, value in word.means.items():
            self.put(field, value, word.because)


def draft(answers: Answers) -> Draft:
    """The template that a survey leads to.

    :raises InvalidInput: if it is none; every answer that can make it so is refused by :class:`Answers`.
    """
    sheet = _Sheet()
    sheet.put("name", answers.application)
    if answers.title:
        sheet.put("title", answers.title)
    if answers.purpose:
        sheet.put("description", answers.purpose)
    _recognise(sheet, answers)
    _quality(sheet, answers)
    _resources(sheet, answers)
    for metric, weight in weights(answers).items():
        sheet.put(f"weights.{metric}", weight)
    sheet.reasons.append(Reason("weights", _ranked(answers)))
    sheet.mean(URGENCY.word(answers.urgency))
    sheet.mean(MOVES.word(answers.moves))
    if answers.waits is not None:
        waits = _written(answers.waits, format_duration, parse_duration, "s")
        sheet.put("selection.queue_patience", waits, "so long may a request wait, as answered")
    _cost(sheet, answers)
    sheet.put("protocol", answers.transport)
    sheet.put("streams", answers.parallel)
    sheet.put("notes", _notes(sheet.reasons))
    template = yamlfile.check_model(sheet.document, Template)
    return Draft(template, sheet.document, tuple(sheet.reasons))


def weights(answers: Answers) -> dict[str, float]:
    """Per metric its weight, from the ranking; the sum is 1 but for rounding."""
    places = sum(len(place) for place in answers.counts)
    found: dict[str, float] = {}
    before = 0
    for place in answers.counts:
        share = fsum(_centroid(before + i, places) for i in range(1, len(place) + 1)) / len(place)
        before += len(place)
        for name in place:
            found[_metric(name, answers)] = round(share, 2)
    return found


def _centroid(place: int, places: int) -> float:
    return fsum(1 / k for k in range(place, places + 1)) / places


def _metric(name: str, answers: Answers) -> str:
    metric = str(COUNTS.word(name).means["metric"])
    if metric != "delay":
        return metric
    # The delay that was asked about: a response of "typing" bounds the round trip, others one way.
    asked = RESPONSE.word(answers.response).means
    return next(field.removeprefix("qspec.") for field in asked)


def _ranked(answers: Answers) -> str:
    order = ", then ".join(" and ".join(place) for place in answers.counts)
    return f"what counts: {order} (weights of ranks: centroids, Barron and Barrett 1996)"


def _recognise(sheet: _Sheet, answers: Answers) -> None:
    sheet.put("match.applications", [answers.application])
    if answers.ports:
        sheet.put(
            "match.ports", list(answers.ports), "as answered: what goes to these ports is of this application"
        )
    if answers.dscp is not None:
        sheet.put("match.dscp", [answers.dscp], "as answered: its packets are marked so")


def _quality(sheet: _Sheet, answers: Answers) -> None:
    bound: dict[str, Any] = {"min": _written(answers.needed, format_rate, parse_rate, "bps")}
    if answers.transport == "tcp":
        bound["streams"] = answers.parallel
    sheet.put("qspec.throughput", bound, _why_rate(answers))
    for word in (
        RESPONSE.word(answers.response),
        STEADINESS.word(answers.steadiness),
        LOSS.word(answers.loss),
    ):
        sheet.mean(word)


def _why_rate(answers: Answers) -> str:
    streams = f", with {answers.parallel} streams" if answers.parallel > 1 else ""
    if answers.rate is not None:
        return f"one {answers.kind} needs {format_rate(answers.rate)}{streams}, as answered"
    return (
        f"{format_size(answers.amount or 0)} within {format_duration(answers.within or 0)} are "
        f"{format_rate(answers.pace or 0)}; {format_ratio(HEADROOM)} more, since no transfer begins at its "
        f"full rate; rounded up to two digits{streams}"
    )


def _resources(sheet: _Sheet, answers: Answers) -> None:
    ceiling, because = _ceiling(answers)
    if ceiling is not None:
        written = _written(ceiling, format_rate, parse_rate, "bps")
        sheet.put("rspec.bandwidth_ceiling", written, because)
    if answers.sites:
        sheet.put("rspec.sites", list(answers.sites), "as answered: only to these sites")
    compute: dict[str, Any] = {
        name: value
        for name, value in (("worker_nodes", answers.nodes), ("cores", answers.cores))
        if value is not None
    }
    if answers.memory is not None:
        compute["memory"] = _written(answers.memory, format_size, parse_size, "B")
    if compute or answers.analysed:
        sheet.put("rspec.compute", compute or {"worker_nodes": 1}, "jobs work on the data, as answered")
    if answers.storage is not None:
        storage = _written(answers.storage, format_size, parse_size, "B")
        sheet.put("rspec.storage", storage, "as answered")
    if answers.software:
        sheet.put("rspec.software", list(answers.software), "as answered: what the sites must have")


def _ceiling(answers: Answers) -> tuple[float | None, str]:
    if answers.fastest is not None:
        return answers.fastest, "its hosts can do no more, as answered"
    if answers.sessions > 1:
        return answers.needed * answers.sessions, f"{answers.sessions} at once, each as above"
    return None, ""


_SAVES = {"time": "total_time", "money": "money", "both": "weighted"}


def _cost(sheet: _Sheet, answers: Answers) -> None:
    if not answers.analysed:
        return
    saves = answers.saves or "time"
    why = (
        "the time until the result counts ([ADON] 4.3)"
        if saves == "time"
        else f"{saves} is to be saved, as answered"
    )
    sheet.put("cost.function", _SAVES[saves], why)
    if answers.result_share is not None:
        share = float(answers.result_share)
        sheet.put(
            "cost.result_ratio",
            share,
            f"the result has {format_ratio(share)} of the raw data's size, as answered",
        )
    if answers.result_home is not None:
        sheet.put("cost.local_copy", answers.result_home, "whether the result must come home, as answered")


def _written(value: float, write: Callable[[float], str], read: Callable[[object], float], unit: str) -> str:
    """A quantity as people write it, if that is exactly this value; else exactly."""
    text = write(value)
    return text if read(text) == value else f"{value!r} {unit}"


def _notes(reasons: Sequence[Reason]) -> str:
    lines = ["Drafted from a survey; why its numbers are what they are:", *map(str, reasons)]
    return (
        textwrap.shorten("\n".join(lines), NOTES, placeholder=" ...")
        if _too_long(lines)
        else "\n".join(lines)
    )


def _too_long(lines: Sequence[str]) -> bool:
    return len("\n".join(lines)) > NOTES
