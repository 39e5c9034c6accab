"""Templates that together use every construct of perfSONAR's schema: what is planned, and what is skipped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.psconfig.errors import SkipReason, merge_skipped
from measurement.psconfig.expand import expand
from measurement.psconfig.plan import Route, plan
from measurement.psconfig.template import read
from tests.measurement.psconfig.schema import FILTERS, NAME, TEMPLATE, violations

FILES = sorted((Path(__file__).parents[2] / "data" / "psconfig").glob("*.json"))
PLANNED = {
    "address_classes": 23,
    "address_classes_not_evaluated": 1,
    "archives": 6,
    "comments": 6,
    "contexts": 5,
    "disabled": 4,
    "disjoint": 18,
    "empty": 0,
    "excludes": 12,
    "excludes_self": 34,
    "hosts": 7,
    "includes": 6,
    "jq_in_test": 6,
    "jq_not_evaluated_harmless": 6,
    "labels": 6,
    "list": 3,
    "mesh": 6,
    "names_with_blanks": 6,
    "odd_addresses": 2,
    "older_schema": 4,
    "remote_addresses": 4,
    "scheduled_by": 2,
    "schedules": 8,
    "subtasks": 12,
    "tests_and_tools": 5,
    "unchecked_entries": 7,
    "variables": 4,
}
"""How many tests are planned, of those whose addresses have a path."""
SKIPPED = {
    "address_classes_not_evaluated": """\
agent address-class 1, circle address-class 1, host jq jq 1, jq jq 1, names address-class 1""",
    "contexts": "label contexts 1, t contexts 4",
    "includes": "elsewhere include 2, group include 1, schedule include 1, test include 1",
    "jq_in_test": "jq jq 1",
    "odd_addresses": "t bad-address 10",
    "scheduled_by": "third scheduled-by 1",
    "schedules": """\
no slip bad-schedule 1, none not-periodic 1, nothing bad-schedule 1, once not-periodic 1, \
runs not-periodic 1, too short bad-spec 1, until after not-periodic 1, until not-periodic 1, \
zero bad-schedule 1""",
    "subtasks": "t subtask 1",
    "tests_and_tools": """\
bad bad-spec 1, dns unknown-test 1, halved unknown-tool 1, http unknown-test 1, latencybg background 1, \
text bad-spec 1, unknown tool unknown-tool 1, x-local bad-spec 1""",
    "unchecked_entries": """\
a spare unreadable 2, no task unreadable 1, ring of nodes unreadable 1, without time unreadable 1, \
without type unreadable 1""",
    "variables": "beyond unknown-variable 1, typo unknown-variable 1",
}
"""By template the tasks that are skipped, each with the reason and for how many lists of addresses."""


def route_of(source: str, destination: str) -> Route:
    return Route(frozenset({source, destination}), frozenset({"link"}), {"link": 1e9})


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_task_of_a_template_is_planned_or_skipped_with_a_reason(file: Path) -> None:
    expansion = expand(read(file.read_bytes()))
    found = plan(expansion.tasks, route_of)
    skipped = merge_skipped((*expansion.skipped, *found.skipped))
    lines = sorted(f"{each.task} {each.reason} {each.count}" for each in skipped)
    assert (len(found.periodic), ", ".join(lines)) == (PLANNED[file.stem], SKIPPED.get(file.stem, ""))
    assert all(str(each).isprintable() for each in skipped)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_perfsonars_schema_accepts_the_template(file: Path) -> None:
    assert violations(json.loads(file.read_bytes())) == []


def test_templates_use_every_property_and_value_of_the_schema() -> None:
    used = {text for file in FILES for text in texts(json.loads(file.read_bytes()))}
    assert {text for text in vocabulary(TEMPLATE) if text not in used} == set()


def test_manual_names_every_reason() -> None:
    manual = (Path(__file__).parents[3] / "docs" / "perfsonar-and-measurement-point.md").read_text()
    _, _, rest = manual.partition("| reason | cause |\n")
    table, _, _ = rest.partition("\n\n")
    named = [text for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for text in row.split(", ")]
    assert [text.strip("`") for text in named] == sorted(SkipReason)


def texts(value: object) -> Iterator[object]:
    """Every key and plain value of a document."""
    if isinstance(value, dict):
        yield from value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(item)
    if isinstance(value, str | int):
        yield value


def vocabulary(schema: object) -> Iterator[object]:
    """Every property and value that a schema names."""
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        yield from schema.get("enum", ())
        for item in schema.values():
            yield from vocabulary(item)
    elif isinstance(schema, list):
        for item in schema:
            yield from vocabulary(item)


PLAIN = st.sampled_from([None, True, 7, 0.5, "x", "{% flip %}", "{% jq .x %}", [], {}, {"_meta": [{"a": 1}]}])
TEXTS = st.sampled_from(["a", "", "no host", "Zürich", "{% address[0] %}", "{% address[9] %}", "192.0.2.1"])


def conforming(rule: Any) -> st.SearchStrategy[Any]:
    """Values that a rule of the schema accepts."""
    match rule:
        case {"$ref": _}:
            return st.deferred(lambda: conforming(FILTERS))
        case {"anyOf": rules}:
            return st.one_of(*map(conforming, rules))
        case {"enum": values}:
            return st.sampled_from(values)
        case {"type": "string", "pattern": expression}:
            return st.from_regex(expression.replace(r"\d", "[0-9]").replace("$", r"\Z"))
        case {"type": "array", "items": item}:
            return st.lists(conforming(item), max_size=2)
        case {"patternProperties": {**entries}}:
            checked = st.dictionaries(st.sampled_from("abc"), conforming(entries[NAME]), max_size=3)
            if not rule.get("additionalProperties", True):
                return checked
            free = st.dictionaries(st.just("größer als"), PLAIN | conforming(entries[NAME]))
            return st.builds(lambda *parts: parts[0] | parts[1], checked, free)
        case {"properties": {**named}}:
            needed = {name: conforming(named[name]) for name in rule.get("required", ())}
            others = {name: conforming(item) for name, item in named.items() if name not in needed}
            return st.fixed_dictionaries(needed, optional=others)
    simple = {"string": TEXTS, "boolean": st.booleans(), "integer": st.integers(rule.get("minimum", -9))}
    return simple.get(rule.get("type"), PLAIN)


@given(conforming(TEMPLATE))
def test_every_template_that_the_schema_accepts_is_read(document: dict[str, Any]) -> None:
    assert violations(document) == []
    document["includes"] = ["https://ps.example.net/the-names-that-are-not-defined"]
    expand(read(json.dumps(document).encode()))
