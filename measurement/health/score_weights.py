"""How much each measurement counts in a score; the sums are 1."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from measurement.probes.probe_types import ICMP_SIZES, UDP_SIZES

_CLOSE = 1e-9


def rising(sizes: tuple[int, ...]) -> Mapping[int, float]:
    """Weights that rise with the size of a packet, by its rank, and sum to 1 ([HEALTH] 6)."""
    whole = len(sizes) * (len(sizes) + 1) / 2
    return {size: rank / whole for rank, size in enumerate(sorted(sizes), 1)}


@dataclass(frozen=True, slots=True)
class Weights:
    """See the module's text.

    :param throughput, icmp, udp, tcp: of the parts of a score ([HEALTH] equation 3).
    :param icmp_sizes: ω_s of equation 1, by bytes.
    :param udp_sizes: of the round-trip times, by bytes, among themselves.
    :param sandwich: of the sandwich delay in the UDP part; the round-trip times have the rest.
    :param volume: of the volume in the throughput part; its steadiness has the rest.
    :param connect: of the time to connect in the TCP part; the round-trip time has the rest.
    :raises ValueError: for a weight below zero or above 1, or a sum that is not 1; it names the weight.
    """

    throughput: float = 0.4
    icmp: float = 0.2
    udp: float = 0.2
    tcp: float = 0.2
    icmp_sizes: Mapping[int, float] = field(default_factory=lambda: rising(ICMP_SIZES))
    udp_sizes: Mapping[int, float] = field(default_factory=lambda: rising(UDP_SIZES))
    sandwich: float = 0.5
    volume: float = 0.5
    connect: float = 0.5

    def __post_init__(self) -> None:
        single = {one.name: getattr(self, one.name) for one in fields(self) if "sizes" not in one.name}
        of_sizes = {"icmp_sizes": self.icmp_sizes, "udp_sizes": self.udp_sizes}
        several = {f"{name}.{size}": one for name, its in of_sizes.items() for size, one in its.items()}
        for name, weight in {**single, **several}.items():
            if not 0 <= weight <= 1:
                raise ValueError(f"{name}: a weight is from 0 to 1, not {weight}")
        sums = {"throughput, icmp, udp and tcp": self.throughput + self.icmp + self.udp + self.tcp}
        for name, whole in {
            **sums,
            **{name: math.fsum(its.values()) for name, its in of_sizes.items()},
        }.items():
            if abs(whole - 1) > _CLOSE:
                raise ValueError(f"{name}: the weights sum to {whole:g}, not to 1")
