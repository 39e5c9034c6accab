"""One place's book: nothing is given twice, everything comes back, reservations keep what they keep."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.resources.amounts import NOTHING, Amounts, Limits, Place
from adon.broker.resources.book import Book, Hold, Who
from adon.broker.resources.reservation import Reservation
from adon.errors import Conflict
from tests.support.refusals import refused

ANN, BOB = Who("ann"), Who("bob")
SITE = Place.at("osu-hpc")


def nodes(number: int) -> Amounts:
    return Amounts(nodes=number)


def reserved(number: int, amount: int, begins: float, ends: float, who: Who = ANN) -> Reservation:
    return Reservation(number, SITE, nodes(amount), begins, ends, who.owner, who.flow)


def a_book(limit: int = 10, *reservations: Reservation) -> Book:
    return Book(Limits(nodes=limit), reserved=tuple(reservations))


def free(book: Book, who: Who, begins: float = 0, ends: float = math.inf, now: float = 0) -> int | None:
    return book.free(now, begins, ends, who).nodes


class TestHolds:
    def test_a_flow_holds_once(self) -> None:
        book = a_book().hold(1, Hold(nodes(3), ANN), 0)
        with refused(Conflict, field="flow"):
            book.hold(1, Hold(nodes(1), ANN), 0)

    def test_what_is_not_held_can_be_released(self) -> None:
        book = a_book()
        assert book.release(7) is book

    def test_what_is_lacking_is_named_and_what_is_not_limited_never_lacks(self) -> None:
        book = Book(Limits(nodes=4, memory=8 * 10**9)).hold(1, Hold(Amounts(3, 64, 6 * 10**9), ANN), 0)
        with refused(Conflict, field="resources"):
            book.hold(2, Hold(Amounts(2, 1000, 5 * 10**9), ANN), 0)
        assert book.hold(2, Hold(Amounts(1, 1000), ANN), 0).held == Amounts(4, 1064, 6 * 10**9)

    def test_who_is_late_still_holds(self) -> None:
        book = a_book().hold(1, Hold(nodes(6), ANN, until=100.0), 0)
        assert free(book, BOB, begins=100.0) == 10
        assert free(book, BOB, begins=200.0, now=150.0) == 4

    def test_a_place_that_shrank_has_nothing(self) -> None:
        book = Book.of(Limits(nodes=2), {1: Hold(nodes(5), ANN)})
        assert free(book, BOB) == 0
        assert len(book.find_shortages(0)) == 1


class TestReservations:
    def test_what_is_reserved_is_free_for_its_owner_alone(self) -> None:
        book = a_book(10, reserved(1, 8, 100, 200))
        assert (free(book, ANN), free(book, BOB)) == (10, 2)
        assert free(book, BOB, ends=100) == 10, "whoever is gone before it begins is not in its way"
        assert free(book, BOB, begins=200) == 10, "nor is who comes after it"

    def test_an_owner_draws_on_the_reservation_first(self) -> None:
        book = a_book(10, reserved(1, 8, 0, 200)).hold(1, Hold(nodes(5), Who("ann", 1)), 0)
        assert free(book, BOB) == 2, "no more is committed than was before"
        assert free(book, Who("ann", 2)) == 5
        assert free(book.hold(2, Hold(nodes(2), BOB), 0), Who("ann", 2)) == 3

    def test_a_reservation_for_one_flow_is_not_for_the_owners_others(self) -> None:
        book = a_book(10, reserved(1, 8, 0, 200, Who("ann", 7)))
        assert (free(book, Who("ann", 7)), free(book, Who("ann", 8)), free(book, BOB)) == (10, 2, 2)

    def test_a_flow_draws_on_its_owners_reservation_until_its_own_begins(self) -> None:
        book = a_book(6, reserved(1, 2, 0, 200)).hold(7, Hold(nodes(3), Who("ann", 7)), 0)
        assert free(book, BOB) == 3
        with_its_own = book.reserve(reserved(2, 1, 50, 100, Who("ann", 7)))
        assert not with_its_own.find_shortages(0)
        assert [free(with_its_own, BOB, begins=at, ends=at) for at in (0, 50, 100, 200)] == [3, 1, 3, 3]
        tight = a_book(4, reserved(1, 2, 0, 200)).hold(7, Hold(nodes(3), Who("ann", 7)), 0)
        assert tight.earliest(nodes(1), 0, 50, 50, Who("ann", 7)) == 200

    def test_reservations_of_one_owner_add_up(self) -> None:
        book = a_book(10, reserved(1, 4, 0, 100), reserved(2, 4, 50, 150))
        assert free(book, BOB, ends=50) == 6
        assert free(book, BOB) == 2
        assert not book.lacking(nodes(2), 0, 60, 90, ANN, reserving=True)
        assert book.lacking(nodes(3), 0, 60, 90, ANN, reserving=True)

    def test_a_flow_that_holds_more_than_is_reserved_for_it_commits_what_it_holds(self) -> None:
        book = a_book(10, reserved(1, 5, 0, 200)).hold(7, Hold(nodes(5), Who("ann", 7)), 0)
        assert book.earliest(nodes(1), 0, 0, 50, Who("ann", 7)) == 0
        tight = a_book(9, reserved(1, 5, 0, 200)).hold(7, Hold(nodes(5), Who("ann", 7)), 0)
        assert tight.earliest(nodes(1), 0, 0, 50, Who("ann", 7)) == 200

    @pytest.mark.parametrize(
        ("amount", "length", "expected"),
        [(1, 1e9, 0), (2, 50, 0), (2, 51, 100), (7, 1000, 100), (8, 50, 0), (8, 51, 200), (11, 1, None)],
    )
    def test_when_it_would_fit(self, amount: int, length: float, expected: float | None) -> None:
        book = a_book(10, reserved(1, 6, 50, 100), reserved(2, 3, 50, 200))
        assert book.earliest(nodes(amount), 0, 0, length, BOB) == expected

    def test_a_gap_between_two_reservations_is_used_if_it_is_long_enough(self) -> None:
        book = a_book(10, reserved(1, 10, 50, 100), reserved(2, 10, 150, 200))
        times = [book.earliest(nodes(1), 0, 0, length, BOB) for length in (50, 51, 200)]
        assert times == [0, 200, 200]
        assert book.earliest(nodes(1), 0, 60, 50, BOB) == 100


# -- properties -----------------------------------------------------------------------------------------

people = st.sampled_from([ANN, BOB, Who("cid")])
instants = st.integers(0, 20).map(float)


@st.composite
def books(draw: st.DrawFn) -> tuple[Book, float]:
    """A book that was made by what the book allows, at some time."""
    now = draw(instants)
    book = a_book(draw(st.integers(0, 12)))
    for number in range(draw(st.integers(0, 6))):
        who, amount = draw(people), draw(st.integers(1, 5))
        if draw(st.booleans()):
            who = Who(who.owner, draw(st.integers(1, 3))) if draw(st.booleans()) else who
            begins = now + draw(instants)
            ends = begins + draw(st.integers(1, 15))
            if not book.lacking(nodes(amount), now, begins, ends, who, reserving=True):
                book = book.reserve(reserved(number + 1, amount, begins, ends, who))
        else:
            until = draw(st.sampled_from([now + 3, now + 8, math.inf]))
            hold = Hold(nodes(amount), Who(who.owner, number + 1), until)
            if not book.lacking(hold.amounts, now, now, until, hold.who):
                book = book.hold(number + 1, hold, now)
    return book, now


def committed(book: Book, at: float, now: float) -> int:
    """What is committed at a time, written down a second time and for single nodes."""
    own = {one.flow for one in book.reserved if one.flow is not None and one.begins <= at < one.ends}
    held: dict[object, int] = {}
    for flow, hold in book.holds.items():
        key = (hold.who.owner, flow if flow in own else None)
        if at <= now or at < hold.until or hold.until <= now:
            held[key] = held.get(key, 0) + hold.amounts.nodes
    kept: dict[object, int] = {}
    for one in book.reserved:
        if one.begins <= at < one.ends:
            key = (one.owner, one.flow)
            kept[key] = kept.get(key, 0) + one.amounts.nodes
    return sum(max(held.get(key, 0), kept.get(key, 0)) for key in held.keys() | kept.keys())


def moments(book: Book, now: float) -> Iterable[float]:
    yield now
    yield from (at for one in book.reserved for at in (one.begins, one.ends) if at >= now)
    yield from (hold.until for hold in book.holds.values() if now < hold.until < math.inf)


@given(books())
def test_nothing_is_ever_given_twice(drawn: tuple[Book, float]) -> None:
    book, now = drawn
    assert book.limits.nodes is not None
    for at in moments(book, now):
        assert committed(book, at, now) <= book.limits.nodes
    assert not book.find_shortages(now)
    assert book.held.nodes == sum(hold.amounts.nodes for hold in book.holds.values())


@given(books(), people, st.integers(1, 6), st.sampled_from([2.0, 9.0, math.inf]))
def test_a_hold_is_given_exactly_when_it_fits_and_comes_back_exactly(
    drawn: tuple[Book, float], who: Who, amount: int, lasts: float
) -> None:
    book, now = drawn
    hold = Hold(nodes(amount), Who(who.owner, 99), now + lasts)
    after = Book.of(book.limits, {**book.holds, 99: hold}, book.reserved)
    fits = all(
        committed(after, at, now) <= (book.limits.nodes or 0)
        for at in moments(book, now)
        if at < now + lasts or at == now
    )
    assert fits is not bool(book.lacking(hold.amounts, now, now, now + lasts, hold.who))
    if fits:
        taken = book.hold(99, hold, now)
        assert taken == after
        assert taken.release(99) == book


@given(books(), people, st.integers(1, 6), instants, st.integers(1, 9))
def test_the_earliest_time_is_one_that_fits_and_none_before_it_does(
    drawn: tuple[Book, float], who: Who, amount: int, after: float, length: int
) -> None:
    book, now = drawn
    after += now

    def fits(at: float) -> bool:
        return not book.lacking(nodes(amount), now, at, at + length, who, reserving=True)

    found = book.earliest(nodes(amount), now, after, length, who)
    tries = [at for at in {after, *moments(book, now)} if at >= after]
    tries += [at - 0.5 for at in tries if at - 0.5 >= after]
    if found is None:
        assert not any(map(fits, tries))
    else:
        assert found >= after
        assert fits(found)
        assert not any(fits(at) for at in tries if at < found)


@given(books(), people)
def test_the_profile_is_what_is_free(drawn: tuple[Book, float], who: Who) -> None:
    book, now = drawn
    for step in book.profile(now, who):
        assert step.free == book.free(now, step.at, step.at, who, reserving=True)


@given(books())
def test_everything_released_and_expired_leaves_everything(drawn: tuple[Book, float]) -> None:
    book, now = drawn
    for flow in list(book.holds):
        book = book.release(flow)
    for one in book.reserved:
        book = book.drop(one.number)
    assert (book.held, book.free(now, now, math.inf, ANN)) == (NOTHING, book.limits)
