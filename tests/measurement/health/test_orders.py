"""What is asked for the health of a pair, and what reports say of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from measurement.health.model import Found, Indicator, Pair
from measurement.health.orders import Probing, joined, lasts, order, read
from measurement.health.record import ProbeKind
from measurement.instances import Instance
from measurement.probes.findings import Carried, Failed, Failure, Report, RoundTrips, TrainFound, Widened
from measurement.probes.train import Shape
from tests.measurement.health.rounds import founds

B = Instance("b", "192.0.2.2")
A_B = Pair("a", "b")
LIGHT = order(ProbeKind.LIGHT, B, Probing(count=2))
GOOD = (
    *(RoundTrips((0.01, 0.02)) for _ in range(5)),
    Widened((1e-4, None), 1472),
    *[RoundTrips((0.03,))] * 2,
)
SILENT = RoundTrips((None, None))


def found(*findings: object) -> tuple[Found, list[str]]:
    got, failures = read(LIGHT, Report(findings, 0.0, 1.0), A_B)  # type: ignore[arg-type]
    return got, [one.why for one in failures]


def test_all_light_probes_of_a_pair_are_one_order() -> None:
    kinds = [(one.kind, getattr(one, "length", None)) for one in LIGHT.probes]
    assert kinds == [
        ("icmp", 64),
        ("icmp", 512),
        ("icmp", 4096),
        ("udp", 64),
        ("udp", 1024),
        ("sandwich", 64),
        ("connect", 64),
        ("tcp", 64),
    ]


def test_what_was_answered_is_found() -> None:
    got, failures = found(*GOOD)
    assert got == Found(
        icmp=dict.fromkeys((64, 512, 4096), (0.01, 0.02)),
        udp=dict.fromkeys((64, 1024), (0.01, 0.02)),
        sandwich=(1e-4,),
        connect=(0.03,),
        tcp=(0.03,),
    )
    assert not failures


@pytest.mark.parametrize(
    ("changed", "silent", "failures"),
    [
        ({2: SILENT}, set(), []),  # large ones may be filtered
        ({0: SILENT, 1: SILENT, 2: SILENT}, {Indicator.ICMP}, []),
        ({5: Widened((None,), 1472)}, {Indicator.SANDWICH}, []),
        ({6: Failed(Failure.UNREACHABLE, "refused")}, {Indicator.CONNECT}, ["connect: refused"]),
        ({7: Failed(Failure.BUSY, "too much is under way")}, set(), ["tcp: too much is under way"]),
        ({0: Failed(Failure.NOT_PERMITTED, "")}, set(), ["icmp: not-permitted"]),
        ({4: Failed(Failure.TOO_LARGE, "MTU 1000")}, set(), ["udp: MTU 1000"]),
        ({3: Failed(Failure.CLOCK_STEPPED, "set")}, set(), ["udp: set"]),
    ],
)
def test_silence_is_of_the_other_and_failures_are_ours(
    changed: dict[int, object], silent: set[Indicator], failures: list[str]
) -> None:
    got, why = found(*(changed.get(number, one) for number, one in enumerate(GOOD)))
    assert (set(got.silent), why) == (silent, failures)


@pytest.mark.parametrize("rate", [1e8, None])
def test_a_train_is_one_value(rate: float | None) -> None:
    asked = order(ProbeKind.TRAIN, B)
    finding = TrainFound(rate, rate, 0.0, False, "" if rate else "too little came", Shape(), 0.1, 1, 0, ())
    got, failures = read(asked, Report((finding,), 0.0, 1.0), A_B)
    assert got.throughput == ((rate,) if rate else ())
    assert [one.why for one in failures] == ([] if rate else ["train: too little came"])
    assert got.silent == (set() if rate else {Indicator.THROUGHPUT})


def test_a_transfer_has_its_intervals() -> None:
    asked = order(ProbeKind.TRANSFER, B, Probing(intervals=2, interval_length=0.5))
    got, _ = read(asked, Report((Carried(0.5, (1000, 2000)),), 0.0, 1.0), A_B)
    assert got.throughput == (16_000.0, 32_000.0)


@pytest.mark.parametrize("findings", [(), GOOD[:3], (*GOOD[:7], Widened((), 0))])
def test_a_report_of_another_order_is_refused(findings: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match="findings: "):
        found(*findings)


@pytest.mark.parametrize("kind", ProbeKind)
def test_an_order_has_an_end(kind: ProbeKind) -> None:
    assert lasts(kind) < 60
    assert lasts(kind, Probing(silent=0.1)) < lasts(kind)


@given(founds(), founds())
def test_two_orders_about_a_pair_are_joined(one: Found, other: Found) -> None:
    whole = joined(one, other)
    assert whole.silent == one.silent | other.silent
    assert whole.throughput in (one.throughput, other.throughput)
    assert joined(one, Found()) == one
    assert joined(replace(one, throughput=()), Found(throughput=(1.0,))).throughput == (1.0,)
