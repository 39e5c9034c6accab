"""Comparison of a host with its advice, setting by setting.

[ADON] 5.3: "it is important to change the configurations at both the source and destination edge nodes".  So
advice counts as applied only if *both* hosts have all of it; an unknown setting is not applied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from adon.tcp_advice.advice import HostAdvice
from adon.tcp_advice.congestion_control import KEY
from adon.tcp_advice.facts import HostFacts
from adon.tcp_advice.parts import Compare, Setting
from adon.units import format_rate

LIMITED_SHARE = 0.1
"""Connections that waited for more than this part of their busy time get a remark."""

PACE_TOLERANCE = 1.01
"""``tc`` prints a rate with three or four digits, so the present value can be slightly larger."""


class Verdict(StrEnum):
    """Verdict on one setting, or on a host."""

    APPLIED = "applied"
    DIFFERS = "differs"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Finding:
    """Recommended and present value of one setting; None if the present value is unknown."""

    setting: Setting
    present: str | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Check:
    """Result of the comparison for one host.

    :param remarks: observations about its connections, in words.
    """

    host: str
    role: str
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...] = ()
    source: str = ""
    observed_at: float | None = None

    @property
    def verdict(self) -> Verdict:
        """DIFFERS if one setting differs; else UNKNOWN if one is unknown or there is none; else APPLIED."""
        verdicts = {finding.verdict for finding in self.findings}
        if Verdict.DIFFERS in verdicts:
            return Verdict.DIFFERS
        return Verdict.APPLIED if verdicts == {Verdict.APPLIED} else Verdict.UNKNOWN


def check_host(advice: HostAdvice, host: HostFacts) -> Check:
    """Compare the present settings of a host with the advice for it."""
    findings = tuple(_finding(setting, host) for setting in advice.settings)
    return Check(
        advice.host, advice.role, findings, tuple(_remarks(host, advice.role)), host.source, host.observed_at
    )


def _finding(setting: Setting, host: HostFacts) -> Finding:
    present = host.text(setting.key) if setting.kind == "sysctl" else _interface_value(setting.key, host)
    if present is None:
        return Finding(setting, None, Verdict.UNKNOWN)
    if setting.key == "qdisc":
        return Finding(setting, present, _check_pace(setting.value, host))
    as_good = _is_as_good(setting, present)
    if as_good is None:
        return Finding(setting, present, Verdict.UNKNOWN)
    return Finding(setting, present, Verdict.APPLIED if as_good else Verdict.DIFFERS)


def _interface_value(key: str, host: HostFacts) -> str | None:
    interface = host.interface
    if interface is None:
        return None
    if key == "qdisc":
        pace = "" if interface.pace is None else f" maxrate {format_rate(interface.pace)}"
        return f"{interface.discipline}{pace}" if interface.discipline else None
    number = {"mtu": interface.mtu, "queue": interface.queue}.get(key)
    return None if number is None else str(number)


def _is_as_good(setting: Setting, present: str) -> bool | None:
    """Whether a present value is as good as the recommended one; None if it is not a number."""
    if setting.compare is Compare.EQUAL:
        return present.split() == setting.value.split()
    has, wanted = _last_number(present), _last_number(setting.value)
    return None if has is None or wanted is None else has >= wanted


def _last_number(text: str) -> int | None:
    """One number itself; the maximum of three."""
    words = text.split()
    return int(words[-1]) if words and re.fullmatch(r"-?[0-9]{1,19}", words[-1]) else None


def _check_pace(wanted: str, host: HostFacts) -> Verdict:
    interface = host.interface
    if interface is None or interface.discipline != "fq":
        return Verdict.DIFFERS
    if interface.pace is None:
        return Verdict.UNKNOWN  # ip link prints only the kind
    most = float(wanted.split()[-1].removesuffix("kbit")) * 1e3
    return Verdict.APPLIED if interface.pace <= most * PACE_TOLERANCE else Verdict.DIFFERS


def _remarks(host: HostFacts, role: str) -> Iterator[str]:
    """What limits its connections; only the sending host knows that (``tcp_info``)."""
    limited = [one for one in host.connections if max(one.receive_limited, one.send_limited) > LIMITED_SHARE]
    for one in limited[:10]:
        if one.receive_limited > LIMITED_SHARE:
            yield (
                f"{one.peer}: the receiver's window limited it in {one.receive_limited:.0%} of its time; "
                "the receiver needs larger buffers"
            )
        if one.send_limited > LIMITED_SHARE:
            yield (
                f"{one.peer}: the send buffer limited it in {one.send_limited:.0%} of its time; "
                "this host needs larger buffers"
            )
    others = {one.control for one in host.connections if one.control} - {host.text(KEY)}
    if role == "sender" and others:
        yield f"connections use {', '.join(sorted(others))}: a new setting applies to new connections only"
