"""How fast a link is, from what the Topology Zoo writes at it.

Three attributes say it, the first that is there counts: ``LinkSpeedRaw`` (bits/s, a number), ``LinkSpeed``
with ``LinkSpeedUnits`` (``10`` and ``G``), ``LinkLabel`` (what stood on the operator's map).  A label is read
if it is one rate; ``10-20Gbps``, ``< 2.5 Gbps`` and ``DWDM`` are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

UNITS = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

MOST = 1e15
"""Bits/s: more than any link has, or will have for long."""

STM_1 = 155.52e6
OC_1 = 51.84e6
"""Bits/s of the lowest rates of SDH (ITU-T G.707) and SONET (ANSI T1.105); STM-n and OC-n have n times as
many."""

LEASED = {"T1": 1.544e6, "DS1": 1.544e6, "E1": 2.048e6, "T3": 44.736e6, "DS3": 44.736e6, "E3": 34.368e6}
"""The plesiochronous hierarchy (ITU-T G.702)."""

ETHERNET = {"ETHERNET": 10e6, "FASTETHERNET": 100e6, "FE": 100e6} | dict.fromkeys(
    ("GIGABITETHERNET", "GE", "GBE", "GIGE"), 1e9
)

_TIMES = re.compile(r"(?P<times>[1-9][0-9]{0,2})\s*[x*]\s*(?P<rest>\S.*)", re.IGNORECASE)
_RATE = re.compile(
    r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[kmgt])"
    r"(?:b(?:it)?s?(?:ps|/s|/sec)?|(?:ig|b)?e|ig(?:abit)?|ps)?(?:\s*(?:ethernet|link|circuit))?",
    re.IGNORECASE,
)
_MULTIPLE = re.compile(r"(?P<kind>STM|OC)[- ]?(?P<times>[1-9][0-9]{0,3})c?", re.IGNORECASE)


def rate(said: Mapping[str, str]) -> float | None:
    """Bits/s of a link with these attributes; None if they do not say one rate.

    :raises ValueError: with each attribute that is not what it should be, a line each, ``attribute: cause``.
    """
    wrong = list(_wrong(said))
    if wrong:
        raise ValueError("\n".join(wrong))
    if "LinkSpeedRaw" in said:
        return float(said["LinkSpeedRaw"])
    if "LinkSpeed" in said and "LinkSpeedUnits" in said:
        return _speed(said)
    return labelled(said.get("LinkLabel", ""))


def _speed(said: Mapping[str, str]) -> float:
    return float(said["LinkSpeed"]) * UNITS[said["LinkSpeedUnits"].upper()]


def labelled(label: str) -> float | None:
    """Bits/s of ``10 Gbps``, ``2x10GE``, ``STM-16``, ``OC-48`` or ``E3``; None of anything else."""
    bits = _labelled(label.strip())
    # A rate of zero is a link that the map names and does not have.
    return bits if bits is not None and 0 < bits <= MOST else None


def _labelled(text: str) -> float | None:
    several = _TIMES.fullmatch(text)
    if several is not None:
        one = _labelled(several["rest"])
        return None if one is None else int(several["times"]) * one
    found = _RATE.fullmatch(text)
    if found is not None:
        return float(found["number"]) * UNITS[found["unit"].upper()]
    multiple = _MULTIPLE.fullmatch(text)
    if multiple is not None:
        return int(multiple["times"]) * (STM_1 if multiple["kind"].upper() == "STM" else OC_1)
    word = re.sub(r"[\s-]", "", text).upper()
    return LEASED.get(word, ETHERNET.get(word))


def _wrong(said: Mapping[str, str]) -> Iterator[str]:
    for name in ("LinkSpeedRaw", "LinkSpeed"):
        if name in said and not _above_zero(said[name]):
            yield f"{name}: {said[name][:40]!r} is not a number above zero that a link has"
    unit = said.get("LinkSpeedUnits")
    if unit is not None and unit.upper() not in UNITS:
        yield f"LinkSpeedUnits: {unit[:40]!r} is none of {', '.join(UNITS)}"
    elif unit is not None and _above_zero(said.get("LinkSpeed", "")) and _speed(said) > MOST:
        yield f"LinkSpeed: {said['LinkSpeed'][:40]} {unit} is more than any link has"


def _above_zero(text: str) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return 0 < value <= MOST
