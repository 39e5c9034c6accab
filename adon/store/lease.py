"""The lease of the active controller, among several that share a database.

One row: holder, generation, expiry.  The clock is the database's, so that the controllers' own clocks need
not agree.  To take, to renew and to give back is one statement each, so two that try at the same time cannot
both succeed.  Leases after Gray and Cheriton, "Leases: an efficient fault-tolerant mechanism" (SOSP 1989).
The generation is a fencing token, and goes to switches as OpenFlow's ``generation_id`` (1.3.5, 6.3.6).

Two promises:

- **A stale holder writes nothing.**  Every transaction of a fenced store first reads the row under a lock
  that a taker must wait for (:func:`check`), so its successor reads all of its writes.
- **Generations only grow**, over restarts, too, and over a database that was made anew or restored from a
  copy: the next one is the last plus one, or the microseconds since the epoch if that is more.  Switches
  remember the largest they have seen and would refuse a smaller one for ever; and two controllers that
  share no database by mistake do not get the same one.

A holder never takes its own running lease again: its last process may still run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Connection, Double, case, cast, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import FunctionElement

from adon.errors import InvalidInput, Unavailable
from adon.store.engine import parse_url
from adon.store.tables import leases

CONTROLLER = "controller"
"""The lease of the controller that is active."""


def check_shared(url: str) -> None:
    """Refuse a database of a single host, which other controllers cannot share.

    :raises InvalidInput: for anything but PostgreSQL.
    """
    if parse_url(url).get_backend_name() != "postgresql":
        raise InvalidInput.of(
            "controller.ha", "needs a PostgreSQL database that every controller can reach (--store URL)"
        )


class LeaseLost(Unavailable):
    """Another controller has taken over, or may have: nothing was written, and nothing more may be."""

    code = "lease-lost"
    title = "Not the active controller"


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease of this process.

    :param generation: grows each time that the lease is taken; 64 bits.
    """

    name: str
    holder: str
    generation: int


@dataclass(frozen=True, slots=True)
class Held:
    """The present or last holder of a lease.

    :param seconds: remaining time by the database's clock; 0 or less if the lease is free.
    """

    holder: str
    generation: int
    seconds: float


class _Now(FunctionElement[float]):
    """Seconds since the epoch by the clock of the database, at the time of the statement."""

    type = Double()
    inherit_cache = True


@compiles(_Now, "postgresql")
def _now_postgresql(*_: Any, **__: Any) -> str:
    return "extract(epoch from clock_timestamp())::double precision"


@compiles(_Now, "sqlite")
def _now_sqlite(*_: Any, **__: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


def take(connection: Connection, name: str, holder: str, seconds: float) -> Lease | None:
    """Take a lease that is free or has run out, for so many seconds; None while it is held."""
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    values = {"name": name, "holder": holder, "generation": _microseconds(), "expires": _Now() + seconds}
    following = leases.c.generation + 1
    taken = (
        insert(leases)
        .values(values)
        .on_conflict_do_update(
            index_elements=[leases.c.name],
            set_={
                "holder": holder,
                "generation": case((following > _microseconds(), following), else_=_microseconds()),
                "expires": _Now() + seconds,
            },
            where=leases.c.expires <= _Now(),
        )
        .returning(leases.c.generation)
    )
    generation = connection.execute(taken).scalar_one_or_none()
    return None if generation is None else Lease(name, holder, generation)


def _microseconds() -> Any:
    return cast(func.floor(_Now() * 1e6), BigInteger)


def renew(connection: Connection, lease: Lease, seconds: float) -> None:
    """Renew a lease for so many seconds from now.

    :raises LeaseLost: if it has run out, whether or not another holder took it since.
    """
    renewed = update(leases).where(_runs(lease)).values(expires=_Now() + seconds)
    if connection.execute(renewed).rowcount != 1:
        raise _lost(connection, lease)


def give_back(connection: Connection, lease: Lease) -> None:
    """End a lease now; no effect if it is lost."""
    connection.execute(update(leases).where(_runs(lease)).values(expires=_Now()))


def check(connection: Connection, lease: Lease) -> None:
    """Check that a lease is valid, and keep it until the transaction ends.

    :raises LeaseLost: if it is not.
    """
    # FOR SHARE: a taker's UPDATE waits for our commit.  SQLite has one writer at a time anyway.
    if (
        connection.execute(select(leases.c.name).where(_runs(lease)).with_for_update(read=True)).first()
        is None
    ):
        raise _lost(connection, lease)


def read(connection: Connection, name: str) -> Held | None:
    """Return the present or last holder of a lease; None if there was none."""
    query = select(leases.c.holder, leases.c.generation, leases.c.expires - _Now())
    row = connection.execute(query.where(leases.c.name == name)).one_or_none()
    return None if row is None else Held(*row)


def _runs(lease: Lease) -> Any:
    ours = (leases.c.holder == lease.holder) & (leases.c.generation == lease.generation)
    return (leases.c.name == lease.name) & ours & (leases.c.expires > _Now())


def _lost(connection: Connection, lease: Lease) -> LeaseLost:
    found = read(connection, lease.name)
    if found is None or found.generation == lease.generation:
        return LeaseLost(f"the lease {lease.name!r} of {lease.holder} ran out")
    return LeaseLost(
        f"the lease {lease.name!r} of {lease.holder} (generation {lease.generation}) was taken by "
        f"{found.holder} (generation {found.generation})"
    )
