"""Whether the ADON of a test network that stands answers.

Its web socket belongs to the owner, which outlives it: whoever connects to the socket of an ADON that has
died is let in, and waits for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from adon.errors import AdonError
from mininet_topos.standing.asked import Standing

PATIENCE = 2.0
"""Seconds: a loopback's answer takes some milliseconds."""
AT_ONCE = 16


def answering(there: Sequence[Standing]) -> list[bool | None]:
    """Of each whether its ADON answers; None without ADON.  All are asked at once."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(_answers, there))


def _answers(one: Standing) -> bool | None:
    if one.url is None:
        return None
    from adon.client import Client  # not above: it takes longer to read than all else that is asked here

    try:
        Client.at(one.url, None, timeout=PATIENCE).alive()
    except AdonError:
        return False
    return True
