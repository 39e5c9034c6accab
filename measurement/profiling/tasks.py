"""Which task an end of a conversation belongs to: a host, or a set of hosts and ports."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from measurement.profiling.packets import End


@dataclass(frozen=True, slots=True)
class Tasks:
    """A mapping of ends to tasks.

    :param names: all tasks, in the order of a profile.
    :param ends: address and port, to a task; :param hosts: what else these addresses have, likewise.
    """

    names: tuple[str, ...]
    ends: Mapping[End, str]
    hosts: Mapping[str, str]

    @classmethod
    def of(cls, written: Mapping[str, Iterable[str]]) -> Tasks:
        """From what people write: ``{"map": ["10.0.0.1", "10.0.0.2:7000", "[2001:db8::1]:7000"]}``.

        :raises ValueError: for an end that is none, or that is two tasks'; it names the task.
        """
        ends, hosts = dict[End, str](), dict[str, str]()
        for name, its in written.items():
            for text in its:
                try:
                    address, port = parse_end(text)
                except ValueError as error:
                    raise ValueError(f"tasks.{name}: {error}") from None
                before = hosts.get(address) if port is None else ends.get(End(address, port))
                if before is not None:
                    raise ValueError(f"tasks.{name}: {text!r} is {before}'s already")
                if port is None:
                    hosts[address] = name
                else:
                    ends[End(address, port)] = name
        return cls(tuple(written), ends, hosts)

    def task(self, end: End) -> str | None:
        """Whose this end is; a host and port before a host; None if it is nobody's."""
        return self.ends.get(end) or self.hosts.get(end.address)


_WRITTEN = re.compile(
    r"\[(?P<six>[^]]+)\](:(?P<six_port>.*))?|(?P<four>[^:]+)(:(?P<four_port>[^:]*))?|(?P<bare>.+)"
)
"""``[IPv6]``, ``[IPv6]:PORT``, ``IPv4``, ``IPv4:PORT``, ``IPv6``."""


def parse_end(text: str) -> tuple[str, int | None]:
    """An IP address in its usual form, and a port if there is one: ``10.0.0.1:7000``, ``[2001:db8::1]:7000``.

    :raises ValueError: for anything else.
    """
    found = _WRITTEN.fullmatch(text)
    parts = found.groupdict() if found else {}
    try:
        address = str(ipaddress.ip_address(parts.get("six") or parts.get("four") or parts.get("bare") or ""))
    except ValueError:
        raise ValueError(f"{text[:80]!r} is no IP address, with a port or without") from None
    port = parts["four_port"] if parts["six"] is None else parts["six_port"]
    if port is None:
        return address, None
    if not (port.isascii() and port.isdecimal() and 0 < int(port[:9]) < 65_536):
        raise ValueError(f"{text[:80]!r}: {port[:20]!r} is no port")
    return address, int(port)
