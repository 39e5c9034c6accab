"""Specifications checked before they are sent: pure.

A server's own words for a wrong specification are "not valid under any of the given schemas", or a
traceback.  The tables name every field of the tests that this project asks for, the schema that brought
it, and what it may hold (pScheduler 5.2).  A test that is not in the tables is left to the server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from measurement.pscheduler.iso8601 import parse_duration
from measurement.pscheduler.specs import Kind, TestRequest


class Field(NamedTuple):
    """A field of a specification.

    :param objection: what is wrong with a value; None for nothing.
    :param schema: the first schema of the specification that has it.
    """

    objection: Callable[[object], str | None]
    schema: int = 1


def _is(kind: type, words: str) -> Callable[[object], str | None]:
    def objection(value: object) -> str | None:
        right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        return None if right else f"must be {words}"

    return objection


def _whole(least: int, most: int = 2**63) -> Callable[[object], str | None]:
    def objection(value: object) -> str | None:
        right = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
        return None if right else f"must be a whole number from {least} to {most}"

    return objection


def _seconds(above: float, below: float = 1e9) -> Callable[[object], str | None]:
    def objection(value: object) -> str | None:
        right = isinstance(value, int | float) and not isinstance(value, bool) and above < value < below
        return None if right else f"must be a number of seconds above {above:g} and below {below:g}"

    return objection


def _duration(value: object) -> str | None:
    try:
        parse_duration(value if isinstance(value, str) else "")
    except ValueError:
        return "must be an ISO 8601 duration such as PT10S"
    return None


def _longer_than_zero(value: object) -> str | None:
    wrong = _duration(value)
    if wrong is None and parse_duration(str(value)) == 0:
        return "must be longer than zero"
    return wrong


def _host(value: object) -> str | None:
    right = isinstance(value, str) and value and not any(character.isspace() for character in value)
    return None if right else "must be the name or address of a host"


def _ports(value: object) -> str | None:
    right = isinstance(value, dict) and {*value} == {"lower", "upper"} and not any(map(_PORT, value.values()))
    return None if right else 'must be a range of ports such as {"lower": 8760, "upper": 9960}'


def _word(value: object) -> str | None:
    return None if isinstance(value, str) and value else "must be a word such as cubic"


def _one_of(*values: object) -> Callable[[object], str | None]:
    return lambda value: (
        None if value in values and not isinstance(value, bool) else f"must be one of {values}"
    )


_FLAG, _TEXT = _is(bool, "true or false"), _is(str, "text")
_COUNT, _BITS, _BYTES, _PORT = _whole(1), _whole(1), _whole(0), _whole(0, 65_535)
_OCTET, _TTL = _whole(0, 255), _whole(1, 255)
_ENDS = {
    "schema": Field(_COUNT),
    "dest": Field(_host),
    "source": Field(_host),
    "source-node": Field(_host),
    "ip-tos": Field(_OCTET),
    "ip-version": Field(_one_of(4, 6)),
}
_THROUGHPUT = {
    **_ENDS,
    "dest-node": Field(_host),
    "duration": Field(_longer_than_zero),
    "interval": Field(_longer_than_zero),
    "omit": Field(_duration),
    "parallel": Field(_COUNT),
    "udp": Field(_FLAG),
    "bandwidth": Field(_BITS),
    "window-size": Field(_COUNT),
    "mss": Field(_COUNT),
    "buffer-length": Field(_COUNT),
    "local-address": Field(_host),
    "no-delay": Field(_FLAG),
    "congestion": Field(_word),
    "zero-copy": Field(_FLAG),
    "flow-label": Field(_COUNT),
    "client-cpu-affinity": Field(_BYTES),
    "server-cpu-affinity": Field(_BYTES),
    "reverse": Field(_FLAG),
    "single-ended": Field(_FLAG, 2),
    "single-ended-port": Field(_PORT, 2),
    "link-rtt": Field(_duration, 3),
    "bandwidth-strict": Field(_FLAG, 4),
    "burst-size": Field(_COUNT, 4),
    "loopback": Field(_FLAG, 5),
    "reverse-connections": Field(_FLAG, 6),
    "fq-rate": Field(_BITS, 7),
}
_PACKETS = {
    **_ENDS,
    "dest-node": Field(_host),
    "packet-count": Field(_COUNT),
    "packet-interval": Field(_seconds(0)),
    "packet-timeout": Field(_whole(0)),
    "packet-padding": Field(_BYTES),
    "ctrl-port": Field(_PORT),
    "data-ports": Field(_ports),
    "bucket-width": Field(_seconds(0, 1)),
    "output-raw": Field(_FLAG),
    "flip": Field(_FLAG),
}
_LATENCY = {
    **_PACKETS,
    "reverse": Field(_FLAG, 2),
    "traverse-nat": Field(_FLAG, 3),
    "protocol": Field(_TEXT, 4),
}
_LATENCYBG = {**_PACKETS, "duration": Field(_longer_than_zero), "protocol": Field(_TEXT, 2)}
_RTT = {
    **_ENDS,
    "count": Field(_COUNT),
    "interval": Field(_longer_than_zero),
    "timeout": Field(_longer_than_zero),
    "deadline": Field(_longer_than_zero),
    "length": Field(_COUNT),
    "ttl": Field(_TTL),
    "hostnames": Field(_FLAG),
    "flow-label": Field(_BYTES),
    "suppress-loopback": Field(_FLAG),
    "protocol": Field(_TEXT, 2),
    "fragment": Field(_FLAG, 3),
    "port": Field(_PORT, 4),
}
_TRACE = {
    **_ENDS,
    "algorithm": Field(_TEXT),
    "as": Field(_FLAG),
    "first-ttl": Field(_TTL),
    "hops": Field(_TTL),
    "hostnames": Field(_FLAG),
    "ip-tos": Field(_TTL),  # the trace plug-in calls it a cardinal
    "length": Field(_COUNT),
    "probe-type": Field(_one_of("icmp", "udp", "tcp")),
    "dest-port": Field(_PORT),
    "queries": Field(_COUNT),
    "sendwait": Field(_duration),
    "wait": Field(_duration),
    "fragment": Field(_FLAG),
    "flow-label": Field(_COUNT, 2),
}
_TABLES: Mapping[str, Mapping[str, Field]] = {
    Kind.THROUGHPUT: _THROUGHPUT,
    Kind.LATENCY: _LATENCY,
    Kind.LATENCYBG: _LATENCYBG,
    Kind.RTT: _RTT,
    Kind.TRACE: _TRACE,
}


def problems(test: TestRequest) -> list[str]:
    """What is wrong with a specification, a line per field; nothing for a test that is not known here."""
    table = _TABLES.get(test.kind)
    if table is None:
        return []
    found = [] if "dest" in test.spec else [f"{test.kind}.dest: is missing"]
    for name, value in test.spec.items():
        if not name.startswith("#"):  # a comment, which servers drop
            wrong = table[name].objection(value) if name in table else "is no field of this test"
            if wrong is not None:
                found.append(f"{test.kind}.{name[:40]}: {wrong}")
    needed, declared = smallest_schema(test), test.spec.get("schema", 1)
    if not found and isinstance(declared, int) and declared < needed:
        found.append(f"{test.kind}.schema: is {declared}, the fields need {needed}")
    return found


def smallest_schema(test: TestRequest) -> int:
    """The first schema that has all the fields of a specification: older servers know fewer."""
    table = _TABLES.get(test.kind, {})
    return max((table[name].schema for name in test.spec if name in table), default=1)
