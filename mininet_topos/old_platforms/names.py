"""The names of the platforms."""

from __future__ import annotations

from enum import StrEnum


class Platform(StrEnum):
    """How a test network is run."""

    HOST_KERNEL = "host-kernel"
    """The machine's kernel: its Open vSwitch datapath, its netem."""
    HOST_USER = "host-user"
    """The machine's kernel, with Open vSwitch's userspace datapath."""
    GUEST = "guest"
    """A User-Mode-Linux kernel of its own: netem, its Open vSwitch datapath, no root."""
