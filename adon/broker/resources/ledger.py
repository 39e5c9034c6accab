"""The ledger: the books of all compute sites, and what is reserved of paths ([ADON] algorithm 2's A and R).

``R = ℝ − Σ allocated`` per site and kind of resource.  What flows hold of sites is the set A of algorithm 2
and follows from the running flows; across a restart it is worked out from them again.  What flows take of
paths is not here: :mod:`adon.broker.resources.paths` makes the book of a path from the flows on it.

A value: every change gives a new ledger.  ``now`` in seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from adon.broker.resources.amounts import Limits, Place
from adon.broker.resources.book import Book, Hold
from adon.broker.resources.reservation import Reservation, Stage
from adon.errors import Conflict, NotFound
from adon.values import FrozenMap


@dataclass(frozen=True, slots=True)
class Ledger:
    """See the module's text.

    :param sites: the book of each compute site, by name.
    :param elsewhere: reservations of paths, and of sites that are not configured now.
    :param last: the highest number that a reservation ever had.
    """

    sites: Mapping[str, Book] = field(default_factory=FrozenMap)
    elsewhere: tuple[Reservation, ...] = ()
    last: int = 0

    @classmethod
    def of(cls, limits: Mapping[str, Limits], reservations: Iterable[Reservation], now: float) -> Ledger:
        """Return the ledger of these sites and open reservations, without holders.

        :param reservations: all there ever were: those that are over count for the numbers only.
        """
        ledger = cls(FrozenMap({name: Book(limit) for name, limit in limits.items()}))
        for one in reservations:
            ledger = replace(ledger, last=max(ledger.last, one.number))
            if one.stage(now) in (Stage.AHEAD, Stage.ACTIVE):
                ledger = ledger.reserve(one)
        return ledger

    def book(self, site: str) -> Book:
        """The book of a compute site.

        :raises NotFound: for a site that is not configured.
        """
        if site not in self.sites:
            raise NotFound("compute site", site)
        return self.sites[site]

    # -- what flows hold ------------------------------------------------------------------------------

    @property
    def holders(self) -> Mapping[int, str]:
        """The set A: which flow holds something of which site."""
        return {flow: site for site, book in self.sites.items() for flow in book.holds}

    def hold(self, flow: int, site: str, hold: Hold, now: float) -> Ledger:
        """The ledger after a flow took something of a site.

        :raises NotFound: for a site that is not configured.
        :raises Conflict: if the flow holds something of a site already, or so much is not free.
        """
        other = next((name for name, book in self.sites.items() if flow in book.holds), None)
        if other is not None:
            raise Conflict("flow", f"f-{flow} holds resources of {other} already")
        return self._with(site, self.book(site).hold(flow, hold, now))

    def inheriting(self, held: Mapping[str, Mapping[int, Hold]]) -> Ledger:
        """The ledger with what flows held; of a site that has shrunk they get what is there, in order."""
        ledger = self
        for site, holds in held.items():
            book, found = self.book(site), dict[int, Hold]()
            left = book.limits
            for flow, hold in holds.items():
                amounts = left.clip(hold.amounts)
                if amounts:
                    found[flow] = replace(hold, amounts=amounts)
                    left = left.less(amounts)
            ledger = ledger._with(site, Book.of(book.limits, found, book.reserved))
        return ledger

    def release(self, flow: int) -> Ledger:
        """The ledger after a flow gave back what it held; itself where it held nothing."""
        for site, book in self.sites.items():
            if flow in book.holds:
                return self._with(site, book.release(flow))
        return self

    def _with(self, site: str, book: Book) -> Ledger:
        return replace(self, sites=FrozenMap({**self.sites, site: book}))

    # -- reservations ---------------------------------------------------------------------------------

    @property
    def reserved(self) -> bool:
        """Whether anything is reserved of a compute site."""
        return any(book.reserved for book in self.sites.values())

    @property
    def reservations(self) -> tuple[Reservation, ...]:
        """Every reservation that is kept, by number."""
        kept = [*self.elsewhere, *(one for book in self.sites.values() for one in book.reserved)]
        return tuple(sorted(kept, key=lambda one: one.number))

    def along(self, place: Place) -> tuple[Reservation, ...]:
        """The reservations of one direction of a path."""
        return tuple(one for one in self.elsewhere if one.place == place)

    def reserve(self, reservation: Reservation) -> Ledger:
        """The ledger with one reservation more; whether there is as much was asked before."""
        kept = replace(self, last=max(self.last, reservation.number))
        site = reservation.place.compute
        if site in self.sites:
            return kept._with(site, self.sites[site].reserve(reservation))
        return replace(kept, elsewhere=(*self.elsewhere, reservation))

    def reservation(self, number: int) -> Reservation:
        """One reservation that is not over.

        :raises Conflict: if it has ended or was released.
        :raises NotFound: if it never was.
        """
        found = next((one for one in self.reservations if one.number == number), None)
        if found is None:
            if 1 <= number <= self.last:
                raise Conflict("state", f"reservation r-{number} has ended or was released")
            raise NotFound("reservation", f"r-{number}")
        return found

    def drop(self, numbers: Iterable[int]) -> Ledger:
        """The ledger without some reservations."""
        gone = frozenset(numbers)
        if not gone:
            return self
        sites = {site: _without(book, gone) for site, book in self.sites.items()}
        left = tuple(one for one in self.elsewhere if one.number not in gone)
        return replace(self, sites=FrozenMap(sites), elsewhere=left)


def _without(book: Book, gone: frozenset[int]) -> Book:
    for one in book.reserved:
        if one.number in gone:
            book = book.drop(one.number)
    return book
