"""Whether the owner of a subscription may still hear: as the access database says now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from adon.access.identity import Actor
from adon.access.policy import Policy
from adon.config.measurements import Notify
from adon.store.access.access import Access, access_url
from adon.store.access.access_tables import ACCESS
from adon.store.schema import make_database
from apps.collector.alarm_notices import OUTBOX, telling
from apps.collector.owners import KNOWN_S, Owners
from apps.collector.readers import Readers
from measurement.model import to_json
from measurement.notify.subscription import Channel
from tests.apps.edge import eventually
from tests.measurement.notify.alarming import alarm, subscription
from tests.measurement.notify.standin_smtp import running
from tests.support.webhook_receiver import WebhookReceiver

THEN = Actor("ann", frozenset({"researcher", "auditor"}), frozenset({"soybean"}))


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Access]:
    make_database(access_url(tmp_path, None), ACCESS)
    with Access.open(access_url(tmp_path, None)) as access:
        access.users.ensure("ann", ["researcher", "operator"], 0.0)
        yield access


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def owners(tmp_path: Path, clock: Clock) -> Iterator[Owners]:
    made = Owners(access_url(tmp_path, None), clock)
    yield made
    made.close()


def test_an_owner_has_what_they_had_as_far_as_they_have_it_still(kept: Access, owners: Owners) -> None:
    now = owners.now(THEN)
    assert now is not None
    assert (now.roles, now.groups) == ({"researcher"}, frozenset())
    assert owners.now(Actor("nobody", frozenset({"admin"}))) is None


def test_who_is_disabled_hears_nothing_from_then_on(kept: Access, owners: Owners, clock: Clock) -> None:
    assert owners.now(THEN) is not None
    kept.users.change("ann", 1.0, disabled=True)
    clock.now = KNOWN_S
    assert owners.now(THEN) is None
    kept.users.change("ann", 2.0, disabled=False)
    clock.now = 2 * KNOWN_S
    assert owners.now(THEN) is not None


def test_an_alarm_goes_to_who_may_come_in_and_to_nobody_else(
    kept: Access, owners: Owners, tmp_path: Path
) -> None:
    """Everything between an alarm and those who have subscribed, as the collector puts it together."""
    kept.users.ensure("bob", ["researcher"], 0.0)
    kept.users.change("ann", 1.0, disabled=True)
    receiver, readers = WebhookReceiver(), Readers(Policy(), owners.now)
    target = f"http://127.0.0.1:{receiver.port}/of-"
    subscribed = [
        subscription(f"s-{who}", owner=who, channel=Channel.WEBHOOK, target=target + who)
        for who in ("ann", "bob")
    ]
    reader = {"reader": {"roles": ["researcher"], "groups": []}}
    known = readers.set_subscriptions([{**to_json(one), **reader} for one in subscribed])
    wanted = Notify(webhook_hosts=("127.0.0.1",))
    with running(receiver), telling(wanted, tmp_path, tmp_path, lambda _: None, readers.may_hear) as told:
        told.subscribe(known)
        told.offer(alarm())
        eventually(lambda: receiver.calls, "nobody is told")
    assert [path for path, *_ in receiver.calls] == ["/of-bob"]
    assert list(json.loads((tmp_path / OUTBOX).read_bytes())) == ["s-bob"]


def test_while_nothing_can_be_read_what_was_known_counts(
    kept: Access, owners: Owners, clock: Clock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    elsewhere = Owners(f"sqlite:///{tmp_path / 'not-there.db'}", clock)
    assert elsewhere.now(THEN) == THEN, "as of subscribing"
    assert elsewhere.now(THEN) == THEN
    assert sum("owners_unreadable" in one.getMessage() for one in caplog.records) == 1
    assert not (tmp_path / "not-there.db").exists()
    elsewhere.close()
    kept.users.change("ann", 1.0, disabled=True)
    assert owners.now(THEN) is None
    owners.close()
    owners._url = f"sqlite:///{tmp_path / 'not-there.db'}"
    clock.now = KNOWN_S
    assert owners.now(THEN) is None, "who was out stays out"
