"""What is known about path and host: impossible values are refused, text that is no number is unknown."""

from __future__ import annotations

import math
from typing import Any

import pytest

from adon.broker.tuning.facts import PathFacts, Reached, Triple
from adon.broker.uncertain import Uncertain
from tests.broker.tuning.values import host


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"rate": 0.0}, "rate: must be a finite number above zero, not 0.0"),
        ({"rate": -1.0}, "rate: "),
        ({"rate": math.inf}, "rate: "),
        ({"rate": math.nan}, "rate: "),
        ({"rtt": Uncertain(-0.1)}, "rtt: must be finite and zero or more, not -0.1"),
        ({"rtt": Uncertain(math.inf)}, "rtt: "),
        ({"loss": Uncertain(1.1)}, "loss: must be a ratio of 0 to 1, not 1.1"),
        ({"loss": Uncertain(-0.1)}, "loss: "),
        ({"mtu": 100}, "mtu: must be 576 to 65535 bytes, not 100"),
        ({"reached": Reached(Uncertain(-1.0))}, "reached: must be finite"),
        ({"reached": Reached(Uncertain(1.0), 0)}, "reached: was measured with at least one stream"),
    ],
)
def test_what_no_path_has_is_refused(facts: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{problem}"):
        PathFacts(**facts)


def test_every_field_that_is_wrong_is_named() -> None:
    with pytest.raises(ValueError, match=r"rate: .*\nloss: .*"):
        PathFacts(rate=-1.0, loss=Uncertain(2.0))


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"rate": 1.7e308},
        {"rate": 5e-324},
        {"rtt": Uncertain(0.0)},
        {"loss": Uncertain(1.0)},
        {"mtu": 576},
    ],
)
def test_what_is_possible_passes(facts: dict[str, Any]) -> None:
    PathFacts(**facts)


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("4096 131072 6291456", Triple(4096, 131_072, 6_291_456)),
        ("4096\t131072\t6291456", Triple(4096, 131_072, 6_291_456)),
        ("4096 131072", None),
        ("4096 131072 many", None),
        ("-1 2 3", None),
        ("1 2 " + "9" * 30, None),
        ("", None),
    ],
)
def test_three_numbers_or_nothing(text: str, triple: Triple | None) -> None:
    assert host(sysctl={"net.ipv4.tcp_rmem": text}).triple("net.ipv4.tcp_rmem") == triple


def test_what_is_no_number_is_unknown() -> None:
    facts = host(sysctl={"a.b": "many", "c.d": "-5", "e.f": "", "g.h": "9" * 40})
    assert [facts.number(key) for key in ("a.b", "c.d", "e.f", "g.h", "i.j")] == [None, -5, None, None, None]
    assert [facts.word(key) for key in ("a.b", "e.f", "i.j")] == ["many", None, None]
    assert str(Triple(1, 2, 3)) == "1 2 3"


@pytest.mark.parametrize(
    ("release", "kernel"), [("6.1.0-18-amd64", (6, 1)), ("10.12", (10, 12)), ("", None), ("six", None)]
)
def test_the_kernel_s_version(release: str, kernel: tuple[int, int] | None) -> None:
    assert host(sysctl={"kernel.osrelease": release}).kernel == kernel
