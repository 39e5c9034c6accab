from __future__ import annotations

import pytest

from adon.broker.resources.amounts import Amounts, Limits, Place
from adon.broker.resources.book import Hold, Who
from adon.broker.resources.ledger import Ledger
from adon.broker.resources.reservation import Reservation
from adon.errors import Conflict, NotFound
from measurement.model import PathKey
from tests.support.refusals import refused

SITES = {"mu-hpc": Limits(nodes=4), "osu-hpc": Limits(nodes=16)}
ALONG = Place.along(PathKey("al2s", "mu", "osu"))


def a_hold(nodes: int, flow: int = 1) -> Hold:
    return Hold(Amounts(nodes=nodes), Who("ann", flow))


def a_reservation(number: int, place: Place, ends: float = 200.0) -> Reservation:
    return Reservation(number, place, Amounts(nodes=2), 100.0, ends, "ann")


def test_a_flow_holds_of_one_site_only() -> None:
    ledger = Ledger.of(SITES, (), 0).hold(1, "mu-hpc", a_hold(2), 0)
    assert ledger.holders == {1: "mu-hpc"}
    with refused(Conflict, field="flow"):
        ledger.hold(1, "osu-hpc", a_hold(1), 0)
    assert ledger.release(1) == Ledger.of(SITES, (), 0)
    assert ledger.release(9) is ledger


def test_no_such_site() -> None:
    with pytest.raises(NotFound, match="nowhere"):
        Ledger.of(SITES, (), 0).hold(1, "nowhere", a_hold(1), 0)


def test_reservations_of_sites_paths_and_of_what_is_gone() -> None:
    made = [a_reservation(1, Place.at("mu-hpc")), a_reservation(2, ALONG), a_reservation(3, Place.at("gone"))]
    ledger = Ledger.of(SITES, [*made, a_reservation(9, ALONG, ends=50.0)], 60.0)
    assert ledger.reservations == tuple(made), "one that is over is not kept"
    assert ledger.last == 9, "its number is never given again"
    assert ledger.book("mu-hpc").reserved == (made[0],)
    assert ledger.along(ALONG) == (made[1],)
    assert ledger.reservation(3) is made[2]
    with refused(Conflict, field="state"):
        ledger.reservation(9)
    with pytest.raises(NotFound, match="r-10"):
        ledger.reservation(10)
    left = ledger.drop([1, 2])
    assert (left.reservations, left.last) == ((made[2],), 9)


def test_what_was_held_is_handed_out_in_order_where_a_site_has_shrunk() -> None:
    ledger = Ledger.of({"mu-hpc": Limits(nodes=3)}, (), 0)
    after = ledger.inheriting({"mu-hpc": {1: a_hold(2), 2: a_hold(2), 3: a_hold(2)}})
    held = {flow: hold.amounts.nodes for flow, hold in after.book("mu-hpc").holds.items()}
    assert held == {1: 2, 2: 1}
    assert after.book("mu-hpc").held == Amounts(nodes=3)
