"""What the web process may ask of the collector, over a socket of its own.

The controller must not carry other people's questions about measurements, so the collector serves a link
itself (``collector.sock``).  A call is carried out by the collector's thread, which owns what it is about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from adon.errors import AdonError, InvalidInput, NotFound, Problem
from adon.studies import model as study
from apps.collector.collector import Inbox
from apps.collector.conductor import Conductor
from apps.collector.keeper import Keeper
from apps.collector.readers import READER, Readers, actor_of
from apps.collector.studies import Studies
from apps.link import Peer
from measurement.archive import Archive
from measurement.errors import ArchiveError
from measurement.model import PathKey, from_json, to_json
from measurement.notify.notifier import Notifier
from measurement.notify.subscription import Subscription

SUBSCRIPTION = "subscription"
"""The kind of document under which the archive keeps subscriptions."""
MOST_SUBSCRIPTIONS = 1000

Answer = Mapping[str, Any]


class Control:
    """Answers calls; see the module.

    :param told: is given the subscriptions whenever they change; ``readers`` their owners.
    :param clock: seconds since the epoch.
    :param write_psconfig: the present plan as a pSConfig template.
    """

    def __init__(
        self,
        inbox: Inbox,
        keeper: Keeper,
        conductor: Conductor,
        archive: Archive,
        told: Notifier,
        readers: Readers,
        clock: Callable[[], float],
        write_psconfig: Callable[[], Answer],
    ) -> None:
        self._inbox = inbox
        self._keeper = keeper
        self._conductor = conductor
        self._archive = archive
        self._told = told
        self._readers = readers
        self._clock = clock
        self._studies = Studies(archive)
        self._calls: Mapping[str, Callable[[Mapping[str, Any]], Answer]] = {
            "measure": self._measure,
            "schedule": lambda _: conductor.schedule(),
            "psconfig": lambda _: write_psconfig(),
            "ignored": lambda _: keeper.ignored,
            "alarm.acknowledge": self._acknowledge,
            "subscription.put": self._subscribe,
            "subscription.delete": self._unsubscribe,
            "study.put": self._keep_study,
            "study.delete": self._delete_study,
        }
        self._told.subscribe(self._subscriptions())

    def handle(self, peer: Peer, kind: str, payload: dict[str, Any]) -> None:
        """One message of a peer; called in a thread of the link."""
        command = payload.get("command")
        if kind == "hello":
            return
        if not isinstance(command, str) or kind not in self._calls:
            raise InvalidInput.of("kind", f"{kind!r} is no call that the collector answers")
        self._inbox.call(lambda: peer.answer(command, self._carried_out(kind, payload)))

    def _carried_out(self, kind: str, payload: Mapping[str, Any]) -> Answer | AdonError:
        try:
            return self._calls[kind](payload)
        except AdonError as error:
            return error
        except ArchiveError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            return InvalidInput([Problem(kind, f"is not understood: {error}")])

    def _measure(self, payload: Mapping[str, Any]) -> Answer:
        key = from_json(PathKey, payload["key"])
        test = self._conductor.test_of(key, str(payload["test"]))
        start = self._conductor.demand(test, f"asked for by {payload['who']}")
        return {"task": start.task, "start": start.at}

    def _acknowledge(self, payload: Mapping[str, Any]) -> Answer:
        name = str(payload["id"])
        try:
            alarm = self._keeper.acknowledge(name, str(payload["who"]))
        except KeyError:
            raise NotFound("alarm", name) from None
        answer: Answer = to_json(alarm)
        return answer

    def _subscribe(self, payload: Mapping[str, Any]) -> Answer:
        try:
            subscription = from_json(Subscription, payload["subscription"])
        except ValueError as error:
            field, _, cause = str(error).partition(": ")
            raise InvalidInput.of(field, cause) from None
        actor_of(payload["subscription"])
        if len(self._subscriptions()) >= MOST_SUBSCRIPTIONS:
            raise InvalidInput.of("subscription", f"there are {MOST_SUBSCRIPTIONS} already")
        document = {**to_json(subscription), READER: payload["subscription"][READER]}
        self._archive.put_document(SUBSCRIPTION, subscription.id, self._clock(), None, document, is_open=True)
        self._told.subscribe(self._subscriptions())
        return document

    def _subscriptions(self) -> list[Subscription]:
        return self._readers.set_subscriptions(
            self._archive.documents(SUBSCRIPTION, limit=MOST_SUBSCRIPTIONS)
        )

    def _unsubscribe(self, payload: Mapping[str, Any]) -> Answer:
        name = str(payload["id"])
        if not self._archive.delete_document(SUBSCRIPTION, name):
            raise NotFound("subscription", name)
        self._told.subscribe(self._subscriptions())
        return {"id": name}

    def _keep_study(self, payload: Mapping[str, Any]) -> Answer:
        wanted = from_json(study.Study, payload["study"])
        kept: Answer = to_json(self._studies.put(wanted, str(payload[study.PACKED]), stays=True))
        return kept

    def _delete_study(self, payload: Mapping[str, Any]) -> Answer:
        name = str(payload["id"])
        self._studies.delete(name)
        return {"id": name}
