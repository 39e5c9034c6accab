"""Present settings of a host, parsed from the output of its own commands or from its measurement point.

One text can hold the output of several commands in any order; each line is recognised by its form.

| command | gives |
| --- | --- |
| ``sysctl -a`` | kernel settings (``key = value``) |
| ``ip -d link`` | MTU, limit of the driver, txqueuelen, queueing discipline |
| ``tc qdisc`` | root queueing discipline, its pace |
| ``ethtool INTERFACE`` | speed |
| ``ss -tin`` | connections: RTT, MSS, congestion window, what limited them |
| ``grep MemTotal /proc/meminfo`` | memory |

Other lines are ignored; a text without a known line is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from adon.errors import InvalidInput
from adon.tcp_advice.facts import Connection, HostFacts, Interface
from adon.values import FrozenMap

KEPT = ("net.core.", "net.ipv4.tcp_", "kernel.osrelease")
"""Prefixes of the settings that are kept from ``sysctl -a``."""

MOST_CHARACTERS = 4_000_000
"""``sysctl -a`` of a large router is about a megabyte."""

LARGEST = 10**15
"""Linux prints no larger number in these places."""

_SYSCTL = re.compile(r"(?P<key>[a-z][a-z0-9_]*(?:[./][A-Za-z0-9_-]+)+)\s*=\s?(?P<value>.*)")
_LINK = re.compile(r"\d+: (?P<name>[^\s:@]+)(?:@\S+)?: <(?P<flags>[A-Z0-9_,-]*)>(?P<rest>.*)")
_QDISC = re.compile(r"qdisc (?P<kind>\S+) \S+ dev (?P<name>\S+) (?:root|parent \S*:\S*)(?P<rest>.*)")
_ETHTOOL = re.compile(r"Settings for (?P<name>\S+):")
_SPEED = re.compile(r"\s+Speed: (?P<rate>\d+)Mb/s")
_MEMORY = re.compile(r"MemTotal:\s+(?P<kib>\d+) kB")
_SOCKET = re.compile(r"[A-Z][A-Z0-9-]+\s+\d+\s+\d+\s+\S+:\S+\s+(?P<peer>\S+:\S+)")
_RATES = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[KMGT]?)bit")


@dataclass(slots=True)
class _Parsed:
    """Values of the lines parsed so far, and the heading that the next indented line belongs to."""

    sysctl: dict[str, str] = field(default_factory=dict)
    interfaces: dict[str, Interface] = field(default_factory=dict)
    connections: list[Connection] = field(default_factory=list)
    memory: int | None = None
    link: str = ""
    ethtool: str = ""
    peer: str = ""
    lines: int = 0

    def interface(self, name: str) -> Interface:
        return self.interfaces.get(name, Interface(name))


def read_host(
    text: str, name: str, interface: str | None = None, observed_at: float | None = None
) -> HostFacts:
    """Return the settings of a host from the output of its commands.

    :param interface: interface of its transfers; default: the fastest that is up.
    :raises InvalidInput: for a text without a known line, a text that is too long or lacks the interface.
    """
    if len(text) > MOST_CHARACTERS:
        raise InvalidInput.of("text", f"is longer than {MOST_CHARACTERS} characters")
    found = _Parsed()
    for line in text.splitlines():
        found.lines += _parse_line(line, found)
    if not found.lines:
        commands = "sysctl -a, ip -d link, tc qdisc, ethtool, ss -tin"
        raise InvalidInput.of("text", f"has no line that {commands} would print")
    return HostFacts(
        name,
        FrozenMap(found.sysctl),
        choose_interface(found.interfaces.values(), interface),
        found.memory,
        tuple(found.connections),
        observed_at,
        "the output of its commands",
    )


def choose_interface(interfaces: Iterable[Interface], wanted: str | None) -> Interface | None:
    """Return the named interface, or the fastest that is up; None if there is none.

    :raises InvalidInput: if there are interfaces but none of that name.
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


def _parse_line(line: str, found: _Parsed) -> bool:
    """Store the values of a line; whether its form is known."""
    if line[:1].isspace():
        return _parse_indented(line, found)
    found.link = found.ethtool = ""
    for form, parse in _LINE_PARSERS:
        if match := form.fullmatch(line.rstrip()):
            parse(match, found)
            return True
    return False


def _parse_indented(line: str, found: _Parsed) -> bool:
    if found.link and (limit := _integer_after(line, "maxmtu")) is not None:
        # 0 means that the driver has no limit.
        link = found.interface(found.link)
        found.interfaces[found.link] = replace(link, largest_mtu=limit if limit else None)
        return True
    if found.ethtool and (match := _SPEED.fullmatch(line.rstrip())):
        rate = float(match["rate"]) * 1e6
        found.interfaces[found.ethtool] = replace(found.interface(found.ethtool), rate=rate)
        return True
    if found.peer and "rtt:" in line:
        found.connections.append(_parse_connection(found.peer, line))
        found.peer = ""
        return True
    return False


