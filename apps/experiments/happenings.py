"""A file's events carried out: links change, ADON is stopped or killed, flows are moved by hand.

Several events may hold a link at once.  It is then what the trial wants it to be from its beginning on,
changed by each of them in the order in which they began; one that ends takes away only what no other asks
for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from adon.errors import InvalidInput
from adon.experiments.events import Controller, Event, LinkChange, LinkSetting
from adon.values import FrozenMap
from apps.experiments import links
from apps.experiments.deciding import Decider
from apps.experiments.links import Bed
from mininet_topos.networks import NamedLink
from mininet_topos.shaping import Change


@dataclass(frozen=True, slots=True)
class Done:
    """What was done, in words; and, in words, what of it was not as asked."""

    about: str
    trouble: str = ""


@dataclass(slots=True)
class Happenings:
    """See the module's text.

    :param control: stops, starts or kills ADON; None where none runs.
    :param settings: what links are like in this trial from the beginning on, by name of a link or path.
    """

    bed: Bed
    decider: Decider
    control: Callable[[Controller], None] | None
    settings: Mapping[str, LinkSetting] = FrozenMap()
    _settled: dict[str, Change] = field(default_factory=dict)
    """What links are like when no event holds them, of those that are not as they were built."""
    _held: dict[str, tuple[NamedLink, Change]] = field(default_factory=dict)
    """What events that have begun ask of links, by event, in the order in which they began."""

    def __post_init__(self) -> None:
        for name, setting in self.settings.items():
            link = links.meant(self.bed.network, name)
            self._settled[link.name] = links.asked(setting).over(self._quiet(link))

    def begin(self, event: Event) -> Done:
        """Do it.

        :raises AdonError: if it cannot be done.
        """
        if event.link is not None:
            return self._link(event.name, event.link)
        if event.controller is not None:
            if self.control is None:
                raise InvalidInput.of(f"events.{event.name}", "ADON does not run in this trial")
            self.control(event.controller)
            return Done(f"ADON: {event.controller.value}")
        assert event.move is not None  # noqa: S101 - one of the four is there, and loads are not ours
        trouble = self.decider.move(event.move.flow, event.move.to)
        return Done(f"{event.move.flow} is ordered to {event.move.to}", trouble)

    def end(self, event: Event) -> Done:
        """Undo it; of what has no end nothing is to be undone.

        :raises AdonError: if it cannot be undone.
        """
        if event.name not in self._held:
            return Done("")
        link, _ = self._held[event.name]
        changed = self._change(link, {name: one for name, one in self._held.items() if name != event.name})
        return Done(f"{link.name}: {changed or 'stays as it is'}")

    def undo(self) -> None:
        """Put back every link that is still changed: the trial is over."""
        changed = {link.name: link for link, _ in reversed(self._held.values())}
        for link in changed.values():
            undone = self._quiet(link).unlike(self._like(link, self._held))
            if undone != Change():
                self.bed.set_link(link.name, undone)
        self._held.clear()

    def _link(self, name: str, wanted: LinkChange) -> Done:
        link, asked = links.meant(self.bed.network, wanted.name or wanted.path or ""), links.asked(wanted)
        self._change(link, {**self._held, name: (link, asked)})
        return Done(f"{link.name}: {asked}")

    def _change(self, link: NamedLink, held: dict[str, tuple[NamedLink, Change]]) -> str:
        """Make a link what it is when these events hold; in words what that changed."""
        change = self._like(link, held).unlike(self._like(link, self._held))
        if change != Change():
            self.bed.set_link(link.name, change)
        self._held = held
        if change.up is not None:
            for path in links.seen_by_edges(self.bed.network, link):
                self.decider.ports(path, live=change.up)
        return str(change)

    def _quiet(self, link: NamedLink) -> Change:
        """What a link is like when no event holds it."""
        return self._settled.get(link.name, links.built(link))

    def _like(self, link: NamedLink, held: Mapping[str, tuple[NamedLink, Change]]) -> Change:
        """What a link is like when these events hold."""
        like = self._quiet(link)
        for other, asked in held.values():
            if other.name == link.name:
                like = asked.over(like)
        return like
