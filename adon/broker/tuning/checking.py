"""Whether a host has what was advised: setting by setting, present value against wanted one.

[ADON] 5.3: "it is important to change the configurations at both the source and destination edge nodes".  So
advice counts as applied only when *both* hosts have all of it; what is not known of a host is not applied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from adon.broker.tuning.advice import HostAdvice
from adon.broker.tuning.facts import HostFacts
from adon.broker.tuning.item import Compare, Setting
from adon.units import format_rate

HELD_BACK = 0.1
"""Connections that waited for more than this part of their busy time are told."""

PACE_TOLERANCE = 1.01
"""``tc`` prints a rate with three or four digits."""


class Verdict(StrEnum):
    """Of one setting, or of a host as a whole."""

    APPLIED = "applied"
    DIFFERS = "differs"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Finding:
    """One setting: what is wanted, and what is there; None where nothing tells."""

    setting: Setting
    present: str | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Check:
    """One host.

    :param remarks: what its connections show, in words.
    """

    host: str
    role: str
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...] = ()
    source: str = ""
    observed_at: float | None = None

    @property
    def verdict(self) -> Verdict:
        """Differs if anything does, else unknown if anything is, or nothing was advised."""
        verdicts = {finding.verdict for finding in self.findings}
        if Verdict.DIFFERS in verdicts:
            return Verdict.DIFFERS
        return Verdict.APPLIED if verdicts == {Verdict.APPLIED} else Verdict.UNKNOWN


def check(advice: HostAdvice, host: HostFacts) -> Check:
    """Hold a host's present settings against the advice for it."""
    findings = tuple(_finding(setting, host) for setting in advice.settings)
    return Check(
        advice.host, advice.role, findings, tuple(_remarks(host, advice.role)), host.source, host.observed_at
    )


def _finding(setting: Setting, host: HostFacts) -> Finding:
    present = host.word(setting.key) if setting.kind == "sysctl" else _of_interface(setting.key, host)
    if present is None:
        return Finding(setting, None, Verdict.UNKNOWN)
    if setting.key == "qdisc":
        return Finding(setting, present, _paced(setting.value, host))
    good = _as_good(setting, present)
    if good is None:
        return Finding(setting, present, Verdict.UNKNOWN)
    return Finding(setting, present, Verdict.APPLIED if good else Verdict.DIFFERS)


def _of_interface(key: str, host: HostFacts) -> str | None:
    interface = host.interface
    if interface is None:
        return None
    if key == "qdisc":
        pace = "" if interface.pace is None else f" maxrate {format_rate(interface.pace)}"
        return f"{interface.discipline}{pace}" if interface.discipline else None
    number = {"mtu": interface.mtu, "queue": interface.queue}.get(key)
    return None if number is None else str(number)


def _as_good(setting: Setting, present: str) -> bool | None:
    """Whether a present value is as good; None if it cannot be read."""
    if setting.compare is Compare.EQUAL:
        return present.split() == setting.value.split()
    has, wanted = _last_number(present), _last_number(setting.value)
    return None if has is None or wanted is None else has >= wanted


def _last_number(text: str) -> int | None:
    """Of one number itself, of three the maximum."""
    words = text.split()
    return int(words[-1]) if words and re.fullmatch(r"-?[0-9]{1,19}", words[-1]) else None


def _paced(wanted: str, host: HostFacts) -> Verdict:
    interface = host.interface
    if interface is None or interface.discipline != "fq":
        return Verdict.DIFFERS
    if interface.pace is None:
        return Verdict.UNKNOWN  # ip link tells the kind only
    most = float(wanted.split()[-1].removesuffix("kbit")) * 1e3
    return Verdict.APPLIED if interface.pace <= most * PACE_TOLERANCE else Verdict.DIFFERS


def _remarks(host: HostFacts, role: str) -> Iterator[str]:
    """What connections wait for; only the end that sends knows (``tcp_info``)."""
    waiting = [one for one in host.connections if max(one.held_back) > HELD_BACK]
    for one in waiting[:10]:
        window, buffer = one.held_back
        if window > HELD_BACK:
            part = f"{one.peer}: {window:.0%} of its time"
            yield f"{part} it waited for the receiver's window: larger buffers there"
        if buffer > HELD_BACK:
            yield f"{one.peer}: {buffer:.0%} of its time its own send buffer was full: larger buffers here"
    others = {one.control for one in host.connections if one.control} - {host.word(_CONTROL)}
    if role == "sender" and others:
        yield f"connections use {', '.join(sorted(others))}: a new setting holds for new connections only"


_CONTROL = "net.ipv4.tcp_congestion_control"