def _parse_sysctl(match: re.Match[str], found: _Parsed) -> None:
    key = match["key"].replace("/", ".")
    if key.startswith(KEPT):
        found.sysctl[key] = " ".join(match["value"].split())[:1000]


def _parse_link(match: re.Match[str], found: _Parsed) -> None:
    name, rest = match["name"], match["rest"]
    found.link = name
    kind = re.search(r"\bqdisc (\S+)", rest)
    found.interfaces[name] = replace(
        found.interface(name),
        mtu=_integer_after(rest, "mtu"),
        queue=_integer_after(rest, "qlen"),
        discipline=found.interface(name).discipline or ("" if kind is None else kind[1]),
        up="UP" in match["flags"].split(","),
    )


def _parse_qdisc(match: re.Match[str], found: _Parsed) -> None:
    """Store the root discipline, or (below ``mq``) that of the queues, which are all the same."""
    name, rest = match["name"], match["rest"]
    if match["kind"] == "mq":
        return
    pace = re.search(r"\bmaxrate (\S+)", rest)
    found.interfaces[name] = replace(
        found.interface(name),
        discipline=match["kind"],
        pace=None if pace is None else _parse_tc_rate(pace[1]),
    )


def _parse_ethtool(match: re.Match[str], found: _Parsed) -> None:
    found.ethtool = match["name"]


def _parse_memory(match: re.Match[str], found: _Parsed) -> None:
    found.memory = min(LARGEST, int(match["kib"][:15]) * 1024)


def _parse_socket(match: re.Match[str], found: _Parsed) -> None:
    found.peer = match["peer"]
    line = match.string
    if "rtt:" in line:  # ss -O prints a connection in one line
        found.connections.append(_parse_connection(found.peer, line))
        found.peer = ""


_LINE_PARSERS = (
    (_SYSCTL, _parse_sysctl),
    (_LINK, _parse_link),
    (_QDISC, _parse_qdisc),
    (_ETHTOOL, _parse_ethtool),
    (_MEMORY, _parse_memory),
    (re.compile(_SOCKET.pattern + r".*"), _parse_socket),
)


def _integer_after(text: str, name: str) -> int | None:
    """The integer after a word; None if there is none."""
    found = re.search(rf"\b{name} (\d{{1,15}})\b", text)
    return None if found is None else int(found[1])


def _parse_tc_rate(text: str) -> float | None:
    """A rate as ``tc`` prints it (``900Mbit``, ``1200Kbit``), bits/s."""
    found = _RATES.fullmatch(text)
    if found is None:
        return None
    factor = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[found["unit"]]
    return float(found["number"][:15]) * factor


def _parse_connection(peer: str, line: str) -> Connection:
    """Parse the details of one connection from ``ss -i``; its times are in milliseconds."""
    fields = dict(part.split(":", 1) for part in line.split() if ":" in part)
    first = next((word for word in line.split() if word in _CONTROLS), "")
    times = fields.get("rtt", "").partition("/")[0]
    return Connection(
        peer=peer,
        control=first,
        rtt=_milliseconds(times),
        min_rtt=_milliseconds(fields.get("minrtt", "")),
        mss=_integer(fields.get("mss", "")),
        window=_integer(fields.get("cwnd", "")),
        receive_limited=_share(fields.get("rwnd_limited", "")),
        send_limited=_share(fields.get("sndbuf_limited", "")),
    )


_CONTROLS = frozenset(
    ("bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv", "reno")
) | frozenset(("scalable", "vegas", "veno", "westwood", "yeah"))
"""Congestion controls of the mainline kernel: the word in the output that is one of them."""


def _milliseconds(text: str) -> float | None:
    return float(text) / 1e3 if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text) else None


def _integer(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\d{1,12}", text) else None


def _share(text: str) -> float:
    """0.125 of ``1234ms(12.5%)``."""
    found = re.search(r"\((\d{1,3}(?:\.\d{1,6})?)%\)", text)
    return 0.0 if found is None else min(1.0, float(found[1]) / 100)


def read_observation(
    name: str,
    settings: Mapping[str, Any],
    memory: float | None,
    observed_at: float,
    source: str,
    interface: str | None = None,
) -> HostFacts:
    """Return the settings of a host from the metric ``host.tcp`` of its measurement point.

    :param settings: the observation's parameters: ``sysctl`` and ``interfaces``.
    """
    sysctl = settings.get("sysctl")
    listed = settings.get("interfaces")
    known = {str(key): str(value) for key, value in sysctl.items()} if isinstance(sysctl, Mapping) else {}
    interfaces = (
        [_read_interface(one) for one in listed if isinstance(one, Mapping)]
        if isinstance(listed, list)
        else []
    )
    names = {one.name for one in interfaces}
    return HostFacts(
        name,
        FrozenMap(known),
        choose_interface(interfaces, interface if interface in names else None),
        None if memory is None or not 0 < memory < LARGEST else int(memory),
        (),
        observed_at,
        source,
    )


def _read_interface(interface: Mapping[str, Any]) -> Interface:
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
