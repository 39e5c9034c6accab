"""Letters to owners of transfers: what waits for whom, when it is sent, what it says.  Pure.

News of one owner waits a moment for more, and goes into one letter; the next one waits until a while has
passed since the last.  Of one transfer only the latest news is in it.  A letter that cannot be handed in is
tried again with growing pauses, and dropped after :data:`ATTEMPTS`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from adon.transfers.news import Item, News

MOST = 50
"""Pieces of news in one letter; of more it says how many are left out."""
ATTEMPTS = 12
FIRST_PAUSE_S = 15.0
LONGEST_PAUSE_S = 3600.0
LONGEST_SUBJECT = 120
_GRAVITY = {news: place for place, news in enumerate(News)}


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds that first news waits for more, and least seconds between two letters to one owner."""

    settle: float = 10.0
    gather: float = 600.0


@dataclass(frozen=True, slots=True)
class Box:
    """What waits for one owner.

    :param omitted: pieces that were left out, for there were too many.
    :param due: when the next letter is sent, if anything waits.
    """

    owner: str
    waiting: tuple[Item, ...] = ()
    omitted: int = 0
    due: float = 0.0
    attempts: int = 0
    sent_at: float | None = None

    def given(self, item: Item, now: float, pace: Pace) -> Box:
        """With one more piece of news."""
        due = self.due if self.waiting else self._earliest(now, pace)
        others = tuple(one for one in self.waiting if one.flow != item.flow)
        kept = (*others, item)[-MOST:]
        omitted = self.omitted + len(others) + 1 - len(kept)
        return replace(self, waiting=kept, omitted=omitted, due=due)

    def is_due(self, now: float) -> bool:
        """Whether a letter is to be sent now."""
        # What is due later than any pause lasts was put off by a clock that has been set back since.
        return bool(self.waiting) and (self.due <= now or self.due > now + 2 * LONGEST_PAUSE_S)

    def sent(self, letter: Box, now: float, pace: Pace) -> Box:
        """After a letter was handed in, or given up: with what came in meanwhile.

        :param letter: the box as it was when the letter was written.
        """
        left = tuple(one for one in self.waiting if one not in letter.waiting)
        omitted = max(0, self.omitted - letter.omitted)
        return Box(self.owner, left, omitted, now + pace.gather, sent_at=now)

    def failed(self, now: float) -> Box:
        """After a letter could not be handed in."""
        pause = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0**self.attempts)
        return replace(self, attempts=self.attempts + 1, due=now + pause)

    @property
    def given_up(self) -> bool:
        """Whether a letter that has just failed has been tried often enough."""
        return self.attempts + 1 >= ATTEMPTS

    @property
    def letter_id(self) -> str:
        """The same when it is tried again, so that who gets it twice can tell."""
        parts = [self.owner, *(f"{one.flow}/{one.news}/{one.at}" for one in self.waiting)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    def _earliest(self, now: float, pace: Pace) -> float:
        if self.sent_at is None or self.sent_at > now:  # the latter: the clock was set back
            return now + pace.settle
        return max(now + pace.settle, self.sent_at + pace.gather)


def subject(box: Box) -> str:
    """One line: the news itself, or how many there are of which kind."""
    items = sorted(box.waiting, key=lambda one: _GRAVITY[one.news])
    if len(items) == 1 and not box.omitted:
        return _short(f"[ADON] {items[0].headline}")
    kinds = {one.news: sum(other.news is one.news for other in items) for one in items}
    said = ", ".join(f"{count} {news.value}" for news, count in kinds.items())
    return _short(f"[ADON] {len(items) + box.omitted} transfers: {said}")


def text(box: Box, link: str | None) -> str:
    """The body.

    :param link: where the dashboard is; None if that is not known.
    """
    items = sorted(box.waiting, key=lambda one: (_GRAVITY[one.news], one.flow))
    parts = [_paragraph(one, link) for one in items]
    if box.omitted:
        parts.append(f"{box.omitted} earlier ones are left out here.")
    parts.append(f"-- \nADON writes this to {box.owner}, who asked for these transfers.")
    return "\n\n".join(parts) + "\n"


def _paragraph(item: Item, link: str | None) -> str:
    lines = [item.headline, *(f"  {name:<9}{value}" for name, value in item.details)]
    if link is not None:
        lines.append(f"  {'more':<9}{link.rstrip('/')}/flows/f-{item.flow}")
    if item.news is News.FAILED:
        lines.append(f"  {'next':<9}when the cause is mended: adon flow retry f-{item.flow}")
    return "\n".join(lines)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_SUBJECT else line[: LONGEST_SUBJECT - 1] + "…"
