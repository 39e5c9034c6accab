"""What pScheduler's ``http`` and ``rabbitmq`` archivers send: one finished run as one JSON object.

A sender is authenticated by whoever received the message; here is decided what it may say.  A point may only
report runs that it took part in: a test of two participants may be reported by either, any other only by
the host that measured (the source; with ``flip`` the destination), so that one point cannot invent results
between two others.  Deliveries are repeated and come in any order: the origin of every value is the run's
UUID, which the archive keeps once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from measurement.errors import BadAnswer, shorten
from measurement.model import origin_of
from measurement.pscheduler.document import Document
from measurement.pscheduler.states import RunState
from measurement.sources.received import Received, Refusal, Report, Resolve, receive, refuse

_UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_TEST = re.compile(r"[a-z0-9-]{1,64}")
_LONGEST_URL = 500
_LONGEST_TOOL = 64
_BOTH = frozenset({"throughput"})
_FLIPPED = frozenset({"latency", "latencybg"})


@dataclass(frozen=True, slots=True)
class Reporter:
    """A measurement point that may send results.

    :param name: what it is called in messages.
    :param names: every address and host name under which it takes part in tests; with the port where
        tasks name one.
    """

    name: str
    names: frozenset[str]

    def is_one_of(self, names: frozenset[str]) -> bool:
        """Whether one of these names is the reporter's."""
        return not {_plain(name) for name in self.names}.isdisjoint({_plain(name) for name in names})


def read(payload: object, reporter: Reporter | None, resolve: Resolve, now: float) -> Received:
    """The values of a message.

    :param payload: its JSON.
    :param reporter: who sent it; None when every writer of a queue is trusted with every run.
    """
    who = "queue" if reporter is None else reporter.name
    try:
        report = understand(payload, who)
    except BadAnswer as error:
        return Received((), (Refusal.of(who, error),))
    if reporter is not None and not took_part(reporter, report):
        return refuse(report.source, f"{reporter.name} took no part in this run", "forbidden")
    return receive(report, resolve, now)


def understand(payload: object, who: str) -> Report:
    """A message as the run it tells of.

    :raises BadAnswer: when it is not such a message, naming the field.
    """
    document = Document.of(who, "", payload)
    run = document.child("run") if document.has("run") else Document(who, "run", {})
    test = document.child("test")
    name = test.text("type")
    if not _TEST.fullmatch(name):
        test.refuse("type", "is no name of a test")
    started, ended = _times(document, run)
    # Only a finished run has a result.
    without = not document.has("result") and run.fields.get("state") not in (None, RunState.FINISHED)
    result = {"succeeded": False} if without else document.child("result").fields
    return Report(
        who,
        name,
        test.child("spec").fields,
        result,
        _source(document, run),
        started,
        ended,
        _tool(document),
        _participants(document),
        run.fields.get("result-full"),
    )


def took_part(reporter: Reporter, report: Report) -> bool:
    """Whether a run is one that the reporter can know of."""
    named = _measuring(report.test, report.spec)
    if named:
        return reporter.is_one_of(named)
    lead = report.participants[0] if report.participants else None
    return lead is None or reporter.is_one_of(frozenset({lead}))


def _measuring(test: str, spec: Mapping[str, object]) -> frozenset[str]:
    """Names of the hosts that measure; empty where the specification leaves it to the host asked."""
    source, destination = ["source-node", "source"], ["dest-node", "dest"]
    sides = source
    if test in _BOTH and "single-ended" not in spec and "loopback" not in spec:
        sides = source + destination
    elif test in _FLIPPED and spec.get("flip") is True:
        sides = destination
    return frozenset(name for side in sides if isinstance(name := spec.get(side), str) and name)


def _plain(name: str) -> str:
    return name.casefold().rstrip(".")


def _source(payload: Document, run: Document) -> str:
    name = payload.text("id")
    if not _UUID.fullmatch(name):
        payload.refuse("id", "is no UUID")
    if not run.has("href"):
        return f"pscheduler:/runs/{name.lower()}"
    url = run.text("href")
    if len(url) > _LONGEST_URL or not url.isprintable() or origin_of(url) != name.lower():
        run.refuse("href", "is not the URL of the run that id names")
    parts = urlsplit(url)
    # A query could carry a key, a user part a password.
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _times(payload: Document, run: Document) -> tuple[float, float]:
    """When the run was; the schedule's duration is the planned slot, longer than the run."""
    if run.has("start-time") and run.has("end-time"):
        return run.time("start-time"), run.time("end-time")
    planned = payload.child("schedule")
    started = planned.time("start")
    return started, started + planned.duration("duration")


def _tool(payload: Document) -> str:
    if not payload.has("tool"):
        return ""
    tool = payload.fields["tool"]
    name = tool if isinstance(tool, str) else payload.child("tool").text("name")
    return shorten(name, _LONGEST_TOOL)


def _participants(payload: Document) -> tuple[str | None, ...]:
    if not payload.has("participants"):
        return ()
    named = payload.fields["participants"]
    if not isinstance(named, list) or not all(isinstance(name, str | None) for name in named):
        payload.refuse("participants", "is no list of names")
    return tuple(named)
