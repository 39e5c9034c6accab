"""A host's present settings, read from what its own commands print or a measurement point observed.

Lines of several commands may stand in one text, in any order: each is known by its form.

| command | gives |
| --- | --- |
| ``sysctl -a`` | kernel settings (``key = value``) |
| ``ip -d link`` | MTU, the driver's limit, txqueuelen, queueing discipline |
| ``tc qdisc`` | root queueing discipline, its pace |
| ``ethtool INTERFACE`` | speed |
| ``ss -tin`` | connections: RTT, MSS, congestion window, what held them back |
| ``grep MemTotal /proc/meminfo`` | memory |

What is not of these is passed over; a text in which nothing is known is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from adon.broker.tuning.facts import Connection, HostFacts, Interface
from adon.errors import InvalidInput
from adon.values import FrozenMap

KEPT = ("net.core.", "net.ipv4.tcp_", "kernel.osrelease")
"""What of ``sysctl -a`` is looked at."""

MOST_CHARACTERS = 4_000_000
"""``sysctl -a`` of a large router is about a megabyte."""

LARGEST = 10**15
"""A larger number is none that Linux prints for what is read here."""

_SYSCTL = re.compile(r"(?P<key>[a-z][a-z0-9_]*(?:[./][A-Za-z0-9_-]+)+)\s*=\s?(?P<value>.*)")
_LINK = re.compile(r"\d+: (?P<name>[^\s:@]+)(?:@\S+)?: <(?P<flags>[A-Z0-9_,-]*)>(?P<rest>.*)")
_QDISC = re.compile(r"qdisc (?P<kind>\S+) \S+ dev (?P<name>\S+) (?:root|parent \S*:\S*)(?P<rest>.*)")
_SPEED_OF = re.compile(r"Settings for (?P<name>\S+):")
_SPEED = re.compile(r"\s+Speed: (?P<rate>\d+)Mb/s")
_MEMORY = re.compile(r"MemTotal:\s+(?P<kib>\d+) kB")
_SOCKET = re.compile(r"[A-Z][A-Z0-9-]+\s+\d+\s+\d+\s+\S+:\S+\s+(?P<peer>\S+:\S+)")
_RATES = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[KMGT]?)bit")


@dataclass(slots=True)
class _Found:
    """What the lines have told so far."""

    sysctl: dict[str, str] = field(default_factory=dict)
    interfaces: dict[str, Interface] = field(default_factory=dict)
    connections: list[Connection] = field(default_factory=list)
    memory: int | None = None
    link: str = ""
    speed_of: str = ""
    peer: str = ""
    lines: int = 0

    def interface(self, name: str) -> Interface:
        return self.interfaces.get(name, Interface(name))


def read_host(
    text: str, name: str, interface: str | None = None, observed_at: float | None = None
) -> HostFacts:
    """A host's settings from what its commands printed.

    :param interface: which one its transfers use; else the fastest that is up.
    :raises InvalidInput: for a text in which nothing is known, that is too long, or that lacks the interface.
    """
    if len(text) > MOST_CHARACTERS:
        raise InvalidInput.of("text", f"is longer than {MOST_CHARACTERS} characters")
    found = _Found()
    for line in text.splitlines():
        found.lines += _took(line, found)
    if not found.lines:
        commands = "sysctl -a, ip -d link, tc qdisc, ethtool, ss -tin"
        raise InvalidInput.of("text", f"has no line that {commands} would print")
    return HostFacts(
        name,
        FrozenMap(found.sysctl),
        chosen_interface(found.interfaces.values(), interface),
        found.memory,
        tuple(found.connections),
        observed_at,
        "its own commands",
    )


def chosen_interface(interfaces: Iterable[Interface], wanted: str | None) -> Interface | None:
    """The interface that was named; else the fastest that is up; None if there is none.

    :raises InvalidInput: if there are some, and none of that name.
    """
    listed = [one for one in interfaces if one.name != "lo"]
    if wanted is None:
        ready = [one for one in listed if one.up is not False]
        return max(ready, key=lambda one: -1.0 if one.rate is None else one.rate, default=None)
    for one in listed:
        if one.name == wanted:
            return one
    if not listed:
        return None
    raise InvalidInput.of("interface", f"there is no {wanted[:40]!r}; there are {_names(listed)}")


def _names(interfaces: list[Interface]) -> str:
    return ", ".join(one.name for one in interfaces[:20])


def _took(line: str, found: _Found) -> bool:
    """Whether a line was of a known form; what it says is noted."""
    if line[:1].isspace():
        return _took_continuation(line, found)
    found.link = found.speed_of = ""
    for form, take in _FORMS:
        if match := form.fullmatch(line.rstrip()):
            take(match, found)
            return True
    return False


def _took_continuation(line: str, found: _Found) -> bool:
    if found.link and (limit := _word(line, "maxmtu")) is not None:
        # 0 stands for no limit of the driver's own.
        link = found.interface(found.link)
        found.interfaces[found.link] = replace(link, largest_mtu=limit if limit else None)
        return True
    if found.speed_of and (match := _SPEED.fullmatch(line.rstrip())):
        rate = float(match["rate"]) * 1e6
        found.interfaces[found.speed_of] = replace(found.interface(found.speed_of), rate=rate)
        return True
    if found.peer and "rtt:" in line:
        found.connections.append(_connection(found.peer, line))
        found.peer = ""
        return True
    return False


def _take_sysctl(match: re.Match[str], found: _Found) -> None:
    key = match["key"].replace("/", ".")
    if key.startswith(KEPT):
        found.sysctl[key] = " ".join(match["value"].split())[:1000]


def _take_link(match: re.Match[str], found: _Found) -> None:
    name, rest = match["name"], match["rest"]
    found.link = name
    kind = re.search(r"\bqdisc (\S+)", rest)
    found.interfaces[name] = replace(
        found.interface(name),
        mtu=_word(rest, "mtu"),
        queue=_word(rest, "qlen"),
        discipline=found.interface(name).discipline or ("" if kind is None else kind[1]),
        up="UP" in match["flags"].split(","),
    )


def _take_qdisc(match: re.Match[str], found: _Found) -> None:
    """Of the root, or (below ``mq``) of the queues, which all have the same."""
    name, rest = match["name"], match["rest"]
    if match["kind"] == "mq":
        return
    pace = re.search(r"\bmaxrate (\S+)", rest)
    found.interfaces[name] = replace(
        found.interface(name), discipline=match["kind"], pace=None if pace is None else _bits(pace[1])
    )


def _take_speed_of(match: re.Match[str], found: _Found) -> None:
    found.speed_of = match["name"]


def _take_memory(match: re.Match[str], found: _Found) -> None:
    found.memory = min(LARGEST, int(match["kib"][:15]) * 1024)


def _take_socket(match: re.Match[str], found: _Found) -> None:
    found.peer = match["peer"]
    line = match.string
    if "rtt:" in line:  # ss -O prints a connection in one line
        found.connections.append(_connection(found.peer, line))
        found.peer = ""


_FORMS = (
    (_SYSCTL, _take_sysctl),
    (_LINK, _take_link),
    (_QDISC, _take_qdisc),
    (_SPEED_OF, _take_speed_of),
    (_MEMORY, _take_memory),
    (re.compile(_SOCKET.pattern + r".*"), _take_socket),
)


def _word(text: str, name: str) -> int | None:
    """The whole number behind a word; None if there is none."""
    found = re.search(rf"\b{name} (\d{{1,15}})\b", text)
    return None if found is None else int(found[1])


def _bits(text: str) -> float | None:
    """A rate as ``tc`` prints it (``900Mbit``, ``1200Kbit``), bits/s."""
    found = _RATES.fullmatch(text)
    if found is None:
        return None
    factor = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[found["unit"]]
    return float(found["number"][:15]) * factor


def _connection(peer: str, line: str) -> Connection:
    """The details that ``ss -i`` prints of one connection; times there are milliseconds."""
    fields = dict(part.split(":", 1) for part in line.split() if ":" in part)
    first = next((word for word in line.split() if word in _CONTROLS), "")
    times = fields.get("rtt", "").partition("/")[0]
    return Connection(
        peer=peer,
        control=first,
        rtt=_milliseconds(times),
        least_rtt=_milliseconds(fields.get("minrtt", "")),
        mss=_whole(fields.get("mss", "")),
        window=_whole(fields.get("cwnd", "")),
        held_back=(_part(fields.get("rwnd_limited", "")), _part(fields.get("sndbuf_limited", ""))),
    )


_CONTROLS = frozenset(
    ("bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv", "reno")
) | frozenset(("scalable", "vegas", "veno", "westwood", "yeah"))
"""The congestion controls of the mainline kernel, by which the word is known."""


def _milliseconds(text: str) -> float | None:
    return float(text) / 1e3 if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text) else None


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\d{1,12}", text) else None


def _part(text: str) -> float:
    """0.125 of ``1234ms(12.5%)``."""
    found = re.search(r"\((\d{1,3}(?:\.\d{1,6})?)%\)", text)
    return 0.0 if found is None else min(1.0, float(found[1]) / 100)


def observed_host(
    name: str,
    settings: Mapping[str, Any],
    memory: float | None,
    observed_at: float,
    source: str,
    interface: str | None = None,
) -> HostFacts:
    """Return a host from the metric ``host.tcp`` of its measurement point.

    :param settings: the observation's parameters: ``sysctl`` and ``interfaces``.
    """
    sysctl = settings.get("sysctl")
    listed = settings.get("interfaces")
    known = {str(key): str(value) for key, value in sysctl.items()} if isinstance(sysctl, Mapping) else {}
    interfaces = (
        [_observed(one) for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    )
    names = {one.name for one in interfaces}
    return HostFacts(
        name,
        FrozenMap(known),
        chosen_interface(interfaces, interface if interface in names else None),
        None if memory is None or not 0 < memory < LARGEST else int(memory),
        (),
        observed_at,
        source,
    )


def _observed(interface: Mapping[str, Any]) -> Interface:
    def whole(key: str) -> int | None:
        value = interface.get(key)
        usable = isinstance(value, int) and not isinstance(value, bool) and 0 < value < LARGEST
        return int(value) if usable and value is not None else None

    rate = whole("rate")
    return Interface(
        str(interface.get("name", ""))[:40],
        mtu=whole("mtu"),
        largest_mtu=whole("largest_mtu"),
        queue=whole("queue"),
        discipline=str(interface.get("discipline", ""))[:40],
        rate=None if rate is None else float(rate),
        up=interface["up"] if isinstance(interface.get("up"), bool) else None,
    )
