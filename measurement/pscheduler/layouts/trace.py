"""Results of ``trace``: the hops, as parameters of the round trip to the last one.

A trace that did not get to the destination gives no round-trip time, and its hops are in the reason.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from measurement.model import Metric
from measurement.pscheduler.document import Document
from measurement.pscheduler.readings import Reading, Refused

KEPT_HOPS = 255  # a TTL has eight bits


def read(result: Document, spec: Document) -> list[Reading | Refused]:
    """The round trip to the destination by one probe, with ``hops`` and ``hop_count``."""
    hops = _first_path(result)
    if not hops:
        return [Refused(Metric.RTT, "the trace has no hop")]
    route = [hop.fields.get("ip") for hop in hops]
    last = hops[-1]
    if not last.has("rtt") or last.has("error") or _elsewhere(last, spec):
        shown = " ".join(str(address) if address else "*" for address in route)
        return [Refused(Metric.RTT, f"the trace does not get to the destination: {shown}")]
    parameters = {"from": "trace", "count": 1, "hop_count": len(hops), "hops": [_hop(hop) for hop in hops]}
    return [Reading(Metric.RTT, last.duration("rtt"), parameters)]


def _first_path(result: Document) -> list[Document]:
    paths = result.fields.get("paths")
    if not isinstance(paths, list):
        result.refuse("paths", "expected a list of paths")
    if not paths:
        return []
    if not isinstance(paths[0], list) or len(paths[0]) > KEPT_HOPS:
        result.refuse("paths[0]", f"expected a list of at most {KEPT_HOPS} hops")
    return [Document.of(result.host, f"paths[0][{number}]", hop) for number, hop in enumerate(paths[0])]


def _hop(hop: Document) -> dict[str, object]:
    """``{}`` for a hop that kept silent."""
    return dict(_of_hop(hop))


def _of_hop(hop: Document) -> Iterator[tuple[str, object]]:
    for name in ("ip", "hostname", "error"):
        if hop.has(name):
            yield name, hop.text(name)
    if hop.has("rtt"):
        yield "rtt", hop.duration("rtt")
    if hop.has("mtu"):
        yield "mtu", hop.count("mtu")
    if hop.has("as"):
        yield "as", hop.child("as").count("number")


def _elsewhere(last: Document, spec: Document) -> bool:
    """True when the last hop is certainly another host; a name cannot be compared with an address."""
    try:
        wanted = ipaddress.ip_address(str(spec.fields.get("dest")))
        return ipaddress.ip_address(str(last.fields.get("ip"))) != wanted
    except ValueError:
        return False
