from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.psconfig.expand import Expanded, expand, lists
from measurement.psconfig.template import read
from tests.measurement.psconfig.templates import SMALL, changed, encoded
from tests.support.refusals import refused


def expanded(**sections: Any) -> list[Expanded]:
    return expand(read(encoded(changed(**sections))))


def pairs(group: dict[str, Any], addresses: dict[str, Any], **sections: Any) -> list[tuple[str, ...]]:
    template = read(encoded(changed(groups={"all": group}, addresses=addresses, **sections)))
    return [tuple(place.address for place in places) for places in lists(template, template.groups["all"])]


def named(*names: str) -> list[dict[str, str]]:
    return [{"name": name} for name in names]


PLAIN = {name: {"address": f"{name}.example.net"} for name in "abcd"}


def between(*names: str) -> list[tuple[str, ...]]:
    """``ab`` stands for the pair of a and b."""
    return [tuple(f"{letter}.example.net" for letter in name) for name in names]


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ({"type": "mesh", "addresses": named(*"abc")}, between("ab", "ac", "ba", "bc", "ca", "cb")),
        ({"type": "list", "addresses": named(*"ab")}, between("a", "b")),
        ({"type": "disjoint", "a-addresses": named("a"), "b-addresses": named(*"bc")},
         between("ab", "ac", "ba", "ca")),
        ({"type": "disjoint", "a-addresses": named("a"), "b-addresses": named(*"bc"), "unidirectional": True},
         between("ab", "ac")),
        ({"type": "mesh", "addresses": named(*"abc"),
          "excludes": [{"local-address": {"name": "a"}, "target-addresses": named(*"bc")}]},
         between("ba", "bc", "ca", "cb")),
        ({"type": "mesh", "addresses": [{"name": "a"}, {"name": "b", "disabled": True}, {"name": "c"}]},
         between("ac", "ca")),
        ({"type": "mesh", "addresses": named(*"ab"), "excludes-self": "disabled"},
         between("aa", "ab", "ba", "bb")),
        ({"type": "mesh", "addresses": named(*"aab")}, between("ab", "ba")),
    ],
)  # fmt: skip
def test_groups(group: dict[str, Any], expected: list[tuple[str, ...]]) -> None:
    assert pairs(group, PLAIN) == expected


@given(st.lists(st.sampled_from("abcd"), unique=True), st.lists(st.sampled_from("abcd"), unique=True))
def test_a_disjoint_group_is_every_pair_across(left: list[str], right: list[str]) -> None:
    found = pairs({"type": "disjoint", "a-addresses": named(*left), "b-addresses": named(*right)}, PLAIN)
    expected = {f"{x}{y}" for x in left for y in right if x != y} | {
        f"{y}{x}" for x in left for y in right if x != y
    }
    assert sorted(found) == sorted(between(*expected))


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("host", {"a.example.net>c.example.net", "c.example.net>a.example.net",
                  "b.example.net>c.example.net", "c.example.net>b.example.net"}),
        ("address", {"a.example.net>b.example.net", "b.example.net>a.example.net",
                     "a.example.net>c.example.net", "c.example.net>a.example.net",
                     "b.example.net>c.example.net", "c.example.net>b.example.net"}),
    ],
)  # fmt: skip
def test_excludes_self(scope: str, expected: set[str]) -> None:
    addresses = {**PLAIN, "a": {**PLAIN["a"], "host": "h"}, "b": {**PLAIN["b"], "host": "h"}}
    group = {"type": "mesh", "addresses": named(*"abc"), "excludes-self": scope}
    assert {">".join(pair) for pair in pairs(group, addresses, hosts={"h": {}})} == expected


def test_labels_choose_and_leave_out() -> None:
    """The documentation's example: thr2 has no 10 Gbit/s, thr3 has two."""
    addresses = {
        "thr1": {"address": "thr1.net", "labels": {"10g": {"address": "thr1-10g.net"}}},
        "thr2": {"address": "thr2.net"},
        "thr3": {"address": "thr3.net",
                 "labels": {"10g": {"address": "thr3-10g.net"}, "10g-2": {"address": "thr3-10g-2.net"}}},
    }  # fmt: skip
    selectors = [*named("thr1", "thr2", "thr3"), {"name": "thr3", "label": "10g-2"}]
    group = {"type": "mesh", "default-address-label": "10g", "addresses": selectors}
    assert sorted(pairs(group, addresses)) == [
        ("thr1-10g.net", "thr3-10g-2.net"),
        ("thr1-10g.net", "thr3-10g.net"),
        ("thr3-10g-2.net", "thr1-10g.net"),
        ("thr3-10g.net", "thr1-10g.net"),
    ]


def test_an_address_is_another_towards_some() -> None:
    """The documentation's example of remote-addresses."""
    addresses = {
        "host1": {"address": "host1.net", "remote-addresses": {"host2": {"address": "10.1.1.1"}}},
        "host2": {"address": "host2.net", "remote-addresses": {"host1": {"address": "10.1.1.2"}}},
        "host3": {"address": "host3.net"},
    }
    group = {"type": "disjoint", "a-addresses": named("host1"), "b-addresses": named("host2", "host3")}
    assert pairs(group, addresses) == [
        ("10.1.1.1", "10.1.1.2"),
        ("host1.net", "host3.net"),
        ("10.1.1.2", "10.1.1.1"),
        ("host3.net", "host1.net"),
    ]


