"""Events of links that overlap: what a link is like while they hold, and when the trial is over."""

from __future__ import annotations

import pytest

from adon.experiments.events import Event, LinkSetting
from apps.experiments import links
from apps.experiments.happenings import Happenings
from mininet_topos.shaping import Change
from tests.apps.experiments.loopback import Bed, network

DOWN, UP, SLOW, SLOWER = {"state": "down"}, {"state": "up"}, {"rate": "3 Mbps"}, {"rate": "2 Mbps"}
RATE = network().link("line").shape.rate


class Ports:
    """Who decides, as far as ports go."""

    def __init__(self) -> None:
        self.told: list[bool] = []

    def ports(self, path, *, live):
        self.told.append(live)


def event(name: str, link: str, change: dict[str, str]) -> Event:
    return Event.model_validate({"event": name, "at": "0 s", "link": {"name": link, **change}})


def happened(tmp_path, link: str, changes, order: str, settings=()):
    """Begin (``a``) and end (``A``) events in this order: the bed, who decides, and all of them."""
    events = {name: event(name, link, change) for name, change in changes.items()}
    bed, ports = Bed(tmp_path), Ports()
    happenings = Happenings(bed, ports, None, dict(settings))
    for letter in order:
        one = events[letter.lower()]
        happenings.begin(one) if letter.islower() else happenings.end(one)
    return bed, ports, happenings


def like(bed: Bed, link: str, before: Change) -> Change:
    """What a link is like that was so before, and was changed as the bed was told."""
    for name, change in bed.links:
        if name == link:
            before = change.over(before)
    return before


@pytest.mark.parametrize(
    ("changes", "order", "then"),
    [
        ({"a": DOWN, "b": DOWN}, "abA", Change(up=False)),
        ({"a": DOWN, "b": DOWN}, "abAB", Change(up=True)),
        ({"a": DOWN, "b": DOWN}, "abBA", Change(up=True)),
        ({"a": DOWN, "b": UP}, "abA", Change(up=True)),
        ({"a": SLOW, "b": SLOWER}, "abA", Change(rate=2e6)),
        ({"a": SLOW, "b": SLOWER}, "abB", Change(rate=3e6)),
        ({"a": SLOW, "b": SLOWER}, "abAB", Change(rate=RATE)),
        ({"a": {**DOWN, **SLOW}, "b": DOWN}, "abA", Change(up=False, rate=RATE)),
    ],
)
def test_a_link_is_what_the_events_that_hold_make_of_it_and_afterwards_as_it_was(
    tmp_path, changes, order, then
):
    bed, _, happenings = happened(tmp_path, "line", changes, order)
    built = links.built(bed.network.link("line"))
    assert like(bed, "line", built) == then.over(built)
    happenings.undo()
    assert like(bed, "line", built) == built


def test_what_is_put_back_is_what_the_trial_wants_not_what_was_built(tmp_path):
    settings = {"al2s": LinkSetting.model_validate({"delay": "20 ms"})}
    worse = {"delay": "90 ms"}
    bed, _, happenings = happened(tmp_path, "line", {"a": worse, "b": worse}, "abA", settings.items())
    happenings.undo()
    assert bed.links == [("line", Change(delay=0.09)), ("line", Change(delay=0.02))]


def test_ports_are_told_when_they_go_down_and_when_nothing_holds_them_any_more(tmp_path):
    _, ports, _ = happened(tmp_path, "mu-al2s", {"a": DOWN, "b": DOWN}, "abAB")
    assert ports.told == [False, True]


def test_an_end_that_changes_nothing_says_so(tmp_path):
    _, _, happenings = happened(tmp_path, "line", {"a": DOWN, "b": DOWN}, "ab")
    assert happenings.end(event("a", "line", DOWN)).about != "line: up"
    assert happenings.end(event("b", "line", DOWN)).about == "line: up"
