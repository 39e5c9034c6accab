"""Links of a running network are changed, and put back as they were."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from adon.experiments.events import LinkChange, LinkSetting
from mininet_topos.networks import NamedLink, Network, Path
from mininet_topos.shaping import Change


class Bed(Protocol):
    """What of a bed is used here (:class:`mininet_topos.old_platforms.bed.Bed`)."""

    @property
    def network(self) -> Network:
        """What runs."""

    def set_link(self, name: str, change: Change) -> None:
        """Change a link."""


def asked(change: LinkChange | LinkSetting) -> Change:
    """What a file says."""
    state = change.state if isinstance(change, LinkChange) else None
    return Change(None if state is None else state == "up", change.rate, change.delay, change.loss)


def built(link: NamedLink) -> Change:
    """What a link was built as."""
    shape = link.shape
    return (
        Change(True, None, 0.0, 0.0) if shape is None else Change(True, shape.rate, shape.delay, shape.loss)
    )


def meant(network: Network, name: str) -> NamedLink:
    """The link of this name, or the narrowest link of the path of this name.

    :raises InvalidInput: if there is neither.
    """
    for path in network.paths:
        if path.name == name:
            links = [network.link(link) for link in path.links]
            return min(links, key=lambda link: float("inf") if link.shape is None else link.shape.rate)
    return network.link(name)


def seen_by_edges(network: Network, link: NamedLink) -> tuple[Path, ...]:
    """The paths whose ports at an edge go down with a link."""
    return tuple(path for path in network.paths if any(end.port in link.ends for end in path.ends.values()))


@contextmanager
def with_settings(bed: Bed, settings: dict[str, LinkSetting]) -> Iterator[None]:
    """Links are as a trial wants them, and as they were built when the context ends.

    :raises AdonError: if one of them cannot be so.
    """
    done: list[tuple[NamedLink, Change]] = []
    try:
        for name, setting in settings.items():
            link, change = meant(bed.network, name), asked(setting)
            bed.set_link(link.name, change)
            done.append((link, change))
        yield
    finally:
        for link, change in reversed(done):
            bed.set_link(link.name, change.undone(built(link)))
