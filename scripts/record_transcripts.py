#!/usr/bin/env python3
"""Records tests/data/transcripts: what the decision core does in seeded histories.

``python scripts/record_transcripts.py`` records every scenario, or those that are named, and prints how often
each outcome and each state occurs.  Only for a reviewed change of the core's behaviour: a transcript that is
recorded again proves nothing.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.support.transcript import FOLDER, Line, write_histories
from tests.support.transcript_author import Author, Step

OUTCOMES = ("admit", "queue", "move", "stay")
STATES = ("active", "queued", "finished", "failed", "cancelled", "expired")


def maintain(author: Author) -> None:
    """Announce a maintenance window, and cancel it at times."""
    scope, name = author.pick([("path", author.path())] * 4 + [("switch", "mu-edge")])
    times = {
        "after": author.pick([30, 90, 300]),
        "lasts": author.pick([60, 200]),
        "lead": author.pick([10, 60]),
    }
    author.do("maintenance", scope=scope, name=name, **times)
    author.numbers["maintenance"] += 1
    if author.chance.random() < 0.3:
        author.do("maintenance_over", number=author.numbers["maintenance"])


def book(author: Author) -> None:
    """Ask for bandwidth now, or in a time to come."""
    bound = {"throughput": {"min": f"{author.pick([700, 2000])} Mbps"}}
    begin = author.pick([{}, {"not_before": "60 s"}, {"not_before": "120 s"}])
    author.submit("soykb", size="20 GB", qspec=bound, deadline="1 h", **begin)


def compute(author: Author) -> None:
    """Choose a compute site, at times when nodes of one are reserved."""
    if author.chance.random() < 0.2:
        author.reserve()
    author.submit("soykb")


def outrank(author: Author) -> None:
    """Fill the layer-2 path with a flow of many streams, then submit one of higher priority."""
    ends = {"source": "mu-dtn", "destination": "osu-dtn"}
    author.show("al2s", "good")
    bound = {"throughput": {"min": "600 Mbps"}}
    author.submit("soykb", **ends, qspec=bound, priority=100, streams=32)
    author.carry(20)
    author.show("al2s", "crowded")
    author.submit(author.pick(["neuroblastoma", "eldercare", "soykb"]), **ends)


A = Author
ANY = (
    A.change,
    A.alarm,
    A.port,
    A.switch,
    A.reserve,
    A.cancel,
    A.delete_rule,
    A.restart,
    maintain,
    book,
    outrank,
)
SCENARIOS: dict[str, tuple[str, int, dict[Step, int]]] = {  # network, histories, frequency of steps
    "admission": ("two-paths", 14, {A.submit: 8}),
    "queue": ("two-paths", 14, {A.submit: 6, A.change: 4}),
    "reroute": ("two-paths", 14, {A.submit: 8, A.change: 6}),
    "alarms": ("three-paths", 14, {A.alarm: 8, A.close: 4}),
    "ports": ("three-paths", 14, {A.port: 4, A.close: 4}),
    "switches": ("two-paths", 14, {A.switch: 3, A.refuse: 2, A.close: 5}),
    "failover": ("four-paths", 14, {A.submit: 6, A.port: 3, A.change: 2, A.close: 2}),
    "preemption": ("two-paths", 14, {outrank: 3, A.change: 1}),
    "endings": ("three-paths", 14, {A.finish: 5, A.cancel: 4, A.change: 1}),
    "maintenance": ("three-paths", 14, {maintain: 4}),
    "reservations": ("two-paths", 14, {A.reserve: 4, book: 4, A.change: 1}),
    "compute": ("two-paths", 14, {compute: 8, A.change: 2, A.finish: 4}),
    "drift": ("two-paths", 10, {A.delete_rule: 6, A.submit: 6}),
    "restart": ("three-paths", 10, {A.restart: 3, A.change: 2, A.port: 1, A.close: 2}),
    "everything": ("four-paths", 12, {**dict.fromkeys(ANY, 1), A.close: 4}),
}


def main(names: list[str]) -> None:
    """Record the named scenarios, or all; print a table."""
    counts: dict[str, Counter[str]] = {}
    for name in names or SCENARIOS:
        network, histories, steps = SCENARIOS[name]
        written = [Author(f"{name}-{n:02}", network, steps).write() for n in range(1, histories + 1)]
        write_histories(FOLDER / f"{name}.jsonl.gz", written)
        counts[name] = count([line for lines in written for line in lines])
        counts[name]["histories"] = len(written)
    counts["all"] = sum(counts.values(), Counter())
    columns = ("histories", "lines", *OUTCOMES, *STATES, "refused")
    for name, found in counts.items():
        cells = " ".join(f"{column} {found[column]}" for column in columns if found[column])
        sys.stdout.write(f"{name}: {cells}\n")


def count(lines: list[Line]) -> Counter[str]:
    """Return how often each outcome is decided and each state is entered."""
    found = Counter(lines=len(lines))
    for line in lines:
        found.update(outcome for _, outcome, *_ in line.get("decided", ()))
        found.update(state for _, state, _ in line.get("states", ()))
        found["refused"] += "refused" in line
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