@pytest.mark.parametrize(
    "disabled",
    [
        {"addresses": {**PLAIN, "b": {**PLAIN["b"], "disabled": True}}},
        {"addresses": {**PLAIN, "b": {**PLAIN["b"], "host": "h"}}, "hosts": {"h": {"disabled": True}}},
    ],
)
def test_what_is_disabled_is_left_out(disabled: dict[str, Any]) -> None:
    group = {"type": "mesh", "addresses": named(*"abc")}
    assert pairs(group, **disabled) == between("ac", "ca")


def test_a_task_is_filled_in() -> None:
    found = {each.id: each for each in expanded()}
    assert len(found) == 6
    one = found["mesh-rtt:b/192.0.2.2>c/2001:db8::3"]
    assert one.spec == {
        "source": "192.0.2.2", "dest": "2001:db8::3", "source-node": "ps-b.example.net:8443", "count": 10,
    }  # fmt: skip
    assert one.archives[0]["data"] == {"_url": "https://192.0.2.2/results"}
    assert found["mesh-rtt:c/2001:db8::3>a/ps-a.example.net"].spec["source-node"] == "[2001:db8::3]"


def fill(value: Any, **task: Any) -> Any:
    """What a reference becomes towards b, where a has no agent if ``agentless`` is among the task's words."""
    addresses = dict(SMALL["addresses"])
    if task.pop("agentless", False):
        addresses["a"] = {**addresses["a"], "no-agent": True}
    group = {"type": "disjoint", "unidirectional": True, "a-addresses": named("a"), "b-addresses": named("b")}
    tasks = {"t": {"group": "g", "test": "rtt", "reference": value, **task}}
    [found] = expanded(addresses=addresses, groups={"g": group}, tasks=tasks)
    return found.reference


@pytest.mark.parametrize(
    ("value", "task", "expected"),
    [
        ({"x": ["{% address[1] %}", 7, None]}, {}, {"x": ["192.0.2.2", 7, None]}),
        ("{% flip %}", {}, False),
        ("{% flip %}", {"agentless": True}, True),
        ("flip={% flip %}!", {"agentless": True}, "flip=true!"),
        ("{% scheduled_by_address %}", {"agentless": True}, "192.0.2.2"),
        ("{% scheduled_by_address %}", {"scheduled-by": 1}, "192.0.2.2"),
        ("{% flip %}", {"scheduled-by": 1}, False),
        ("{% localhost %}", {}, "localhost"),
        ("{% localhost %}", {"agentless": True}, "192.0.2.2"),
        ("{% lead_bind_address[1] %}", {}, "192.0.2.2"),
        ("{% pscheduler_address[1] %} {% address[0] %}", {}, "ps-b.example.net:8443 ps-a.example.net"),
        ("{%address[0]%}", {}, "{%address[0]%}"),  # pSConfig wants the spaces
    ],
)
def test_variables(value: Any, task: dict[str, Any], expected: Any) -> None:
    assert fill(value, **task) == expected


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ("{% jq .addresses[0] %}", "tasks.t.reference"),
        (
            {"deep": ["x {% adress[0] %}"]},
            "tasks.t.reference.deep[0]",
        ),
        ("{% address[2] %}", "tasks.t.reference"),
    ],
)
def test_a_variable_that_is_none_is_named(value: Any, field: str) -> None:
    with refused("bad-template", field):
        fill(value)


def test_without_any_agent_there_is_no_task() -> None:
    addresses = {name: {**address, "no-agent": True} for name, address in SMALL["addresses"].items()}
    assert expanded(addresses=addresses) == []


def test_scheduled_by_beyond_the_list_is_refused() -> None:
    with refused("bad-template", "tasks.t.scheduled-by"):
        expanded(tasks={"t": {"group": "all", "test": "rtt", "scheduled-by": 2}})


def test_a_hosts_archive_is_added_once_where_it_schedules() -> None:
    addresses = {**PLAIN, "a": {**PLAIN["a"], "host": "h"}}
    archives = {name: {"archiver": "http", "data": {"_url": name}} for name in ("one", "two")}
    tasks = {"t": {"group": "g", "test": "rtt", "archives": ["one"]}}
    group = {"type": "mesh", "addresses": named(*"ab")}
    found = expanded(
        addresses=addresses, archives=archives, tasks=tasks, groups={"g": group},
        hosts={"h": {"archives": ["one", "two"]}},
    )  # fmt: skip
    assert [[archive["data"]["_url"] for archive in each.archives] for each in found] == [
        ["one", "two"],
        ["one"],
    ]


def test_contexts_go_with_their_addresses() -> None:
    addresses = {**PLAIN, "a": {**PLAIN["a"], "contexts": ["ns"]}}
    contexts = {"ns": {"context": "linuxnns", "data": {"namespace": "of-{% address[0] %}"}}}
    group = {"type": "mesh", "addresses": named(*"ab")}
    tasks = {"t": {"group": "g", "test": "rtt"}}
    [one, _] = expanded(addresses=addresses, contexts=contexts, groups={"g": group}, tasks=tasks, archives={})
    assert one.contexts == (({"context": "linuxnns", "data": {"namespace": "of-a.example.net"}},), ())


def test_a_disabled_task_is_none() -> None:
    assert expanded(tasks={"t": {"group": "all", "test": "rtt", "disabled": True}}) == []
