"""Three ways to run a test network on this machine: :class:`~mininet_topos.old_platforms.bed.Bed`.

``host-kernel`` and ``host-user`` build it in namespaces of the machine's own kernel, which needs root;
``guest`` builds it in a User-Mode-Linux kernel, which needs no rights and always has netem.  What is there is
looked at once (:mod:`~mininet_topos.old_platforms.machine`), which one is taken is a function of that
(:mod:`~mininet_topos.old_platforms.choosing`), and :func:`up` brings the network up.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mininet_topos.old_platforms.choosing import Choice
from mininet_topos.old_platforms.choosing import choose as _choose
from mininet_topos.old_platforms.names import Platform

if TYPE_CHECKING:
    from mininet_topos.networks import Network
    from mininet_topos.old_isolation import RunFolder
    from mininet_topos.old_platforms.bed import Bed, Underway

__all__ = ["Choice", "Platform", "begun", "choose", "running", "up"]


def choose(asked: str | None = None, *, needs_delay: bool = False) -> Choice:
    """The platform for this machine, and why.

    :param asked: the name of a platform, ``host`` (whichever of its two), or None or ``auto`` for the best.
    :param needs_delay: whether links must have their delay and loss.
    :raises InvalidInput: if there is no platform of that name.
    :raises Unavailable: if the one that is asked for, or any, cannot be had here; says what is missing.
    """
    from mininet_topos.old_platforms.machine import look

    return _choose(asked, look(), needs_delay=needs_delay)


@contextmanager
def up(platform: Platform, network: Network, folder: RunFolder) -> Iterator[Bed]:
    """A running test network with its measurement points; it is gone when the context ends.

    :param folder: locked and empty (:func:`mininet_topos.old_isolation.run_folder`).
    :raises Unavailable: if it does not come up, with the end of its log.
    """
    with begun(platform, network, folder) as underway:
        underway.await_built()
        yield underway.bed


def begun(platform: Platform, network: Network, folder: RunFolder) -> AbstractContextManager[Underway]:
    """As :func:`up`, but it is still being built when the context begins."""
    if platform is Platform.GUEST:
        from mininet_topos.old_platforms.guest import guest_begun as start
    else:
        from mininet_topos.old_platforms.host import host_begun as start
    return start(platform, network, folder)


def running(folder: Path) -> Bed:
    """The network that runs in a folder.

    :raises Unavailable: if none does.
    """
    from mininet_topos.old_platforms import guest, host, state

    if state.read_begun(folder).platform is Platform.GUEST:
        return guest.GuestBed.read(folder)
    return host.HostBed.read(folder)
