"""Reservations as rows."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from adon.broker.resources.reservation import Reservation
from adon.errors import NotFound
from adon.store.reading import read_value
from adon.store.tables import reservations
from measurement.model import to_json


def save(connection: Connection, reservation: Reservation) -> None:
    """Keep a reservation as it is now."""
    connection.execute(delete(reservations).where(reservations.c.number == reservation.number))
    row = {
        "number": reservation.number,
        "owner": reservation.owner,
        "ends": reservation.ends,
        "body": to_json(reservation),
    }
    connection.execute(insert(reservations).values(**row))


def read(connection: Connection, number: int) -> Reservation:
    """One reservation.

    :raises NotFound: if there is none of this number.
    """
    query = select(reservations.c.body).where(reservations.c.number == number)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound("reservation", f"r-{number}")
    return read_value(Reservation, row.body, f"reservation r-{number}")


def listed(connection: Connection, since: float | None, owner: str | None) -> tuple[Reservation, ...]:
    """Reservations by number; with ``since`` those that end later than that."""
    query = select(reservations).order_by(reservations.c.number)
    if since is not None:
        query = query.where(reservations.c.ends > since)
    if owner is not None:
        query = query.where(reservations.c.owner == owner)
    return tuple(
        read_value(Reservation, row.body, f"reservation r-{row.number}") for row in connection.execute(query)
    )
