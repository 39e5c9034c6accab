"""Cookies: owner and kind of a rule (R1).

``0xAD`` in the top byte marks ADON's rules; ADON never modifies or deletes other rules.  The kind, the tenant
(the number of a slice, 0 for none) and the number of the owner follow::

    63      56 55      48 47        36 35                                 0
    +---------+----------+------------+-----------------------------------+
    |  0xAD   |   kind   |   tenant   |           owner number            |
    +---------+----------+------------+-----------------------------------+

The owner is a flow (its number), a path (its index) or a switch (its position in the configuration),
depending on the kind.
"""

from __future__ import annotations

from enum import IntEnum

COOKIE_PREFIX = 0xAD << 56
COOKIE_MASK = 0xFF << 56
FLOWS_PREFIX = 0xAD10 << 48
FLOWS_MASK = 0xFFF0 << 48
"""Kinds 0x10 to 0x1f: rules of flows, few enough for frequent reads; connections (0x20) are not."""
TENANT_BITS, NUMBER_BITS = 12, 36


class Kind(IntEnum):
    """Kind byte of a cookie: the purpose of the rule."""

    MEASUREMENT = 0x01
    TRANSIT = 0x02
    PIPELINE = 0x03
    DISCOVERY = 0x04
    REACTIVE = 0x05
    REFUSED = 0x06
    FLOW_INGRESS = 0x10
    FLOW_DELIVERY = 0x11
    FLOW_LEARN = 0x12
    FLOW_POLICY = 0x13
    FLOW_CONNECTION = 0x20


_KINDS = {int(kind): kind for kind in Kind}
_OF_PATHS = frozenset({Kind.MEASUREMENT, Kind.TRANSIT})
_OF_SWITCHES = frozenset({Kind.PIPELINE, Kind.DISCOVERY, Kind.REACTIVE, Kind.REFUSED})


def cookie(kind: Kind, number: int, tenant: int = 0) -> int:
    """Return the cookie of a kind, owner and tenant.

    :raises ValueError: if the owner's number or the tenant does not fit its field.
    """
    if not 0 <= number < 1 << NUMBER_BITS:
        raise ValueError(f"owner number {number} does not fit {NUMBER_BITS} bits")
    if not 0 <= tenant < 1 << TENANT_BITS:
        raise ValueError(f"tenant {tenant} does not fit {TENANT_BITS} bits")
    return COOKIE_PREFIX | kind << 48 | tenant << NUMBER_BITS | number


def is_our_cookie(value: int) -> bool:
    """Return whether a cookie is ADON's."""
    return value & COOKIE_MASK == COOKIE_PREFIX


def cookie_kind(value: int) -> Kind | None:
    """Return the kind of a cookie; None for a foreign cookie, or an unknown kind."""
    return _KINDS.get(value >> 48 & 0xFF) if is_our_cookie(value) else None


def cookie_owner(value: int) -> tuple[Kind, int]:
    """Return kind and owner number of a cookie.

    :raises ValueError: for a foreign cookie or an unknown kind.
    """
    kind = cookie_kind(value)
    if kind is None:
        raise ValueError(f"cookie 0x{value:x} has no known kind of ADON's rules")
    return kind, value & (1 << NUMBER_BITS) - 1


def cookie_tenant(value: int) -> int:
    """Return the tenant of a cookie; 0 for none."""
    return value >> NUMBER_BITS & (1 << TENANT_BITS) - 1


def owner_name(value: int) -> str:
    """Return the owner of a cookie: ``f-17``, ``path-0`` or ``switch-2``.

    The owner of an unknown kind (from a later version) is ``unknown-`` and the cookie.
    """
    kind, number = cookie_kind(value), value & (1 << NUMBER_BITS) - 1
    if kind is None:
        return f"unknown-{value:x}"
    if kind in _OF_PATHS:
        return f"path-{number}"
    return f"switch-{number}" if kind in _OF_SWITCHES else f"f-{number}"
