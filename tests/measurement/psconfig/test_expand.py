from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.psconfig import expand as expanding
from measurement.psconfig.expand import Expanded, Expansion, expand, lists
from measurement.psconfig.template import read
from tests.measurement.psconfig.templates import SMALL, changed, encoded
from tests.support.refusals import refused


def expansion(**sections: Any) -> Expansion:
    return expand(read(encoded(changed(**sections))))


def expanded(**sections: Any) -> tuple[Expanded, ...]:
    return expansion(**sections).tasks


def reasons(found: Expansion) -> dict[str, str]:
    return {each.task: each.reason for each in found.skipped}


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
    assert found["mesh-rtt:c/2001:db8::3>a/ps-a.example.net"].spec["source-node"] == "[2001:db8::3]"


def filled(value: Any, **task: Any) -> Expansion:
    """A test of a towards b with a value; a has no agent if ``agentless`` is among the task's words."""
    addresses = dict(SMALL["addresses"])
    if task.pop("agentless", False):
        addresses["a"] = {**addresses["a"], "no-agent": True}
    group = {"type": "disjoint", "unidirectional": True, "a-addresses": named("a"), "b-addresses": named("b")}
    tasks = {"t": {"group": "g", "test": "rtt", **task}}
    tests = {"rtt": {"type": "rtt", "spec": {"value": value}}}
    return expansion(addresses=addresses, groups={"g": group}, tasks=tasks, tests=tests)


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
        ("{%address[0]%} {% flip %}", {}, "{%address[0]%} false"),
        ("{% %}", {}, "{% %}"),
        ("{% flip %}{% flip %}", {}, "falsefalse"),
        (f"{{%{' ' * 20_000}x%}}", {}, f"{{%{' ' * 20_000}x%}}"),
    ],
)
def test_variables(value: Any, task: dict[str, Any], expected: Any) -> None:
    [found] = filled(value, **task).tasks
    assert found.spec["value"] == expected


@pytest.mark.parametrize(
    ("value", "reason", "field"),
    [
        ("{% jq .addresses[0] %}", "jq", "tests.rtt.spec.value"),
        ({"deep": ["x {% adress[0] %}"]}, "unknown-variable", "tests.rtt.spec.value.deep[0]"),
        ("{% address[2] %}", "unknown-variable", "tests.rtt.spec.value"),
        ("{%    %}", "unknown-variable", "tests.rtt.spec.value"),
    ],
)
def test_task_with_a_variable_without_value_is_skipped(value: Any, reason: str, field: str) -> None:
    found = filled(value)
    assert (found.tasks, reasons(found)) == ((), {"t": reason})
    assert found.skipped[0].text.startswith(f"{field}: ")


def test_without_any_agent_there_is_no_task() -> None:
    addresses = {name: {**address, "no-agent": True} for name, address in SMALL["addresses"].items()}
    assert expansion(addresses=addresses) == ((), ())


def test_task_scheduled_by_an_address_beyond_the_list_is_skipped() -> None:
    found = expansion(tasks={"t": {"group": "all", "test": "rtt", "scheduled-by": 2}, **SMALL["tasks"]})
    assert (len(found.tasks), reasons(found)) == (6, {"t": "scheduled-by"})


def test_task_with_a_context_is_skipped_where_the_context_is() -> None:
    addresses = {**PLAIN, "a": {**PLAIN["a"], "contexts": ["ns"]}}
    contexts = {"ns": {"context": "linuxnns", "data": {"namespace": "of-{% jq .x %}"}}}
    group = {"type": "mesh", "addresses": named(*"abc")}
    tasks = {"t": {"group": "g", "test": "rtt"}}
    found = expansion(addresses=addresses, contexts=contexts, groups={"g": group}, tasks=tasks, archives={})
    assert {each.id for each in found.tasks} == {
        "t:b/b.example.net>c/c.example.net",
        "t:c/c.example.net>b/b.example.net",
    }
    assert [(each.reason, each.count) for each in found.skipped] == [("contexts", 4)]


def test_addresses_with_one_address_are_one() -> None:
    """``excludes-self: address`` compares addresses, as pSConfig does."""
    addresses = {**PLAIN, "b": PLAIN["a"]}
    group = {"type": "mesh", "addresses": named(*"abc"), "excludes-self": "address"}
    assert set(pairs(group, addresses)) == {*between("ac", "ca")}


def test_mesh_that_gives_too_many_tasks_is_refused_before_pairs_are_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("measurement.psconfig.expand.lists", None)  # a call would fail
    addresses = {f"a{number}": {"address": f"a{number}.example.net"} for number in range(3000)}
    group = {"type": "mesh", "addresses": named(*addresses)}
    with refused("bad-template", "tasks.t"):
        expansion(addresses=addresses, groups={"g": group}, tasks={"t": {"group": "g", "test": "rtt"}})


def test_address_class_is_evaluated_once_for_an_address() -> None:
    """Each class asks the next one twice: without a memory the last is asked 2^60 times."""
    source = {"data-source": {"type": "current-config"}}
    twice = [
        {"type": "or", "filters": [{"type": "address-class", "class": f"c{number + 1}"}] * 2}
        for number in range(60)
    ]
    classes = {f"c{number}": {**source, "match-filter": condition} for number, condition in enumerate(twice)}
    classes["c60"] = {**source, "match-filter": {"type": "tag", "tag": "none"}}
    group = {"type": "list", "addresses": [{"class": "c0"}]}
    assert pairs(group, PLAIN, **{"address-classes": classes}) == []


def test_each_address_is_made_into_a_place_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work for one pair does not grow with the group."""
    made: list[str] = []
    bracketed = expanding._format_address
    monkeypatch.setattr(expanding, "_format_address", lambda text: made.append(text) or bracketed(text))  # type: ignore[func-returns-value]
    addresses = {f"a{number}": {"address": f"a{number}.example.net"} for number in range(100)}
    group = {"type": "mesh", "addresses": named(*addresses)}
    assert len(pairs(group, addresses)) == 9900
    assert len(made) == 100


def test_a_disabled_task_is_none() -> None:
    assert expansion(tasks={"t": {"group": "all", "test": "rtt", "disabled": True}}) == ((), ())
