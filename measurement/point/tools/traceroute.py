"""traceroute: the hops of a path.  Pure."""

from __future__ import annotations

import re
from typing import Any

from measurement.point.children import Completed, ToolFailed
from measurement.point.specs import Trace
from measurement.pscheduler.iso8601 import format_duration

_HOP = re.compile(r"^\s*(?P<ttl>\d+)\s+(?P<rest>.+)$", re.MULTILINE)
_ANSWER = re.compile(r"(?P<ip>[0-9a-fA-F.:]+)\s+(?P<ms>[\d.]+) ms(?:\s+(?P<flag>![A-Z0-9]*))?")
_FLAGS = {"!H": "host-unreachable", "!N": "net-unreachable", "!P": "protocol-unreachable", "!X": "prohibited"}
_PROBES = {"icmp": ["-I"], "tcp": ["-T"], "udp": []}


def argv(spec: Trace) -> list[str]:
    """The argument list: one probe per hop, no DNS."""
    words = ["traceroute", "-n", "-q", "1", "-m", str(spec.hops), "-w", f"{spec.wait:g}"]
    words += _PROBES[spec.probe_type]
    if spec.source is not None:
        words += ["-s", spec.source]
    words.append(spec.dest)
    return words if spec.length is None else [*words, str(spec.length)]


def parse(done: Completed) -> dict[str, Any]:
    """Traceroute's output as a pScheduler trace result; a hop that kept silent is ``{}``.

    :raises ToolFailed: when it printed no hop.
    """
    _, _, body = done.stdout.partition("\n")
    hops = [_hop(found["rest"]) for found in _HOP.finditer(body)]
    if not hops:
        raise ToolFailed(f"traceroute: {(done.stderr or done.stdout).strip() or 'printed nothing'}")
    return {"schema": 1, "succeeded": True, "paths": [hops]}


def _hop(text: str) -> dict[str, str]:
    found = _ANSWER.search(text)
    if found is None:
        return {}
    hop = {"ip": found["ip"], "rtt": format_duration(float(found["ms"]) / 1000)}
    return hop | ({"error": _FLAGS.get(found["flag"], found["flag"])} if found["flag"] else {})
