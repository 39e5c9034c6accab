from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.psconfig.errors import TemplateError
from measurement.psconfig.template import Template, read
from tests.measurement.psconfig.templates import SMALL, changed, encoded
from tests.support.refusals import refused


def problems(document: Any) -> str:
    with pytest.raises(TemplateError) as caught:
        read(document if isinstance(document, bytes) else encoded(document))
    return "\n".join(caught.value.problems)


def test_a_template_is_read() -> None:
    found = read(encoded(SMALL))
    assert found.addresses["b"].pscheduler_address == "ps-b.example.net:8443"
    assert found.tasks["mesh-rtt"].archives == ("col",)
    assert found.schedules["m5"].repeat == "PT5M"


def test_comments_and_meta_say_nothing() -> None:
    document = changed(**{"#": "hello", "_meta": {"x": 1}})
    document["addresses"]["a"]["_meta"] = {"display-name": "A"}
    document["tasks"]["mesh-rtt"]["#why"] = ["because"]
    assert read(encoded(document)) == read(encoded(SMALL))


def with_address(**fields: Any) -> dict[str, Any]:
    """The small template with one more address, of these fields."""
    added = {name.replace("_", "-"): value for name, value in fields.items()}
    return changed(addresses={**SMALL["addresses"], "d": added})


def with_class(condition: dict[str, Any]) -> dict[str, Any]:
    """The small template with an address class of this condition."""
    found = {"data-source": {"type": "current-config"}, "match-filter": condition}
    return changed(**{"address-classes": {"k": found}})


def mesh_of(*selectors: dict[str, Any]) -> dict[str, Any]:
    return changed(groups={"all": {"type": "mesh", "addresses": list(selectors)}})


NO_CLASS = {"type": "address-class", "class": "gone"}
UNDEFINED = """\
tasks.t.group: 'g' is not defined
tasks.t.test: 'x' is not defined
tasks.t.schedule: 's' is not defined
tasks.t.archives[0]: 'y' is not defined"""


@pytest.mark.parametrize(
    ("document", "shown"),
    [
        (b"{", "template:"),
        ([], "template:"),
        ({}, "addresses:"),
        (changed(extra=1), "extra:"),
        (with_address(), "addresses.d.address:"),
        (with_address(address="d", host="h"), "addresses.d.host: 'h'"),
        (with_address(address="d", disabled="yes"), "addresses.d.disabled:"),
        (changed(groups={"all": {"type": "ring", "addresses": []}}), "groups.all:"),
        (mesh_of({"name": "a"}, {"name": "x"}), "groups.all.addresses[1]: 'x'"),
        (mesh_of({}), "groups.all.addresses[0]:"),
        (mesh_of({"class": "k"}), "groups.all.addresses[0]: 'k'"),
        (changed(schedules={"m5": {"repeat": "P1M"}}), "schedules.m5.repeat:"),
        (changed(schedules={"m5": {"repeat-cron": "* * * * *"}}), "schedules.m5.repeat-cron:"),
        (changed(schedules={"m5": {"until": "tomorrow"}}), "schedules.m5.until:"),
        (changed(schedules={"m5": {"max-runs": 0}}), "schedules.m5.max-runs:"),
        (changed(tasks={"t": {"group": "g", "test": "x", "schedule": "s", "archives": ["y"]}}), UNDEFINED),
        (changed(tasks={"t": {"group": "all", "test": "rtt", "subtasks": ["z"]}}), "tasks.t.subtasks[0]:"),
        (changed(tests={"rtt": {"spec": {}}}), "tests.rtt.type:"),
        (b'{"groups": {"x": [{"a": 1, "b": 2, "b": 3}]}}', "groups.x[0].b:"),
        (changed(tests={"rtt": {"type": "rtt", "spec": {"x": ["{% address[0] "]}}}), "tests.rtt.spec.x[0]:"),
        (with_class({"type": "tag"}), "address-classes.k.match-filter:"),
        (with_class({"type": "or", "filters": [{"type": "not", "filter": NO_CLASS}]}),
         "address-classes.k: 'gone'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(document: Any, shown: str) -> None:
    assert shown in problems(document)


@pytest.mark.parametrize("start", ["2030-01-01T00:00:00Z", "PT10S", "@PT1H", "@P1D"])
def test_the_ways_to_say_when(start: str) -> None:
    assert read(encoded(changed(schedules={"m5": {"start": start}}))).schedules["m5"].start == start


def test_includes_add_and_never_replace() -> None:
    included = {
        "addresses": {"a": {"address": "192.0.2.66"}, "d": {"address": "192.0.2.4"}},
        "contexts": {"ns": {"context": "linuxnns", "data": {}}},
        "somebody": "else's",
    }
    asked = []

    def load(url: str) -> bytes:
        asked.append(url)
        return encoded(included)

    found = read(encoded(changed(includes=["https://x.example.net/i.json"])), load)
    assert asked == ["https://x.example.net/i.json"]
    assert found.addresses["a"].address == "ps-a.example.net"
    assert found.addresses["d"].address == "192.0.2.4"
    assert list(found.contexts) == ["ns"]


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (OSError(2, "No such file"), "includes[0]"),
        (b"<html>", "includes[0]"),
        (encoded({"addresses": {"d": {"address": 7}}}), r"addresses.d.address"),
    ],
)
def test_an_include_that_cannot_be_used_is_named(content: bytes | OSError, field: str) -> None:
    def load(url: str) -> bytes:
        if isinstance(content, OSError):
            raise content
        return content

    with refused("bad-template", field):
        read(encoded(changed(includes=["https://x.example.net/i.json"])), load)


def test_names_from_includes_that_are_not_loaded_are_no_problem() -> None:
    tasks = {"t": {"group": "g", "test": "x", "schedule": "s", "archives": ["y"]}}
    assert read(encoded(changed(tasks=tasks, includes=["https://x.example.net/i.json"]))).tasks


def test_entry_that_the_schema_does_not_check_is_put_aside() -> None:
    """The schema's pattern for names does not match, so that it accepts any content."""
    wrong: dict[str, Any] = {"a b": {"address": 7}, "größe": {"address": "g.example.net"}}
    found = read(encoded(changed(addresses={**SMALL["addresses"], **wrong})))
    assert found.addresses["größe"].address == "g.example.net"
    assert {section: list(names) for section, names in found.unread.items()} == {"addresses": ["a b"]}


@pytest.mark.parametrize("levels", [101, 400, 700, 5000])
def test_template_that_is_nested_too_deeply_is_refused(levels: int) -> None:
    deep = "[" * levels + "]" * levels
    with refused("bad-template", "template"):
        read(encoded(changed(archives={"x": 7})).replace(b"7", deep.encode()))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(SMALL)), JSON)
def test_any_section_of_any_kind_is_read_or_refused(section: str, junk: Any) -> None:
    with contextlib.suppress(TemplateError):
        assert isinstance(read(json.dumps(changed(**{section: junk})).encode()), Template)
