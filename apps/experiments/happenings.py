"""A file's events carried out: links change, ADON is stopped or killed, flows are moved by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from adon.errors import InvalidInput
from adon.experiments.events import Controller, Event, LinkChange, LinkSetting
from adon.frozenmap import FrozenMap
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
    _present: dict[str, Change] = field(default_factory=dict)
    _undoing: dict[str, tuple[NamedLink, Change]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, setting in self.settings.items():
            self._note(links.meant(self.bed.network, name), links.asked(setting))

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
        if event.name not in self._undoing:
            return Done("")
        link, undone = self._undoing.pop(event.name)
        self._change(link, undone)
        return Done(f"{link.name}: {undone}")

    def undo(self) -> None:
        """Put back every link that is still changed: the trial is over."""
        for link, undone in reversed(self._undoing.values()):
            self.bed.set_link(link.name, undone)
        self._undoing.clear()

    def _link(self, name: str, wanted: LinkChange) -> Done:
        link, change = links.meant(self.bed.network, wanted.name or wanted.path or ""), links.asked(wanted)
        undone = change.undone(self._now(link))
        self._change(link, change)
        self._undoing[name] = (link, undone)
        return Done(f"{link.name}: {change}")

    def _change(self, link: NamedLink, change: Change) -> None:
        self.bed.set_link(link.name, change)
        self._note(link, change)
        self._tell_ports(link, change)

    def _now(self, link: NamedLink) -> Change:
        """What it is like."""
        return self._present.get(link.name, links.built(link))

    def _note(self, link: NamedLink, change: Change) -> None:
        self._present[link.name] = change.over(self._now(link))

    def _tell_ports(self, link: NamedLink, change: Change) -> None:
        if change.up is None:
            return
        for path in links.seen_by_edges(self.bed.network, link):
            self.decider.ports(path, live=change.up)
