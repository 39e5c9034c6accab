"""A switch's port, as the switch reported it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PortState:
    """A port of a switch: its OpenFlow number, whether frames can pass, and its own MAC address.

    :param admin: whether it is switched on.
    :param oper: whether it has carrier.
    """

    number: int
    live: bool
    mac: str = ""
    admin: bool = True
    oper: bool = True
