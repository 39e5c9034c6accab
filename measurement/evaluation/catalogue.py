"""What evaluations are made of, by id: features, metrics, benchmarks and factors ([CEEM] IV-B to IV-F).

The paper looks these up in its *taxonomy*, *metrics catalogue* and *factor framework*; here is what it names
in its text and its tables II and III, and what this project measures besides (``source`` says so).  Its
figures 3 to 9 list more factors, which the text does not name.  A document may add to it ("new metrics and
benchmarks can still be supplemented by domain experts").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

CEEM = "[CEEM]"
OURS = "this project"
DATA_THROUGHPUT = "communication-data-throughput"
THROUGHPUT_VARIABILITY = "variability-of-communication-data-throughput"
LATENCY = "communication-latency"


class About(StrEnum):
    """What a factor is a property of ([CEEM] IV-E)."""

    RESOURCE = "resource"
    WORKLOAD = "workload"
    CAPACITY = "capacity"


@dataclass(frozen=True, slots=True)
class Feature:
    """What of a service is looked at.

    :param of: the primary feature that this one says something about; empty for a primary one.
    """

    id: str
    title: str
    of: str = ""
    source: str = CEEM


@dataclass(frozen=True, slots=True)
class Metric:
    """How a feature is expressed.

    :param features: those that it is listed for.
    :param unit: of its values inside ADON; empty where it is computed from another metric's, or a picture.
    """

    id: str
    title: str
    features: tuple[str, ...]
    unit: str = ""
    source: str = CEEM


@dataclass(frozen=True, slots=True)
class Benchmark:
    """What produces a metric's values.

    :param metrics: those that it is listed for.
    """

    id: str
    title: str
    metrics: tuple[str, ...]
    source: str = CEEM


@dataclass(frozen=True, slots=True)
class Factor:
    """What may change the values."""

    id: str
    title: str
    about: About
    source: str = CEEM


T = TypeVar("T", Feature, Metric, Benchmark, Factor)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All of them by id."""

    features: Mapping[str, Feature]
    metrics: Mapping[str, Metric]
    benchmarks: Mapping[str, Benchmark]
    factors: Mapping[str, Factor]

    @classmethod
    def of(
        cls,
        features: Iterable[Feature] = (),
        metrics: Iterable[Metric] = (),
        benchmarks: Iterable[Benchmark] = (),
        factors: Iterable[Factor] = (),
    ) -> Catalogue:
        """From lists.

        :raises ValueError: for an id that is there twice, or a reference to what is not there; it names both.
        """
        found = cls(
            _by_id("features", features),
            _by_id("metrics", metrics),
            _by_id("benchmarks", benchmarks),
            _by_id("factors", factors),
        )
        for feature in found.features.values():
            if feature.of:
                _known("features", feature.id, found.features, [feature.of])
        for metric in found.metrics.values():
            _known("metrics", metric.id, found.features, metric.features)
        for benchmark in found.benchmarks.values():
            _known("benchmarks", benchmark.id, found.metrics, benchmark.metrics)
        return found

    def with_(
        self,
        features: Iterable[Feature] = (),
        metrics: Iterable[Metric] = (),
        benchmarks: Iterable[Benchmark] = (),
        factors: Iterable[Factor] = (),
    ) -> Catalogue:
        """With what a document adds.

        :raises ValueError: as above.
        """
        return Catalogue.of(
            [*self.features.values(), *features],
            [*self.metrics.values(), *metrics],
            [*self.benchmarks.values(), *benchmarks],
            [*self.factors.values(), *factors],
        )


def _by_id(kind: str, items: Iterable[T]) -> dict[str, T]:
    found: dict[str, T] = {}
    for item in items:
        if item.id in found:
            raise ValueError(f"{kind}: {item.id!r} is there twice")
        found[item.id] = item
    return found


def _known(kind: str, owner: str, known: Mapping[str, object], names: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"{kind}: {owner} refers to {name!r}, which the catalogue does not have")


_VARIABILITY = (THROUGHPUT_VARIABILITY, "variability-of-communication-latency")
_TCP, _MPI = ("tcp-transfer-bit-speed",), ("mpi-transfer-bit-speed",)

