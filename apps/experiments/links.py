"""Links of a running network are changed, and put back as they were."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Protocol

from adon.experiments.events import LinkChange, LinkSetting
from mininet_topos.networks import NamedLink, Network, Path


class Bed(Protocol):
    """What of a bed is used here (:class:`mininet_topos.platforms.bed.Bed`)."""

    @property
    def network(self) -> Network:
        """What runs."""

    def set_link(
        self,
        name: str,
        *,
        up: bool | None = None,
        rate: float | None = None,
        delay: float | None = None,
        loss: float | None = None,
    ) -> None:
        """Change a link."""


@dataclass(frozen=True, slots=True)
class Quality:
    """What of a link is changed; None is left as it is.

    :param rate: bits/s on the wire.
    :param delay: seconds, one way.
    :param loss: a ratio.
    """

    up: bool | None = None
    rate: float | None = None
    delay: float | None = None
    loss: float | None = None

    @classmethod
    def of(cls, change: LinkChange | LinkSetting) -> Quality:
        """What a file says."""
        state = change.state if isinstance(change, LinkChange) else None
        return cls(None if state is None else state == "up", change.rate, change.delay, change.loss)

    @classmethod
    def built(cls, link: NamedLink) -> Quality:
        """What a link was built as."""
        shape = link.shape
        return cls(True, None, 0.0, 0.0) if shape is None else cls(True, shape.rate, shape.delay, shape.loss)

    def over(self, before: Quality) -> Quality:
        """What a link is like that was so before, and is changed to this."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        return replace(before, **{name: value for name, value in own.items() if value is not None})

    def undone(self, before: Quality) -> Quality:
        """What makes a link again what it was before it was changed to this."""
        same = {one.name: None for one in fields(self) if getattr(self, one.name) is None}
        return replace(before, **same)

    def __str__(self) -> str:
        parts = [] if self.up is None else ["up" if self.up else "down"]
        parts += [] if self.rate is None else [f"{self.rate / 1e6:g} Mbit/s"]
        parts += [] if self.delay is None else [f"delay {self.delay * 1e3:g} ms"]
        parts += [] if self.loss is None else [f"loss {self.loss:.3%}"]
        return ", ".join(parts)


def meant(network: Network, name: str) -> NamedLink:
    """The link of this name, or the narrowest link of the path of this name.

    :raises InvalidInput: if there is neither.
    """
    for path in network.paths:
        if path.name == name:
            links = [network.link(link) for link in path.links]
            return min(links, key=lambda link: float("inf") if link.shape is None else link.shape.rate)
    return network.link(name)


def change(bed: Bed, link: NamedLink, quality: Quality) -> None:
    """Change a link.

    :raises AdonError: if it, or the platform, cannot be so.
    """
    bed.set_link(link.name, up=quality.up, rate=quality.rate, delay=quality.delay, loss=quality.loss)


def seen_by_edges(network: Network, link: NamedLink) -> tuple[Path, ...]:
    """The paths whose ports at an edge go down with a link."""
    return tuple(path for path in network.paths if any(end.port in link.ends for end in path.ends.values()))


@contextmanager
def with_settings(bed: Bed, settings: dict[str, LinkSetting]) -> Iterator[None]:
    """Links are as a trial wants them, and as they were built when the context ends.

    :raises AdonError: if one of them cannot be so.
    """
    done: list[tuple[NamedLink, Quality]] = []
    try:
        for name, setting in settings.items():
            link, quality = meant(bed.network, name), Quality.of(setting)
            change(bed, link, quality)
            done.append((link, quality))
        yield
    finally:
        for link, quality in reversed(done):
            change(bed, link, quality.undone(Quality.built(link)))
