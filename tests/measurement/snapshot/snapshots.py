"""Snapshots for tests: any that there may be."""

from __future__ import annotations

from hypothesis import strategies as st

from measurement.health.model import Pair
from measurement.snapshot.model import Bottleneck, Snapshot

amounts = st.floats(0, 1e12)
words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=20)


@st.composite
def snapshots(draw: st.DrawFn, most: int = 5) -> Snapshot:
    """Of a few instances, parts missing."""
    names = [f"i{number}" for number in range(draw(st.integers(1, most)))]
    pairs = [Pair(one, other) for one in names for other in names if one != other]
    some = st.sampled_from(pairs) if pairs else st.nothing()
    rates = draw(st.dictionaries(some, amounts))
    shared = st.frozensets(some, min_size=2) if len(pairs) > 1 else st.nothing()
    bottlenecks = st.lists(st.builds(Bottleneck, shared, amounts), max_size=3)
    cut = draw(st.integers(0, len(names)))
    return Snapshot(
        draw(st.floats(0, 4e9)),
        tuple(names),
        rates,
        rtts=draw(st.dictionaries(some, amounts)),
        hops=draw(st.dictionaries(some, st.integers(0, 30))),
        crossing=draw(st.dictionaries(some, amounts)),
        hoses=draw(st.dictionaries(st.sampled_from(names), amounts)),
        bottlenecks=tuple(draw(bottlenecks)),
        racks=tuple(frozenset(rack) for rack in (names[:cut], names[cut:]) if rack),
        how=draw(st.dictionaries(some, st.sampled_from(["train", "transfer", "counters"]))),
        missing={p: why for p, why in draw(st.dictionaries(some, words)).items() if p not in rates},
    )
