"""The filters, run by an interpreter of the instructions that they use (bpf(4))."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.health.model import Pair
from mininet_topos.cloud.choreo import tree
from mininet_topos.cloud.classes import changed_lines, queue_bytes, router_lines
from mininet_topos.cloud.description import Cloud, Guest, Limit, Path, Router


def interpreted(code: str, source: int, destination: int) -> int:
    """What a filter makes of a packet, by the last octets of its addresses."""
    octets = {0xFFF0000F: source, 0xFFF00013: destination}
    count, *texts = code.split(",")
    program = [tuple(map(int, text.split())) for text in texts]
    assert int(count) == len(program)
    at, accumulator = 0, 0
    while True:
        operation, yes, no, operand = program[at]
        at += 1
        match operation:
            case 48:
                accumulator = octets[operand]
            case 100:
                accumulator <<= operand
            case 68:
                accumulator |= operand
            case 21:
                at += yes if accumulator == operand else no
            case 6:
                return operand
            case 22:
                return accumulator
            case _:
                raise AssertionError(f"unknown operation {operation}")


def class_of(lines: list[str], source: int, destination: int) -> str:
    """Where HTB puts a packet: by a filter to an inner class, by that one's to a leaf (htb_classify)."""
    filters = dict(
        match.groups() for line in lines if (match := re.search(r'parent (\S+) .* bytecode "(.*)"', line))
    )
    at = "1:"
    while at in filters:
        found = interpreted(filters[at], source, destination)
        at = f"{found >> 16:x}:{found & 0xFFFF:04x}"
    return at


def classes(lines: list[str]) -> Mapping[str, tuple[str, str]]:
    """Parent and parameters by class."""
    found = (re.match(r"class add dev shape parent (\S+) classid (\S+) htb (.*)", line) for line in lines)
    return {match[2]: (match[1], match[3]) for match in found if match}


@st.composite
def clouds(draw: st.DrawFn) -> Cloud:
    count = draw(st.integers(2, 12))
    names = [f"g{number}" for number in range(count)]
    machines = st.sampled_from(["", "", "m0", "m1"])
    hoses = st.sampled_from([None, Limit(1e6), Limit(1e7, 5e7, 1e6)])
    guests = tuple(Guest(name, "core", machine=draw(machines), egress=draw(hoses)) for name in names)
    rates = st.none() | st.floats(1e5, 1e9)
    pairs = st.tuples(st.sampled_from(names), st.sampled_from(names)).filter(lambda two: two[0] != two[1])
    paths = draw(st.dictionaries(pairs.map(lambda two: Pair(*two)), rates.map(Path)))
    return Cloud("drawn", (Router("core"),), guests, paths)


@given(clouds())
def test_each_packet_is_limited_by_its_path_in_its_hose(cloud):
    lines = [*router_lines(cloud, cloud.guests)]
    known = classes(lines)
    for guest in cloud.guests:
        source = cloud.octet(guest.name)
        for other in cloud.guests:
            if other is guest:
                continue
            pair, target = Pair(guest.name, other.name), cloud.octet(other.name)
            chosen = class_of(lines, source, target)
            parent, parameters = known[chosen]
            ceiling = float(re.search(r"ceil (\d+)bit", parameters)[1])
            rate = cloud.path(pair).rate
            own = rate is not None or cloud.neighbours(pair)
            assert chosen == (f"1:{source:02x}{target:02x}" if own else f"1:{source:02x}ff")
            assert parent == ("1:" if cloud.neighbours(pair) else f"1:{source:02x}00")
            limits = [1e10] if rate is None else [rate]
            if guest.egress is not None and not cloud.neighbours(pair):
                limits.append(guest.egress.peak or guest.egress.rate)
            assert ceiling == pytest.approx(min(limits), abs=1)


@given(clouds())
def test_assured_shares_are_within_the_hose(cloud):
    """Else the hose would limit nothing: HTB lends beyond what is assured only (tc-htb(8))."""
    known = classes([*router_lines(cloud, cloud.guests)])
    for guest in cloud.guests:
        if guest.egress is not None:
            hose = f"1:{cloud.octet(guest.name):02x}00"
            shares = [
                float(re.match(r"rate (\d+)bit", its)[1]) for parent, its in known.values() if parent == hose
            ]
            assert sum(shares) <= guest.egress.rate + len(shares)


@given(clouds())
def test_every_leaf_has_a_queue_and_no_class_is_there_twice(cloud):
    lines = [*router_lines(cloud, cloud.guests)]
    added = [line.split()[7] for line in lines if line.startswith("class add")]
    assert len({*added}) == len(added)
    queues = {line.split()[5] for line in lines if "bfifo" in line}
    parents = {parent for parent, _ in classes(lines).values()}
    assert queues == {*added} - parents - {f"1:{cloud.octet(guest.name):02x}00" for guest in cloud.guests}


def test_a_hose_with_a_peak_has_its_bucket():
    guests = (Guest("one", "core", egress=Limit(8e6, 20e6, 6e6)), Guest("other", "core"))
    known = classes([*router_lines(Cloud("c", (Router("core"),), guests), guests)])
    assert known["1:0100"][1].startswith("rate 8000000bit burst 6000000 ceil 20000000bit ")


def test_a_change_names_what_was_built():
    cloud = tree()
    pair = Pair("r0m0g0", "r1m0g0")
    limited = replace(cloud, paths={**cloud.paths, pair: Path(rate=5e6)})
    (built,) = [
        line for line in router_lines(limited, limited.guests) if re.search(r"class add .* 1:0103 ", line)
    ]
    (changed,) = changed_lines(limited, limited.guests[0], "r1m0g0")
    assert changed == built.replace("class add", "class change")


@pytest.mark.parametrize(("rate", "queue", "expected"), [(1e5, 0.05, 302_800), (1e9, 0.05, 6_250_000)])
def test_a_queue_holds_its_time_but_always_200_frames(rate, queue, expected):
    assert queue_bytes(rate, queue) == expected