CATALOGUE = Catalogue.of(
    features=(
        Feature(DATA_THROUGHPUT, "Communication Data Throughput"),
        Feature(THROUGHPUT_VARIABILITY, "Variability of Communication Data Throughput", of=DATA_THROUGHPUT),
        Feature(LATENCY, "Communication Latency", source=OURS),
        Feature(
            "variability-of-communication-latency",
            "Variability of Communication Latency",
            of=LATENCY,
            source=OURS,
        ),
    ),
    metrics=(
        # Table II: TCP/UDP/IP transfer bit or byte speed is one row; protocols are not comparable.
        Metric("tcp-transfer-bit-speed", "TCP Transfer bit Speed", (DATA_THROUGHPUT,), "bit/s"),
        Metric("udp-transfer-bit-speed", "UDP Transfer bit Speed", (DATA_THROUGHPUT,), "bit/s"),
        Metric("ip-transfer-bit-speed", "IP Transfer bit Speed", (DATA_THROUGHPUT,), "bit/s"),
        Metric("mpi-transfer-bit-speed", "MPI Transfer bit Speed", (DATA_THROUGHPUT,), "bit/s"),
        Metric("round-trip-time", "Round-trip time", (LATENCY,), "s", source=OURS),
        # Table III: common to all primary features ([CEEM] IV-C).
        Metric("average-minimum-maximum", "Average, Minimum, and Maximum Value", _VARIABILITY),
        Metric("coefficient-of-variation", "Coefficient of Variation (COV)", _VARIABILITY),
        Metric("difference-between-min-and-max", "Difference between Min & Max", _VARIABILITY),
        Metric("standard-deviation-with-average", "Standard Deviation with Average Value", _VARIABILITY),
        Metric("cumulative-distribution-chart", "Cumulative Distribution Function Chart", _VARIABILITY),
        Metric("probability-density-function", "Probability Density Function", _VARIABILITY),
        Metric("quartiles-chart", "Quartiles Chart with Median/Mean Value", _VARIABILITY),
        Metric("single-chart", "Representation in Single Chart", _VARIABILITY),
        Metric("separate-charts", "Representation in Separate Charts", _VARIABILITY),
        Metric("table", "Representation in Table", _VARIABILITY),
    ),
    benchmarks=(
        Benchmark("iperf", "iPerf", (*_TCP, "udp-transfer-bit-speed")),
        Benchmark("iperf3", "iPerf 3", (*_TCP, "udp-transfer-bit-speed"), source=OURS),
        Benchmark("tcptest-udptest", "Private tools TCPTest/UDPTest", (*_TCP, "udp-transfer-bit-speed")),
        Benchmark("specweb-2005", "SPECweb 2005", _TCP),
        Benchmark("large-data-transfer", "Upload/Download/Send large size data", _TCP),
        Benchmark("hpcc-b-eff", "HPCC: b_eff", _MPI),
        Benchmark("intel-mpi-bench", "Intel MPI Bench", _MPI),
        Benchmark("mpptest", "mpptest", _MPI),
        Benchmark("omb", "OMB-3.1 with MPI", _MPI),
        Benchmark("packet-train", "Packet trains ([CHOREO] 3.1)", _TCP, source=OURS),
        Benchmark("probe-agent", "TCP transfer of probe agents", _TCP, source=OURS),
        Benchmark("ping", "ping", ("round-trip-time",), source=OURS),
        Benchmark("udp-echo", "UDP echo of probe agents", ("round-trip-time",), source=OURS),
    ),
    factors=(
        Factor("activity-duration", "Activity Duration", About.WORKLOAD),
        Factor("activity-frequency", "Activity Frequency", About.WORKLOAD),
        Factor("tcp-window-size", "TCP window size", About.WORKLOAD),
        Factor("parallel-streams", "Parallel streams", About.WORKLOAD, source=OURS),
        Factor("direction", "Direction of the transfer", About.WORKLOAD, source=OURS),
        Factor("client", "Client", About.WORKLOAD),
        Factor("server", "Server", About.WORKLOAD),
        Factor("communication-scope", "Communication Scope", About.RESOURCE),
        Factor("vm-geographical-location", "VM Geographical Location", About.RESOURCE),
        Factor("vm-type", "VM Type", About.RESOURCE),
        Factor("operating-system", "Operating System", About.RESOURCE),
        Factor("tcp-transfer-bit-speed", "TCP Transfer bit Speed", About.CAPACITY),
        Factor("round-trip-time", "Round-trip time", About.CAPACITY, source=OURS),
    ),
)
"""What any document can refer to."""
