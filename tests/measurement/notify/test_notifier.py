from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

import pytest

from measurement.notify import outbox as outboxes
from measurement.notify.failure import NotDelivered
from measurement.notify.mail import MailServer
from measurement.notify.notifier import Notifier, senders
from measurement.notify.outbox import Delivery, Outbox, Pace
from measurement.notify.subscription import Channel
from measurement.notify.webhook import Policy
from tests.measurement.notify.alarming import alarm, over, subscription
from tests.measurement.notify.standin_smtp import MailServerStandIn, running
from tests.support.refusals import refused

AT_ONCE = Pace(settle=0.0, gather=0.0)
PATIENCE_S = 60.0


class World:
    """A notifier whose messages come into a queue, and what it keeps."""

    def __init__(self, outbox: Outbox | None = None) -> None:
        self.arrived: SimpleQueue[Delivery] = SimpleQueue()
        self.kept: SimpleQueue[Outbox] = SimpleQueue()
        self.last = Outbox(AT_ONCE)
        self.answer: Callable[[Delivery], None] = lambda _: None
        self.notifier = Notifier(
            {Channel.MAIL: self._deliver}, Outbox(AT_ONCE) if outbox is None else outbox, self._keep
        )
        self.notifier.start()

    def _keep(self, outbox: Outbox) -> None:
        self.last = outbox
        self.kept.put(outbox)

    def _deliver(self, delivery: Delivery) -> None:
        self.answer(delivery)
        self.arrived.put(delivery)

    def next(self) -> Delivery:
        return self.arrived.get(timeout=PATIENCE_S)

    def stop(self) -> Outbox:
        """End it; what it kept last."""
        self.notifier.stop()
        return self.last


def test_an_alarm_arrives_and_so_does_its_end() -> None:
    world = World()
    world.notifier.subscribe([subscription()])
    world.notifier.offer(alarm())
    assert [one.id for one in world.next().alarms] == ["a-1"]
    world.notifier.offer(over(alarm()))
    assert [one.open for one in world.next().alarms] == [False]
    world.stop()


def test_what_could_not_be_sent_is_there_after_a_restart(caplog: pytest.LogCaptureFixture) -> None:
    world, tried = World(), threading.Event()

    def fails(_: Delivery) -> None:
        tried.set()
        raise NotDelivered("greylisted", temporary=True)

    world.answer = fails
    world.notifier.subscribe([subscription()])
    world.notifier.offer(alarm())
    assert tried.wait(PATIENCE_S)
    while "will be tried again" not in caplog.text:
        world.kept.get(timeout=PATIENCE_S)
    left = outboxes.outbox_from_json(outboxes.outbox_to_json(world.stop()), AT_ONCE)
    (delivery,) = left.due(1e12)
    assert [one.id for one in delivery.alarms] == ["a-1"]
    assert "greylisted" in caplog.text

    again = World(left.after_failure(delivery, 0.0))  # its pause is over
    assert again.next().alarms == delivery.alarms
    again.stop()


@pytest.mark.parametrize("way", ["refused", "no such channel"])
def test_a_message_that_is_refused_for_good_is_given_up(caplog: pytest.LogCaptureFixture, way: str) -> None:
    world = World()

    def refuses(_: Delivery) -> None:
        raise NotDelivered("HTTP 410", temporary=False)

    world.answer = refuses
    channel, target = (Channel.MAIL, "ann@mu.example") if way == "refused" else (Channel.STREAM, "")
    world.notifier.subscribe([subscription(channel=channel, target=target)])
    world.notifier.offer(alarm())
    while "given up" not in caplog.text:
        world.kept.get(timeout=PATIENCE_S)
    assert world.stop().due(1e12) == []


def test_a_slow_target_holds_nobody_else_up() -> None:
    world, go_on = World(), threading.Event()
    world.answer = lambda delivery: None if delivery.subscription.id == "quick" else _wait(go_on)
    world.notifier.subscribe([subscription("slow"), subscription("quick")])
    world.notifier.offer(alarm())
    assert world.next().subscription.id == "quick"
    world.notifier.offer(alarm("a-2"))
    assert world.next().subscription.id == "quick"
    go_on.set()
    first, second = world.next(), world.next()
    assert ([one.id for one in first.alarms], [one.id for one in second.alarms]) == (["a-1"], ["a-2"])
    world.stop()


def _wait(event: threading.Event) -> None:
    assert event.wait(PATIENCE_S)


def test_a_bug_in_one_channel_is_logged_and_not_the_end(caplog: pytest.LogCaptureFixture) -> None:
    world = World()

    def breaks(delivery: Delivery) -> None:
        if delivery.alarms[0].id == "a-1":
            raise ZeroDivisionError

    world.answer = breaks
    world.notifier.subscribe([subscription("one"), subscription("two")])
    world.notifier.offer(alarm())
    while caplog.text.count("will be tried again") < 2:
        world.kept.get(timeout=PATIENCE_S)
    assert "ZeroDivisionError" in caplog.text
    assert world.notifier.failure is None
    world.stop()


def test_what_cannot_be_kept_is_seen() -> None:
    def breaks(_: Outbox) -> None:
        raise OSError("the disk is full")

    notifier = Notifier({}, Outbox(AT_ONCE), breaks)
    notifier.start()
    notifier.subscribe([subscription()])
    notifier.stop()
    assert isinstance(notifier.failure, OSError)


def test_the_usual_senders() -> None:
    published: list[Delivery] = []
    server = MailServerStandIn()
    with running(server):
        mail = MailServer("127.0.0.1", server.port, "adon@mu.example", "none")
        known = senders(mail, Policy(frozenset({"hooks.example"})), published.append)
        for one in (subscription(), subscription(channel=Channel.STREAM, target="")):
            known[one.channel](Delivery("d", one, (alarm(),), 0))
    assert (len(server.mails), len(published)) == (1, 1)
    hook = subscription(channel=Channel.WEBHOOK, target="https://other.example/")
    with refused("target-not-permitted"):
        known[Channel.WEBHOOK](Delivery("d", hook, (alarm(),), 0))
    assert Channel.MAIL not in senders(None, Policy(), published.append)


def test_what_waited_is_not_sent_to_an_owner_who_may_not_hear_it_any_more() -> None:
    sent: SimpleQueue[Delivery] = SimpleQueue()
    asked: SimpleQueue[bool] = SimpleQueue()
    kept: SimpleQueue[Outbox] = SimpleQueue()

    def may_hear(_subscription: object, _alarm: object) -> bool:
        asked.put(True)
        return asked.qsize() == 1  # when it came, and not when it was to be sent

    notifier = Notifier({Channel.MAIL: sent.put}, Outbox(AT_ONCE), kept.put, may_hear=may_hear)
    notifier.start()
    notifier.subscribe([subscription()])
    notifier.offer(alarm())
    while not (last := kept.get(timeout=PATIENCE_S)).boxes or last.boxes["s-1"].waiting:
        pass
    notifier.stop()
    assert asked.qsize() == 2
    assert sent.empty()
