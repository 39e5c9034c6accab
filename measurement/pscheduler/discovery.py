"""What a host can do: its tests, tools and archivers, and what it says to a specification.

``spec/is-valid`` answers an invalid throughput specification with a 500 and a traceback, and an unknown
test with 404; both are objections here, not errors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from measurement.errors import BadAnswer, Rejected
from measurement.pscheduler.document import Document
from measurement.pscheduler.specs import TestRequest
from measurement.pscheduler.transport import Transport

API = 6  # the level at which /tools says why a tool cannot run a test


@dataclass(frozen=True, slots=True)
class Plugin:
    """A test, tool or archiver.

    :param scheduling_class: of a test: ``exclusive``, ``normal``, ``background``, ``background-multi``.
    :param tests: of a tool: the tests it claims to run.
    """

    name: str
    version: str = ""
    description: str = ""
    scheduling_class: str = ""
    tests: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a host has installed, by name."""

    api: int
    tests: dict[str, Plugin]
    tools: dict[str, Plugin]
    archivers: dict[str, Plugin]

    def tools_for(self, test: str) -> list[str]:
        """The tools that claim a test, most preferred first."""
        return [tool.name for tool in self.tools.values() if test in tool.tests]


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """Whether a tool can run a test, and why not."""

    tool: str
    can_run: bool
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownTask:
    """A task at a host, whoever posted it.

    :param href: its URL, as the host has it.
    :param tool: empty where the host does not say.
    :param repeats: runs again and again.
    :param owner: of its reference, where that has one; empty otherwise.
    """

    href: str
    test: str
    spec: Mapping[str, object]
    tool: str
    repeats: bool
    owner: str


def tasks_between(http: Transport, source: str, dest: str) -> list[KnownTask]:
    """The tasks that a host leads, that measure between two addresses and are not cancelled.

    The host chooses them (PostgreSQL's ``@>``): all of its tasks would be an answer of megabytes.
    """
    pattern = {
        "test": {"spec": {"source": source, "dest": dest}},
        "detail": {"enabled": True, "participant": 0},
    }
    answer = http.get("/tasks", {"json": json.dumps(pattern), "expanded": "1"}).json()
    return [_known_task(document) for document in _objects(http, "tasks", answer)]


def capabilities(http: Transport, api: int) -> Capabilities:
    """Everything a host has."""
    return Capabilities(api, *(_plugins(http, kind) for kind in ("tests", "tools", "archivers")))


def objection(http: Transport, test: TestRequest) -> str | None:
    """Why a host would refuse a specification; None if it would not."""
    params = {"spec": json.dumps(dict(test.spec))}
    try:
        answer = http.get(f"/tests/{test.kind}/spec/is-valid", params)
    except Rejected as error:
        if error.status not in (400, 404, 500):
            raise
        return error.cause
    document = Document.of(http.host, "is-valid", answer.json())
    valid = document.fields.get("valid")
    if not isinstance(valid, bool):
        document.refuse("valid", "is missing")
    if valid:
        return None
    return document.text("error") if document.has("error") else "no reason given"


def tools(http: Transport, test: TestRequest) -> list[ToolAnswer]:
    """What the host's tools say to a test; before API level 6 only those that can run it are named."""
    params = {"test": json.dumps(test.document), "api": str(API)}
    try:
        answer = http.get("/tools", params)
    except Rejected as error:
        if error.status != 501:  # an older server, which wants to be asked as such
            raise
        answer = http.get("/tools", {"test": params["test"], "expanded": "1"})
    return [_tool_answer(document) for document in _objects(http, "tools", answer.json())]


def _tool_answer(document: Document) -> ToolAnswer:
    if not document.has("can-run"):
        return ToolAnswer(document.text("name"), True)
    verdict = document.child("can-run")
    reasons = verdict.fields.get("reasons")
    told = tuple(map(str, reasons)) if isinstance(reasons, list) else ()
    return ToolAnswer(document.child("tool").text("name"), verdict.fields.get("can-run") is True, told)


def _known_task(document: Document) -> KnownTask:
    test, schedule = document.child("test"), document.fields.get("schedule")
    reference = document.fields.get("reference")
    owner = reference.get("owner") if isinstance(reference, Mapping) else None
    return KnownTask(
        document.text("href"),
        test.text("type"),
        test.child("spec").fields,
        _text(document, "tool"),
        isinstance(schedule, Mapping) and not {"repeat", "repeat-cron"}.isdisjoint(schedule),
        owner if isinstance(owner, str) else "",
    )


def _plugins(http: Transport, kind: str) -> dict[str, Plugin]:
    documents = _objects(http, kind, http.get(f"/{kind}", {"expanded": "1"}).json())
    preferred = sorted(documents, key=lambda each: -_preference(each))
    return {plugin.name: plugin for plugin in map(_plugin, preferred)}


def _preference(document: Document) -> float:
    return document.number("preference") if document.has("preference") else 0.0


def _plugin(document: Document) -> Plugin:
    tests = document.fields.get("tests")
    return Plugin(
        document.text("name"),
        _text(document, "version"),
        _text(document, "description"),
        _text(document, "scheduling-class"),
        frozenset(test for test in tests if isinstance(test, str))
        if isinstance(tests, list)
        else frozenset(),
    )


def _text(document: Document, field: str) -> str:
    return document.text(field) if document.has(field) else ""


def _objects(http: Transport, what: str, answer: object) -> list[Document]:
    if not isinstance(answer, list):
        raise BadAnswer(http.host, f"{what}: expected a list")
    return [Document.of(http.host, f"{what}[{number}]", item) for number, item in enumerate(answer)]
