"""The letters on their way: kept in the book, handed in by a worker to the configured mail server."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.message import EmailMessage

from adon.config.transfers import MailWhen
from adon.errors import NotFound, Unavailable
from adon.store.access.database import AccessStore
from adon.store.access.users import Users
from adon.transfers import post
from adon.transfers.news import Item
from adon.transfers.post import Box, Pace
from apps.movers.book import Book
from measurement.notify import mail
from measurement.notify.failure import NotDelivered
from measurement.notify.mail import MailServer

log = logging.getLogger("apps.movers")

AddressOf = Callable[[str], str | None]
"""The mail address of an owner; None if there is none, or they are not to be written to."""


@dataclass(frozen=True, slots=True)
class Handed:
    """A worker is done with a letter."""

    letter: Box
    failure: NotDelivered | None


class Post:
    """What waits for whom.  Changed by the loop's thread; :meth:`hand_in` is a worker's.

    :param server: None where no mail is configured: nothing is kept then.
    :param link: where the dashboard is; None if that is not known.
    """

    def __init__(
        self, book: Book, server: MailServer | None, address_of: AddressOf, when: MailWhen, link: str | None
    ) -> None:
        self._book = book
        self._server = server
        self._address_of = address_of
        self._pace = Pace(when.settle, when.gather)
        self._link = link
        self._boxes = {} if server is None else {box.owner: box for box in book.boxes()}
        self._under_way: set[str] = set()

    def give(self, owner: str, item: Item, now: float) -> None:
        """Take a piece of news."""
        if self._server is not None:
            self._keep(self._boxes.get(owner, Box(owner)).given(item, now, self._pace))

    def due(self, now: float) -> list[Box]:
        """The letters to be handed in now; each is taken to be under way until :meth:`handed`."""
        found = [box for box in self._boxes.values() if box.is_due(now) and box.owner not in self._under_way]
        self._under_way.update(box.owner for box in found)
        return found

    def hand_in(self, letter: Box, now: float) -> Handed:
        """Hand a letter in; any thread."""
        try:
            self._hand_in(letter, now)
        except NotDelivered as failure:
            return Handed(letter, failure)
        except Unavailable as error:
            return Handed(letter, NotDelivered(str(error), temporary=True))
        except Exception as error:  # a fault with one letter must not end the others
            log.exception("event=letter.fault owner=%r", letter.owner)
            return Handed(letter, NotDelivered(type(error).__name__, temporary=True))
        return Handed(letter, None)

    def handed(self, done: Handed, now: float) -> None:
        """What came of a letter."""
        letter, failure = done.letter, done.failure
        self._under_way.discard(letter.owner)
        box = self._boxes[letter.owner]
        if failure is None:
            log.info("event=letter owner=%r news=%d", letter.owner, len(letter.waiting) + letter.omitted)
            self._keep(box.sent(letter, now, self._pace))
        elif not failure.temporary or box.given_up:
            log.error("event=letter.dropped owner=%r cause=%r", letter.owner, failure.cause)
            self._keep(box.sent(letter, now, self._pace))
        else:
            log.warning("event=letter.waits owner=%r cause=%r", letter.owner, failure.cause)
            self._keep(box.failed(now))

    def _hand_in(self, letter: Box, now: float) -> None:
        address = self._address_of(letter.owner)
        if address is None:
            raise NotDelivered("no mail address of theirs is known", temporary=False)
        if self._server is None:
            raise NotDelivered("no mail server is configured", temporary=False)
        mail.hand_in(composed(letter, address, self._server.sender, self._link, now), self._server)

    def _keep(self, box: Box) -> None:
        self._boxes[box.owner] = box
        self._book.save_box(box)


def composed(letter: Box, address: str, sender: str, link: str | None, now: float) -> EmailMessage:
    """The mail of a letter; the same again when it is tried again."""
    return mail.written(sender, address, post.subject(letter), post.text(letter, link), letter.letter_id, now)


def addresses(configured: Mapping[str, str], access: AccessStore) -> AddressOf:
    """By the configuration first, then as the owner's identity provider said."""
    users = Users(access)

    def address_of(owner: str) -> str | None:
        try:
            user = users.get(owner)
        except NotFound:
            return configured.get(owner)
        return None if user.disabled is not None else configured.get(owner, user.mail)

    return address_of
