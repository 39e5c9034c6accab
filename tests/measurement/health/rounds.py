"""Rounds of probes for tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from measurement.health.markers import Fired, Marker
from measurement.health.model import Found, Indicator, Pair, Round
from measurement.health.pair_scores import scores
from measurement.health.profiles import mesh
from measurement.health.record import Failure, ProbeKind, RoundRecord
from measurement.health.round_schedule import Limits, Rounds
from measurement.instances import Instance


def found(
    rtt: float = 0.01, rate: float = 1e9, *, silent: Iterable[Indicator] = (), steps: Iterable[float] = ()
) -> Found:
    """All measurements of a pair by one time and one rate."""
    return Found(
        icmp={64: (rtt,), 512: (rtt,), 4096: (rtt,)},
        udp={64: (rtt,), 1024: (rtt,)},
        sandwich=(rtt / 10,),
        connect=(rtt,),
        tcp=(rtt,),
        throughput=tuple(steps) or (rate,) * 10,
        silent=frozenset(silent),
    )


def whole(**rtts: float) -> Round:
    """A round by names such as ``a_b=0.01``."""
    return {Pair(*name.split("_")): found(rtt, 1e7 / rtt) for name, rtt in rtts.items()}


times = st.floats(1e-5, 1.0)
rates = st.floats(1e5, 1e11)


@st.composite
def founds(draw: st.DrawFn) -> Found:
    """Anything that a pair's probes may find, parts missing."""

    def some(values: st.SearchStrategy[float], most: int = 4) -> tuple[float, ...]:
        return tuple(draw(st.lists(values, max_size=most)))

    return Found(
        icmp={size: some(times) for size in (64, 512, 4096)},
        udp={size: some(times) for size in (64, 1024)},
        sandwich=some(st.floats(-1e-3, 1e-2)),
        connect=some(times),
        tcp=some(times),
        throughput=some(rates, 10),
        silent=frozenset(draw(st.sets(st.sampled_from(list(Indicator)), max_size=3))),
    )


@st.composite
def rounds(draw: st.DrawFn, most: int = 5) -> Round:
    """A round among a few instances, some pairs not probed."""
    names = [f"i{number}" for number in range(draw(st.integers(2, most)))]
    pairs = [Pair(one, other) for one in names for other in names if one != other]
    probed = draw(st.lists(st.sampled_from(pairs), unique=True, min_size=1))
    return {pair: draw(founds()) for pair in probed}


OF = ("began", "ended", "instances", "planned", "found", "profile", "by_transfer", "carried", "translated")
OF += ("from_other_side", "verified", "failures", "interrupted", "scores", "fired")


def changed(record: RoundRecord, **changes: Any) -> RoundRecord:
    """Return a record with other values of some parameters of :meth:`RoundRecord.of`."""
    return RoundRecord.of(**{name: getattr(record, name) for name in OF} | changes)


def instances(names: Iterable[str], zone: str = "") -> tuple[Instance, ...]:
    """So many machines that nobody will call."""
    return tuple(Instance(name, f"192.0.2.{number}", zone=zone) for number, name in enumerate(names, 1))


@st.composite
def records(draw: st.DrawFn) -> RoundRecord:
    """A round as it is kept, parts missing."""
    of = draw(rounds())
    names = tuple(sorted({name for pair in of for name in pair}))
    planned = tuple(Pair(one, other) for one in names for other in names if one != other)
    some = st.sets(st.sampled_from(sorted(of)))
    health = scores(of)
    return RoundRecord.of(
        began=1e9,
        ended=1e9 + draw(st.floats(0, 1e4)),
        instances=instances(names, draw(st.sampled_from(["", "us-east-1a"]))),
        planned=planned,
        found=of,
        profile=draw(st.sampled_from(["mesh", "star of i0"])),
        by_transfer=frozenset(draw(some)),
        carried=frozenset(draw(some)),
        translated=frozenset(draw(some)),
        verified={pair: draw(st.lists(rates).map(tuple)) for pair in draw(some)},
        failures=tuple(
            Failure(pair, draw(st.sampled_from(ProbeKind)), "no answer") for pair in sorted(draw(some))
        ),
        interrupted=draw(st.sampled_from(["", "by the operator"])),
        scores=health,
        fired={pair: (Fired(Marker.TCP, "slower"),) for pair in draw(some)},
        from_other_side=frozenset(draw(some)),
    )


NAMES = [f"i{number}" for number in range(12)]
ZONES = {name: f"z{number % 3}" for number, name in enumerate(NAMES)}
limits = st.builds(
    Limits,
    duplex=st.booleans(),
    between_zones=st.none() | st.integers(1, 4),
    zones=st.sampled_from([None, ZONES, {**ZONES, "i0": ""}]),
)
some_pairs = st.lists(st.sampled_from(mesh(NAMES)), unique=True, max_size=80)


def find_collisions(found: Rounds, within: Limits) -> list[str]:
    """Written down a second time: whatever of a round would meet."""
    wrong: list[str] = []
    for number, its in enumerate(found):
        sends, receives = Counter(pair.source for pair in its), Counter(pair.destination for pair in its)
        if not within.duplex:
            sends = receives = sends + receives
        wrong += [f"{number}: {name}" for busy in (sends, receives) for name, n in busy.items() if n > 1]
        if within.between_zones is not None and within.zones is not None:
            zones = within.zones
            over = Counter(
                tuple(ends) if within.duplex else tuple(sorted(ends))
                for pair in its
                if (ends := [zones[one] for one in pair])[0] != ends[1] and all(ends)
            )
            wrong += [f"{number}: {link}" for link, n in over.items() if n > within.between_zones]
    return wrong
