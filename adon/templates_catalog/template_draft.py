"""Template drafts from a survey of an application's users ([ADON] 4.1).

The authors of the thesis asked the researchers and wrote QSpec and RSpec by hand.  Here one table,
``survey.yaml``, has the questions and the meaning of words such as "little or no loss".  The notes of a draft
state the reason of every number.

The weights are rank-order centroids: of n criteria in order of importance the i-th has (1/n)·Σ 1/k, k from i
to n, the mean of all weights that agree with the order (Barron and Barrett, "Decision quality using ranked
attribute weights", Management Science 42, 1996).  Criteria of equal rank share the weights of their ranks.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import fsum
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, StringConstraints, ValidationError, model_validator

from adon import yamlfile
from adon.errors import InvalidFields, InvalidInput
from adon.templates_catalog.model import Ports, QSpec, Template
from adon.templates_catalog.template_text import format_units
from adon.units import Duration, Rate, Ratio, Size, format_duration, format_rate, format_ratio, format_size
from adon.values import Name, Value

ANY = "any"
"""The answer without a requirement."""
HEADROOM = 0.05
"""Share added to amount over time, because no transfer starts at its full rate (spec section 11)."""
MAX_NOTES = 4000


class AnswerWord(Value):
    """Possible answer, in words or with a quantity.

    :param say: the spellings, the canonical one first; for a quantity, an example.
    :param pattern: a regular expression for a quantity; its group is the bound of ``metric``.
    :param means: fields of the template by their dotted path.
    """

    say: tuple[str, ...]
    pattern: str = ""
    metric: str = ""
    means: dict[str, Any] = Field(default_factory=dict)
    because: str = ""

    def match(self, said: str) -> AnswerWord | None:
        """Return the meaning of a text that is this answer; None for other texts."""
        if not self.pattern:
            return self if said in self.say else None
        found = re.fullmatch(self.pattern, said)
        if found is None or not _is_bound(self.metric, found[1]):
            return None
        means = {f"qspec.{self.metric}": {"max": found[1]}}
        return AnswerWord(say=(said,), means=means, because="as answered")


class Question(Value):
    """Question of the survey.

    :param key: the answer's name in a file of answers, and in :class:`Answers`.
    :param field: the template field of the answer; empty if the answer sets other fields.
    :param after: the answers to other questions that enable this question.
    """

    key: str
    ask: str
    example: str
    field: str = ""
    because: str = "as answered"
    after: dict[str, str] = Field(default_factory=dict)
    words: tuple[AnswerWord, ...] = ()

    @property
    def default(self) -> str:
        """Meaning of an empty answer as typed text; empty without a default."""
        value = Answers.model_fields[self.key].default
        if isinstance(value, bool):
            return "yes" if value else "no"
        return str(value) if isinstance(value, str | int) else ""

    def is_asked(self, typed: Mapping[str, str]) -> bool:
        """Return whether the question is asked after these answers."""
        return all((typed.get(key) or questions()[key].default) == value for key, value in self.after.items())

    def find_word(self, text: object) -> AnswerWord:
        """Return the meaning of an answer.

        :raises ValueError: for an unknown answer.
        """
        said = " ".join(str(text).lower().split()).rstrip(".!")
        for word in self.words:
            if (found := word.match(said)) is not None:
                return found
        known = ", ".join(repr(word.say[0]) for word in self.words)
        raise ValueError(f"{str(text)[:40]!r} is not understood; expected for example {known}")


class _Survey(Value):
    questions: tuple[Question, ...]


@cache
def questions() -> Mapping[str, Question]:
    """Return the questions in their order, by key."""
    text = resources.files("adon.templates_catalog").joinpath("survey.yaml").read_text("utf-8")
    return {one.key: one for one in yamlfile.parse_model(text, _Survey, "survey.yaml").questions}


def _is_bound(metric: str, text: str) -> bool:
    try:
        QSpec.model_validate({metric: {"max": text}})
    except ValueError:
        return False
    return True


def _keep_spelling(key: str) -> BeforeValidator:
    """Return a validator that keeps the first spelling of an answer in words."""
    return BeforeValidator(lambda text: questions()[key].find_word(text).say[0])


def _split(value: object) -> object:
    # Typed text is a list without its brackets. A tuple, because pydantic's strict mode refuses a list.
    read = value
    if isinstance(value, str):
        try:
            read, _ = yamlfile.read_yaml(f"[{value}]")
        except InvalidInput as error:
            raise ValueError(f"{value[:40]!r} is not a list; expected for example 'one, two'") from error
    return tuple(read) if isinstance(read, list) else read


def _rank(value: object) -> object:
    # A single criterion is a group of one.
    value = _split(value)
    if not isinstance(value, tuple):
        return value
    return tuple(tuple(place) if isinstance(place, list | tuple) else (place,) for place in value)


Listed = BeforeValidator(_split)
Ranking = Annotated[
    tuple[Annotated[tuple[Annotated[str, _keep_spelling("counts")], ...], Field(min_length=1)], ...],
    BeforeValidator(_rank),
    Field(min_length=1),
]
"""Criteria, the most important first; criteria of equal rank form a group."""


class Answers(Value):
    """Answers of a survey; absent answers state no requirement.

    :param kind: ``transfer``, an amount within a time, or ``session``, a rate while it lasts.
    :param rate: stated rate of one transfer or session.
    :param fastest: maximum rate at which its hosts send, receive or store.
    :param sessions: number of simultaneous transfers or sessions.
    :param parallel: streams that its tool opens for one transfer.
    :param analysed: whether jobs that ADON may place process the data.
    :param result_share: size of the result over the size of the raw data.
    :param result_home: whether the result must return to the site of the data.
    :param waits: maximum time of a request in the queue.
    """

    application: Name
    title: Annotated[str, Field(max_length=200)] = ""
    purpose: Annotated[str, Field(max_length=2000)] = ""
    kind: Annotated[str, _keep_spelling("kind")] = "transfer"
    amount: Size | None = None
    within: Duration | None = None
    rate: Rate | None = None
    fastest: Rate | None = None
    sessions: int = Field(default=1, ge=1, le=100_000)
    loss: Annotated[str, _keep_spelling("loss")] = ANY
    response: Annotated[str, _keep_spelling("response")] = ANY
    steadiness: Annotated[str, _keep_spelling("steadiness")] = ANY
    counts: Ranking = (("time until the result",),)
    urgency: Annotated[str, _keep_spelling("urgency")] = "normal"
    moves: Annotated[str, _keep_spelling("moves")] = "any time"
    waits: Duration | None = None
    transport: Annotated[str, _keep_spelling("transport")] = "tcp"
    parallel: int = Field(default=1, ge=1, le=128)
    ports: Annotated[Ports, Listed] = ()
    dscp: Annotated[int, Field(ge=0, le=63)] | None = None
    analysed: bool = False
    nodes: int | None = Field(default=None, ge=1, le=100_000)
    cores: int | None = Field(default=None, ge=1, le=1_000_000)
    memory: Size | None = None
    saves: Annotated[str, _keep_spelling("saves")] | None = None
    result_share: Ratio | None = None
    result_home: bool | None = None
    storage: Size | None = None
    software: Annotated[tuple[Annotated[str, StringConstraints(pattern=r"^[ -~]{1,200}$")], ...], Listed] = ()
    sites: Annotated[tuple[Name, ...], Listed] = ()

    @model_validator(mode="after")
    def _complete(self) -> Self:
        # Missing answers come first: contradictions need complete answers.
        wrong = list(_list_missing(self)) or list(_contradictions(self))
        if wrong:
            raise InvalidFields(wrong)
        return self

    @property
    def pace(self) -> float | None:
        """Amount over time in bits/s; None unless both are answered."""
        if self.amount is None or self.within is None:
            return None
        return self.amount * 8 / self.within

    @property
    def needed_rate(self) -> float:
        """Required rate of one transfer or session in bits/s."""
        return self.rate if self.rate is not None else _round_up((self.pace or 0.0) * (1 + HEADROOM))


def read_typed(typed: Mapping[str, str]) -> Answers:
    """Return the answers from typed text; empty text is no answer.

    :raises InvalidInput: with every problem found.
    """
    raw = {
        key: typed[key].strip()
        for key, question in questions().items()
        if typed.get(key, "").strip() and question.is_asked(typed)
    }
    try:
        return Answers.model_validate(raw)
    except ValidationError as error:
        raise InvalidInput(yamlfile.list_model_problems(error, raw)) from error


def find_objection(key: str, text: str) -> str:
    """Return the problem of a single answer; empty without a problem."""
    if not text.strip():
        return "needs an answer" if Answers.model_fields[key].is_required() else ""
    try:
        Answers.model_validate({"application": "x", "rate": "1 bps", key: text.strip()})
    except ValidationError as error:
        details = [one for one in error.errors(include_url=False) if one["loc"][:1] == (key,)]
        return "; ".join(problem.cause for one in details for problem in yamlfile.causes(one))
    return ""


def _round_up(rate: float) -> float:
    """Round a rate up to two digits: 667 becomes 670."""
    digits = len(str(int(rate)))
    step = 10.0 ** max(0, digits - 2)
    whole = -(-rate // step)
    # A rounding error above a round number is ignored: 25 GB in 300 s and 5 % are 700 Mbps.
    return float((whole - 1) * step if rate - (whole - 1) * step < 1e-9 * rate else whole * step)


def _list_missing(a: Answers) -> Iterator[str]:
    if a.rate is None:
        for name in ("rate",) if a.kind == "session" else ("amount", "within"):
            if getattr(a, name) is None:
                yield f"{name}: is missing; a {a.kind} needs a rate, or an amount within a time"
    for name in ("amount", "within", "rate", "fastest"):
        value = getattr(a, name)
        if value is not None and value <= 0:
            yield f"{name}: must be above zero"


_BOUNDED_BY = {"no loss": "loss", "prompt answers": "response", "steadiness": "steadiness"}
_OF_JOBS = ("nodes", "cores", "memory", "saves", "result_share", "result_home")


def _contradictions(a: Answers) -> Iterator[str]:
    pace = a.pace
    if a.kind == "session" and a.within is not None:
        yield "within: contradicts kind: session, because a session has no amount to complete"
    elif pace is not None and a.rate is not None and a.rate < pace:
        yield f"rate: {format_rate(a.rate)} contradicts within: amount over time is {format_rate(pace)}"
    if a.fastest is not None and a.needed_rate > a.fastest:
        other, needed = "within" if a.rate is None else "rate", format_rate(a.needed_rate)
        yield f"fastest: {format_rate(a.fastest)} contradicts {other}, which needs {needed}"
    ranked = [name for place in a.counts for name in place]
    for name in sorted({name for name in ranked if ranked.count(name) > 1}):
        yield f"counts: names {name!r} twice"
    for name, key in _BOUNDED_BY.items():
        if name in ranked and getattr(a, key) == ANY:
            yield f"counts: {name!r} contradicts {key}: {ANY}, which says that it does not matter"
    for name in () if a.analysed else _OF_JOBS:
        if getattr(a, name) is not None:
            yield f"{name}: contradicts analysed: no job works on the data"
    if a.transport == "udp" and a.parallel > 1:
        yield f"parallel: {a.parallel} streams contradict transport: udp, whose sessions have one"
    if a.urgency == "deadline" and a.waits is not None and a.within is not None and a.waits > a.within:
        yield f"waits: {format_duration(a.waits)} contradict within: {format_duration(a.within)}, a deadline"


@dataclass(frozen=True, slots=True)
class Entry:
    """Field of a draft by its dotted path, with its value as written, and the reason."""

    field: str
    value: Any
    because: str = ""


def draft_template(answers: Answers) -> Template:
    """Return the template of a survey; its notes state the reason of every number.

    :raises InvalidInput: for an invalid template; :class:`Answers` refuses all answers that lead to one.
    """
    entries = list(_entries(answers))
    reasons = (f"{one.field}: {one.because}" for one in entries if one.because)
    notes = "\n".join(["Draft from a survey, with the reasons of its values:", *reasons])
    if len(notes) > MAX_NOTES:
        notes = textwrap.shorten(notes, MAX_NOTES, placeholder=" ...")
    document: dict[str, Any] = {}
    for entry in (*entries, Entry("notes", notes)):
        *above, last = entry.field.split(".")
        place = document
        for name in above:
            place = place.setdefault(name, {})
        place[last] = entry.value
    return yamlfile.check_model(document, Template)


def _entries(a: Answers) -> Iterator[Entry]:
    yield Entry("name", a.application)
    yield Entry("match.applications", [a.application])
    yield Entry("qspec.throughput", _throughput_bound(a), _why_rate(a))
    given = a.model_dump(mode="json")
    for key, question in questions().items():
        if question.field and given[key] not in (None, "", []):
            value = format_units(given[key]) if question.because else given[key]
            yield Entry(question.field, value, question.because)
        if question.words and isinstance(given[key], str):
            word = question.find_word(given[key])
            yield from (Entry(field, value, word.because) for field, value in word.means.items())
    if a.dscp is not None:
        yield Entry("match.dscp", [a.dscp], "as answered: mark of its packets")
    if a.fastest is not None or a.sessions > 1:
        most = a.fastest if a.fastest is not None else a.needed_rate * a.sessions
        why = "maximum rate of its hosts, as answered" if a.fastest is not None else f"{a.sessions} at once"
        yield Entry("rspec.bandwidth_ceiling", format_units(f"{most!r} bps"), why)
    if a.analysed and a.nodes is None:
        yield Entry("rspec.compute.worker_nodes", 1, "jobs process the data, as answered")
    if a.analysed and a.saves is None:
        yield Entry("cost.function", "total_time", "the time until the result counts ([ADON] 4.3)")
    if a.result_share is not None:
        yield Entry("cost.result_ratio", float(a.result_share), "size of the result, as answered")
    order = ", then ".join(" and ".join(place) for place in a.counts)
    yield Entry(
        "weights",
        rank_weights(a),
        f"order of importance: {order} (rank-order centroids, Barron and Barrett 1996)",
    )


def _throughput_bound(a: Answers) -> dict[str, Any]:
    bound = {"min": format_units(f"{a.needed_rate!r} bps")}
    return bound if a.transport == "udp" else {**bound, "streams": a.parallel}


def _why_rate(a: Answers) -> str:
    streams = f", with {a.parallel} streams" if a.parallel > 1 else ""
    if a.rate is not None:
        return f"one {a.kind} needs {format_rate(a.rate)}{streams}, as answered"
    return (
        f"{format_size(a.amount or 0)} within {format_duration(a.within or 0)} are "
        f"{format_rate(a.pace or 0)}; {format_ratio(HEADROOM)} more, since no transfer begins at its "
        f"full rate; rounded up to two digits{streams}"
    )


def rank_weights(answers: Answers) -> dict[str, float]:
    """Return the weight of each important metric; the sum is 1 except for rounding."""
    places = sum(len(place) for place in answers.counts)
    found: dict[str, float] = {}
    before = 0
    for place in answers.counts:
        share = fsum(_centroid(before + i, places) for i in range(1, len(place) + 1)) / len(place)
        before += len(place)
        found |= {_metric(name, answers): round(share, 2) for name in place}
    return found


def _centroid(place: int, places: int) -> float:
    return fsum(1 / k for k in range(place, places + 1)) / places


def _metric(name: str, answers: Answers) -> str:
    metric = str(questions()["counts"].find_word(name).means["metric"])
    if metric != "delay":
        return metric
    # The bounded delay: a response of "typing" bounds the round trip, others the one-way delay.
    asked = questions()["response"].find_word(answers.response).means
    return next(field.removeprefix("qspec.") for field in asked)
