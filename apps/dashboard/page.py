"""What a page is: an address, who is offered it, what it shows, and what of it moves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from urllib.parse import unquote

from dash import Dash
from dash.development.base_component import Component

from adon.access.identity import Actor
from adon.access.policy import Action, OwnedObject, Policy
from apps.dashboard.visit import Visit

Show = Callable[[Visit], Component]


class Group(StrEnum):
    """The navigation's groups, in their order."""

    TRANSFERS = "Transfers"
    POLICY = "Policy"
    NETWORK = "Network"
    INSTANCES = "Instances"
    OPERATION = "Operation"


def no_callbacks(_app: Dash) -> None:
    """For a page on which nothing can be done."""


@dataclass(frozen=True)
class Page:
    """One page.

    :param path: its address; ``<name>`` stands for one part (``/flows/<id>``).
    :param title: its name in the navigation and in the browser's title.
    :param action: who may not do this is not offered the page (the API refuses by itself).
    :param show: what stays as long as the page is open, forms included.
    :param live: what is requested again every ``refresh_s`` seconds and shown below it, if it has changed.
    :param group: where the navigation lists it; None for a page that others lead to.
    :param below: what stays below ``live``.
    :param callbacks: adds what happens on it to the application, once.
    """

    path: str
    title: str
    action: Action
    show: Show
    live: Show | None = None
    refresh_s: float = 5.0
    group: Group | None = None
    callbacks: Callable[[Dash], None] = no_callbacks
    below: Show | None = None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = re.split(r"<(\w+)>", self.path)
        fixed, names = parts[::2], parts[1::2]
        named = [f"(?P<{name}>[^/]+)" for name in names] + [""]
        return re.compile("".join(re.escape(one) + two for one, two in zip(fixed, named, strict=True)))

    def parts_of(self, path: str) -> dict[str, str] | None:
        """The parts of an address that is this page's; None if it is not."""
        found = self._pattern.fullmatch(path)
        return None if found is None else {name: unquote(part) for name, part in found.groupdict().items()}

    def offered_to(self, actor: Actor) -> bool:
        """Whether the navigation shows it to this actor."""
        return Policy().decide(actor, self.action, OwnedObject(actor.name)).allowed


def find(pages: Iterable[Page], path: str) -> tuple[Page, Mapping[str, str]] | None:
    """The page at an address, the first that fits, and the address's parts."""
    trimmed = path.rstrip("/") or "/"
    for page in pages:
        if (parts := page.parts_of(trimmed)) is not None:
            return page, parts
    return None
