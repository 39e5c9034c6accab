"""The lease and the fence, on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy
from sqlalchemy import update

from adon.broker.effects import RuleState
from adon.errors import Unavailable
from adon.store.lease import CONTROLLER, Lease, LeaseLost
from adon.store.store import Store
from adon.store.tables import leases
from tests.store.values import a_rule
from tests.support.factories import make_flow

LONG, SHORT = 60.0, 0.05


def taken(store: Store, holder: str = "a", seconds: float = LONG) -> Lease:
    lease = store.take_lease(CONTROLLER, holder, seconds)
    assert lease is not None
    return lease


def run_out(url: str) -> None:
    """Let the lease end, as time would."""
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE leases SET expires = 0")
    engine.dispose()


def test_one_gets_it_and_the_other_sees_who(store: Store) -> None:
    assert store.lease(CONTROLLER) is None
    lease = taken(store)
    assert store.take_lease(CONTROLLER, "b", LONG) is None
    held = store.lease(CONTROLLER)
    assert held is not None
    assert (held.holder, held.generation) == ("a", lease.generation)
    assert LONG - 10 < held.seconds <= LONG


def test_the_first_generation_is_the_time_so_that_a_new_database_is_not_stale_to_switches(
    store: Store,
) -> None:
    assert abs(taken(store).generation / 1e6 - time.time()) < 60


@pytest.mark.parametrize("next_holder", ["a", "b"])
def test_a_generation_is_never_used_twice(store: Store, url: str, next_holder: str) -> None:
    first = taken(store)
    run_out(url)
    second = taken(store, next_holder)
    run_out(url)
    assert first.generation < second.generation < taken(store).generation


def test_a_database_whose_clock_or_copy_is_of_yesterday_gives_no_smaller_generation(
    store: Store, url: str
) -> None:
    engine = sqlalchemy.create_engine(url)
    taken(store)
    far = 1 << 62
    for generation, expected in ((far, far + 1), (5, int(time.time() * 1e6))):
        with engine.begin() as connection:
            connection.execute(update(leases).values(expires=0, generation=generation))
        assert abs(taken(store).generation - expected) < 60e6
    engine.dispose()


def test_nobody_takes_a_running_lease_not_even_its_own_name(store: Store) -> None:
    taken(store)
    assert store.take_lease(CONTROLLER, "a", LONG) is None


def test_what_is_given_back_is_free_at_once(store: Store) -> None:
    lease = taken(store)
    store.give_lease_back(lease)
    held = store.lease(CONTROLLER)
    assert held is not None
    assert held.seconds <= 0
    successor = taken(store, "b")
    store.give_lease_back(lease)  # of yesterday: it is not ours any more
    assert store.take_lease(CONTROLLER, "c", LONG) is None
    assert successor.generation > lease.generation


def test_renewing_lets_it_run_on(store: Store) -> None:
    lease = taken(store, seconds=1.0)
    store.renew_lease(lease, LONG)
    held = store.lease(CONTROLLER)
    assert held is not None
    assert held.seconds > 1.0


def test_a_lease_that_ran_out_or_was_taken_cannot_be_renewed(store: Store, url: str) -> None:
    lease = taken(store)
    run_out(url)
    with pytest.raises(LeaseLost):
        store.renew_lease(lease, LONG)
    taken(store, "b")
    with pytest.raises(LeaseLost):
        store.renew_lease(lease, LONG)


def test_it_really_runs_out(store: Store) -> None:
    taken(store, seconds=SHORT)
    deadline = time.monotonic() + 20
    while store.take_lease(CONTROLLER, "b", LONG) is None:
        assert time.monotonic() < deadline


def test_of_many_that_try_at_once_one_gets_it(url: str) -> None:
    stores = [Store.open(url) for _ in range(6)]
    together = threading.Barrier(len(stores))

    def attempt(number: int) -> Lease | None:
        together.wait()
        return stores[number].take_lease(CONTROLLER, f"c{number}", LONG)

    with ThreadPoolExecutor(len(stores)) as pool:
        got = [lease for lease in pool.map(attempt, range(len(stores))) if lease is not None]
    assert len(got) == 1
    for store in stores:
        store.close()


class TestFence:
    def test_the_holder_writes(self, store: Store, url: str) -> None:
        with Store.open(url, fence=taken(store)) as active:
            with active.transaction():
                active.save_flow(make_flow(number=7), "e-1")
                active.save_rules([a_rule()], RuleState.PENDING, "", 1.0)
            assert store.flow(7) == make_flow(number=7)

    @pytest.mark.parametrize("successor", [None, "a", "b"])
    def test_a_stale_holder_writes_nothing(self, store: Store, url: str, successor: str | None) -> None:
        with Store.open(url, fence=taken(store)) as stale:
            run_out(url)
            if successor is not None:
                taken(store, successor)
            with pytest.raises(LeaseLost), stale.transaction():
                pytest.fail("the block was entered")
            with pytest.raises(LeaseLost):
                stale.save_flow(make_flow(number=7), "e-1")
            assert stale.flows() == ()

    def test_losing_it_is_an_error_of_the_family(self) -> None:
        assert issubclass(LeaseLost, Unavailable)

    def test_a_taker_waits_for_a_write_under_way_and_sees_it(self, store: Store, url: str) -> None:
        """The lease runs out while its holder is in the middle of a transaction."""
        lease = taken(store, seconds=1.0)
        with Store.open(url, fence=lease) as active, ThreadPoolExecutor(1) as pool:
            with active.transaction():
                active.save_flow(make_flow(number=7), "e-1")
                taking = pool.submit(self._take_when_free, url)
                time.sleep(1.5)  # the lease is over; SQLite and PostgreSQL must hold the taker back
                assert not taking.done()
            assert taking.result(20) == [7]

    def _take_when_free(self, url: str) -> list[int]:
        with Store.open(url) as other:
            while other.take_lease(CONTROLLER, "b", LONG) is None:
                time.sleep(0.01)
            return [flow.number for flow in other.flows()]
