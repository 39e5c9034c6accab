"""What can be asked of the network, as values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """Which packet is asked about.

    :param source, destination: names of DTNs.
    :param protocol: an IP protocol number.
    :param port: the destination port; 0 where the protocol has none.
    :param source_port: None for one that no rule names.
    :param version: of IP.
    """

    source: str
    destination: str
    protocol: int = 6
    port: int = 0
    source_port: int | None = None
    version: int = 4
