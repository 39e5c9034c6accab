"""Instances: machines that probe each other, among which tasks are placed."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from measurement.model import sparse_schema

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

PORT = 8650
"""Where an instance's probe agent listens, TCP for orders and tests, UDP for probes."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


@dataclass(frozen=True, slots=True)
class Instance:
    """One machine.

    :param address: where its probe agent is reached, and measured from: an IP address.
    :param port: of the agent.
    :param zone: the availability zone, rack or site that it says it is in; empty if nobody knows.
    :param cores: of its processors, for placement; None if nobody said.
    :param memory: bytes, likewise.
    :raises ValueError: for what cannot be one; it names the field.
    """

    name: str
    address: str
    port: int = PORT
    zone: str = ""
    cores: float | None = None
    memory: int | None = None

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        return sparse_schema(source, handler, "port")

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            cause = f"{self.name[:80]!r} is not a word of letters, digits, '.', '_' and '-'; for example vm-a"
            raise ValueError(f"name: {cause}")
        try:
            ipaddress.ip_address(self.address)
        except ValueError:
            raise ValueError(
                f"address: {self.address[:80]!r} is not an IP address; for example 10.1.0.10"
            ) from None
        if not 0 < self.port < 65_536:
            raise ValueError(f"port: {self.port} is out of range; expected 1 to 65535")
        if self.cores is not None and not self.cores > 0:
            raise ValueError(f"cores: {self.cores} is out of range; expected more than 0")
        if self.memory is not None and not self.memory > 0:
            raise ValueError(f"memory: {self.memory} bytes is out of range; expected more than 0")
