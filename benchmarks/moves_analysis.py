"""What numbered packets and a stopwatch's marks say about moves: values in, values out.

Reordered is a packet whose number is smaller than that of one before it (RFC 4737, 3.3).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

INGRESS_EDGE = 0xA01


def arrivals(sent: int, records: Sequence[tuple[int, ...]]) -> dict[str, float]:
    """What became of the packets 0 .. sent-1, from (number, time in ns) in the order of arrival."""
    largest, reordered = -1, 0
    for number, _ in records:
        reordered += number < largest
        largest = max(largest, number)
    sent = max(sent, largest + 1)  # a sender that is ended between a packet and its count
    times = [at for _, at in records]
    gap = max((after - before for before, after in pairwise(times)), default=0)
    different = len({number for number, _ in records})
    return {
        "sent": sent,
        "lost": sent - different,
        "duplicated": len(records) - different,
        "reordered": reordered,
        "largest_gap_ms": gap / 1e6,
    }


def moves(
    marks: Sequence[Mapping[str, Any]], seen: Mapping[str, Sequence[int]], targets: Sequence[str]
) -> list[dict[str, float]]:
    """Where the time of each move went, in milliseconds.

    :param marks: of :mod:`benchmarks.moves_controller`.
    :param seen: per path, when packets left on it, in order.
    :param targets: where the moves went, in order.
    :raises ValueError: if there were more or fewer moves than that.
    """
    decided = [mark for mark in marks if mark["what"] == "decided" and mark["moved"]]
    if len(decided) != len(targets):
        raise ValueError(f"{len(decided)} moves were decided, {len(targets)} were meant")
    return [_parts(mark, marks, seen[target]) for mark, target in zip(decided, targets, strict=True)]


def _parts(
    decided: Mapping[str, Any], marks: Sequence[Mapping[str, Any]], seen: Sequence[int]
) -> dict[str, float]:
    event, begun = decided["event"], decided["ended"]
    packet = first_after(begun, seen)
    # One that came while an earlier move was under way is looked at when that is done.
    arrived = max(m["ended"] for m in marks if m["what"] == "arrived" and m["ended"] <= decided["begun"])
    commit = next(m for m in marks if m["what"] == "committed" and m["event"] == event)
    sent = [mark for mark in marks if mark["what"] == "sent" and mark["cause"] == event]
    shift = max(
        (mark for mark in sent if mark["dpid"] == INGRESS_EDGE and mark["begun"] < packet),
        key=lambda mark: mark["begun"],
    )
    reply = next(m for m in marks if m["what"] == "confirmed" and m["batch"] == shift["batch"])
    spans = {
        "desired to packet": packet - begun,
        "measurement to packet": packet - arrived,
        "of it: decide": decided["ended"] - decided["begun"],
        "of it: commit": commit["ended"] - commit["begun"],
        "of it: prepare": shift["begun"] - sent[0]["begun"],
        "of it: pack and send": shift["ended"] - shift["begun"],
        "of it: sent to reply": reply["ended"] - shift["ended"],
        "of it: sent to packet": packet - shift["ended"],
    }
    return {name: span / 1e6 for name, span in spans.items()}


def by_hand(marks: Sequence[Mapping[str, Any]], seen: Mapping[str, Sequence[int]]) -> list[float]:
    """Milliseconds from a decision by hand to the first packet on the new path."""
    made = [mark for mark in marks if mark["what"] == "by hand"]
    return [(first_after(mark["begun"], seen[mark["path"]]) - mark["begun"]) / 1e6 for mark in made]


def first_after(begun: int, seen: Sequence[int]) -> int:
    """The first time that is not before this one.

    :raises ValueError: if there is none.
    """
    place = bisect_left(seen, begun)
    if place == len(seen):
        raise ValueError("no packet left on the new path")
    return seen[place]


def by_path(sniffed: Sequence[tuple[int, ...]], paths: Sequence[str], port: int) -> dict[str, list[int]]:
    """When packets to this port left on each path, from (place of the path, port, number, time)."""
    found: dict[str, list[int]] = {path: [] for path in paths}
    for place, to, _, at in sniffed:
        if to == port:
            found[paths[place]].append(at)
    return {path: sorted(times) for path, times in found.items()}
