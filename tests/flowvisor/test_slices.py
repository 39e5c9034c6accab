"""Membership and limits of slices, and what the configuration refuses about them."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from adon import yamlfile
from adon.config import Configuration
from adon.config.slices import Slice
from adon.errors import InvalidInput, Problem
from adon.flowvisor.rules.slices import (
    Requester,
    SliceNeeds,
    Usage,
    find_violation,
    list_connections,
    permanent_violation,
    select_slice,
)
from adon.flowvisor.topology.path import FiveTuple
from tests.support.network_factories import NETWORK
from tests.support.refusals import refused

MU, OSU = ("10.1.0.10",), ("10.2.0.10",)


def part(number: int = 1, **fields: Any) -> dict[str, Any]:
    return {
        "number": number,
        "members": {"who": ["ann"]},
        "flowspace": [{"protocols": ["tcp"], "ports": ["5000-5099"]}],
        "share": 0.5,
        **fields,
    }


def one(**fields: Any) -> Slice:
    return Slice.model_validate(part(**fields))


def ask(*ports: int, protocol: int = 6, **fields: Any) -> SliceNeeds:
    tuples = [FiveTuple(protocol, port) for port in ports]
    values = {"ends": ("mu", "osu"), "priority": 500, **fields}
    return SliceNeeds(list_connections(MU, OSU, protocol, tuples), **values)


def network(**slices: dict[str, Any]) -> str:
    return yaml.safe_dump({**yaml.safe_load(NETWORK.read_text()), "slices": slices}, sort_keys=False)


def problems(**slices: dict[str, Any]) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        yamlfile.parse_model(network(**slices), Configuration, "net.yaml")
    return [f"{problem.field}: {problem.cause}" for problem in caught.value.problems]


# -- membership ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("members", "who", "belongs"),
    [
        ({"who": ["ann"]}, Requester("ann"), True),
        ({"who": ["ann"]}, Requester("bob"), False),
        ({"groups": ["g1", "g2"]}, Requester("bob", groups=frozenset({"g2"})), True),
        ({"groups": ["g1"], "roles": ["operator"]}, Requester("bob", groups=frozenset({"g1"})), False),
        ({"roles": ["operator"]}, Requester("bob", roles=frozenset({"operator"})), True),
    ],
)
def test_members_fit_all_that_is_given(members: dict[str, Any], who: Requester, belongs: bool) -> None:
    found = select_slice({"genomics": one(members=members)}, who, None, ask(5000))
    assert (found == "genomics") is belongs


def test_a_member_of_several_has_the_one_that_may_have_the_flow_or_names_one() -> None:
    slices = {"a": one(), "b": one(number=2, flowspace=[{"ports": [6000]}])}
    assert select_slice(slices, Requester("ann"), None, ask(6000)) == "b"
    assert select_slice(slices, Requester("ann"), "a", ask(6000)) == "a"
    alike = {"a": one(), "b": one(number=2)}
    for several, asked in ((slices, ask(7000)), (alike, ask(5000, priority=0))):
        assert isinstance(select_slice(several, Requester("ann"), None, asked), Problem)


def test_a_slice_that_somebody_is_no_member_of_is_refused_as_one_that_is_not_there() -> None:
    texts = set()
    for name in ("a", "nothing"):
        refused = select_slice({"a": one()}, Requester("bob"), name, ask(5000))
        assert isinstance(refused, Problem)
        assert (refused.field, refused.code) == ("slice", "forbidden")
        texts.add(refused.cause.replace(repr(name), ""))
    assert len(texts) == 1


# -- limits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "asked", "limit"),
    [
        ({}, ask(5000, 5100), ("slice", "outside-flowspace")),
        ({}, ask(5000, protocol=17), ("slice", "outside-flowspace")),
        ({}, ask(), ("slice", "outside-flowspace")),
        ({"flowspace": [{"source": ["10.2.0.0/16"]}]}, ask(5000), ("slice", "outside-flowspace")),
        ({"flowspace": [{"sites": ["mu", "kc"]}]}, ask(5000), ("slice", "outside-flowspace")),
        ({"priorities": [0, 499]}, ask(5000), ("priority", "out-of-range")),
        ({"dscp": ["LE"]}, ask(5000, dscp=46), ("marking.dscp", "unknown-value")),
    ],
)
def test_what_a_slice_may_never_have(
    fields: dict[str, Any], asked: SliceNeeds, limit: tuple[str, str]
) -> None:
    refused = permanent_violation("genomics", one(**fields), asked)
    assert refused is not None
    assert (refused.field, refused.code) == limit


def test_what_a_slice_may_have() -> None:
    assert permanent_violation("a", one(dscp=["LE"]), ask(5000, dscp=1)) is None
    assert permanent_violation("a", one(flowspace=[{}]), ask(protocol=17)) is None
    # Two entries together hold what neither holds alone.
    halves = [{"ports": ["5000-5049"]}, {"ports": ["5050-5099"]}]
    assert permanent_violation("a", one(flowspace=halves), ask(5049, 5050)) is None


@pytest.mark.parametrize(
    ("fields", "usage", "rules", "limit"),
    [
        ({}, Usage(), {}, None),
        ({}, Usage({"al2s": 25e6}), {}, None),
        ({}, Usage({"al2s": 25.1e6}), {}, ("share", "out-of-range")),
        ({}, Usage({"internet": 50e6}), {}, None),
        ({"share": {"internet": 0.5}}, Usage(), {}, ("share", "missing")),
        ({"flowspace": [{"paths": ["internet"]}]}, Usage(), {}, ("slice", "outside-flowspace")),
        ({"rule_budget": 10}, Usage(rules={1: 6}), {1: 4}, None),
        ({"rule_budget": 10}, Usage(rules={2: 7}), {1: 4, 2: 4}, ("rule_budget", "out-of-range")),
    ],
)
def test_what_a_slice_may_have_on_a_path_now(
    fields: dict[str, Any], usage: Usage, rules: dict[int, int], limit: tuple[str, str] | None
) -> None:
    refused = find_violation("a", one(**fields), ask(5000, bound=5e6), "al2s", 60e6, usage, rules)
    assert (None if refused is None else (refused.field, refused.code)) == limit


def test_a_host_with_two_addresses_asks_for_both() -> None:
    space = list_connections(("10.1.0.10", "fd00::1"), ("10.2.0.10", "fd00::2"), 6, [])
    assert [box.version for box in space] == [4, 6]
    only4 = one(flowspace=[{"source": ["10.0.0.0/8"]}])
    refused = permanent_violation("a", only4, SliceNeeds(space, ("mu", "osu"), 500))
    assert refused is not None
    assert "fd00::1" in refused.cause


# -- the configuration --------------------------------------------------------------------------------


def test_slices_are_read() -> None:
    text = network(a=part(share={"al2s": 0.5}, mark="LE"), b=part(2, flowspace=[{"ports": [6000]}]))
    read = yamlfile.parse_model(text, Configuration, "net.yaml")
    assert (
        read.slices["a"].mark,
        read.slices["a"].share_of("al2s"),
        read.slices["a"].share_of("internet"),
    ) == (1, 0.5, 0)
    assert read.slices["b"].share_of("internet") == 0.5


@pytest.mark.parametrize(
    ("other", "field", "cause"),
    [
        (part(1, flowspace=[{"ports": [6000]}]), "slices.b.number", "slices.a.number"),
        (
            part(2),
            "slices.b.flowspace.0",
            "overlaps that of slice 'a': tcp from 0.0.0.0 to 0.0.0.0 port 5000",
        ),
        (part(2, flowspace=[{"ports": [6000]}], share=0.6), "slices.b.share", "a 50 %, b 60 %"),
        (part(2, flowspace=[{"ports": [6000], "paths": ["x"]}]), "slices.b.flowspace.0.paths", "no path 'x'"),
        (
            part(2, flowspace=[{"ports": [6000], "sites": ["mu", "x"]}]),
            "slices.b.flowspace.0.sites",
            "no site 'x'",
        ),
        (part(2, flowspace=[{"ports": [6000]}], share={"x": 0.1}), "slices.b.share.x", "no path 'x'"),
        (part(2, flowspace=[{"ports": ["9-1"]}]), "slices.b.flowspace.0.ports", "'9-1'"),
        (part(2, flowspace=[{"sites": ["mu"]}]), "slices.b.flowspace.0.sites", "two sites"),
        (
            part(2, flowspace=[{"source": ["10.0.0.0/8"], "destination": ["fd00::/8"]}]),
            "slices.b.flowspace.0.destination",
            "no version of IP",
        ),
        (part(2, members={}), "slices.b.members.who", "no members"),
        (part(2, flowspace=[{"ports": [6000]}], priorities=[9, 1]), "slices.b.priorities", "highest"),
        (part(2, flowspace=[{"ports": [6000]}], dscp=["LE"], mark="EF"), "slices.b.mark", "EF"),
        (part(4096), "slices.b.number", "4095"),
    ],
)
def test_a_mistake_about_slices_is_named(other: dict[str, Any], field: str, cause: str) -> None:
    found = problems(a=part(), b=other)
    assert any(text.startswith(field) and cause in text for text in found), found


def test_slices_that_have_one_site_in_common_have_no_flow_in_common() -> None:
    body = yaml.safe_load(network(a=part(), b=part(2)))
    body["sites"]["kc"] = {"edge": "mu-edge", "gateway_mac": "02:00:00:00:0c:01", "hosts": {}}
    for name, sites in (("a", ["mu", "osu"]), ("b", ["osu", "kc"])):
        body["slices"][name]["flowspace"][0]["sites"] = sites
    assert len(yamlfile.parse_model(yaml.safe_dump(body), Configuration, "net.yaml").slices) == 2
    body["slices"]["b"]["flowspace"][0]["sites"].append("mu")
    with refused(InvalidInput, "slices.b.flowspace.0"):
        yamlfile.parse_model(yaml.safe_dump(body), Configuration, "net.yaml")


def test_slices_that_both_say_so_may_overlap() -> None:
    both = {"a": part(shared=True), "b": part(2, shared=True)}
    assert yamlfile.parse_model(network(**both), Configuration, "net.yaml").slices["b"].shared
    assert "overlaps" in problems(a=part(shared=True), b=part(2))[0]
