"""ping (iputils): round-trip time.  Pure.

Everything is computed from the reply lines and the number transmitted, so errors and duplicates, which
change the shape of ping's last lines, change nothing here.
"""

from __future__ import annotations

import re
import statistics
from itertools import pairwise
from typing import Any

from measurement.point.children import Completed, ToolFailed
from measurement.point.specs import Rtt
from measurement.pscheduler.iso8601 import format_duration

_REPLY = re.compile(
    r"^(?P<length>\d+) bytes from (?:\S+ \()?(?P<ip>[0-9a-fA-F.:]+?)\)?: icmp_seq=(?P<seq>\d+) "
    r"ttl=(?P<ttl>\d+) time=(?P<ms>[\d.]+) ms(?P<dup> \(DUP!\))?",
    re.MULTILINE,
)
_ERROR = re.compile(r"^From (?P<ip>[0-9a-fA-F.:]+)\S* .*?icmp_seq=(?P<seq>\d+) (?P<what>.+)$", re.MULTILINE)
_SENT = re.compile(r"(\d+) packets transmitted")


def argv(spec: Rtt) -> list[str]:
    """The argument list."""
    words = ["ping", "-n", "-c", str(spec.count), "-i", f"{spec.interval:g}", "-W", f"{spec.timeout:g}"]
    if spec.source is not None:
        words += ["-I", spec.source]
    if spec.deadline is not None:
        words += ["-w", f"{max(1, round(spec.deadline))}"]
    if spec.length is not None:
        words += ["-s", str(spec.length)]
    if spec.ttl is not None:
        words += ["-t", str(spec.ttl)]
    if spec.ip_tos is not None:
        words += ["-Q", str(spec.ip_tos)]
    if spec.ip_version is not None:
        words += [f"-{spec.ip_version}"]
    return [*words, spec.dest]


def parse(done: Completed) -> dict[str, Any]:
    """Ping's output as a pScheduler rtt result.

    :raises ToolFailed: when it sent nothing; no reply at all is a result, not a failure.
    """
    counted = _SENT.search(done.stdout)
    if counted is None or int(counted[1]) == 0:
        raise ToolFailed(f"ping: {(done.stderr or done.stdout).strip() or 'sent nothing'}")
    replies = list(_REPLY.finditer(done.stdout))
    first = {int(reply["seq"]): reply for reply in replies if not reply["dup"]}
    sent = int(counted[1])
    order = [int(reply["seq"]) for reply in replies if not reply["dup"]]
    return {
        "schema": 1,
        "succeeded": True,
        "sent": sent,
        "received": len(first),
        "lost": sent - len(first),
        "loss": (sent - len(first)) / sent,
        "duplicates": sum(1 for reply in replies if reply["dup"]),
        "reorders": sum(1 for before, after in pairwise(order) if after < before),
        **_statistics([float(reply["ms"]) / 1000 for reply in first.values()]),
        "roundtrips": [_trip(reply) for reply in replies]
        + [_failure(e) for e in _ERROR.finditer(done.stdout)],
    }


def _statistics(times: list[float]) -> dict[str, str]:
    if not times:
        return {}
    found = {
        "min": min(times),
        "max": max(times),
        "mean": statistics.fmean(times),
        "stddev": statistics.pstdev(times),
    }
    return {name: format_duration(seconds) for name, seconds in found.items()}


def _trip(reply: re.Match[str]) -> dict[str, Any]:
    return {
        "seq": int(reply["seq"]),
        "ip": reply["ip"],
        "length": int(reply["length"]),
        "ttl": int(reply["ttl"]),
        "rtt": format_duration(float(reply["ms"]) / 1000),
    }


def _failure(error: re.Match[str]) -> dict[str, Any]:
    what = error["what"].strip().lower().removeprefix("destination ").replace(" ", "-")
    return {"seq": int(error["seq"]), "ip": error["ip"], "error": what}
