"""When a switch is read, and when its report is gone through."""

from adon.broker.checks import Checks

NOW = 1000.0


def test_a_report_is_gone_through_once_a_period() -> None:
    checks = Checks(60.0)
    assert checks.due(1, NOW)
    checks.looked_at(1, NOW, whole=True)
    assert not checks.due(1, NOW + 59.0)
    assert checks.due(1, NOW + 60.0)


def test_an_urgent_switch_does_not_wait_for_the_period_until_it_was_looked_at_whole() -> None:
    checks = Checks(60.0)
    checks.looked_at(1, NOW, whole=True)
    checks.at_once(1)
    checks.looked_at(1, NOW + 1.0, whole=False)
    assert checks.urgent(1)
    assert checks.due(1, NOW + 2.0)
    checks.looked_at(1, NOW + 2.0, whole=True)
    assert not checks.urgent(1)
    assert not checks.due(1, NOW + 3.0)


def test_what_an_operator_asked_for_holds_until_it_was_done_whole() -> None:
    checks = Checks(60.0)
    checks.order((1, 2))
    checks.looked_at(1, NOW, whole=False)
    assert checks.ordered(1)
    checks.looked_at(1, NOW, whole=True)
    assert not checks.ordered(1)
    assert checks.ordered(2)


def test_the_earlier_of_two_readings_counts_and_comes_once() -> None:
    checks = Checks(60.0)
    checks.again(2, NOW + 5.0)
    checks.again(1, NOW + 5.0)
    checks.again(2, NOW + 9.0)
    assert checks.next_wake() == NOW + 5.0
    assert checks.wake(NOW + 4.9) == ()
    assert checks.wake(NOW + 5.0) == (1, 2)
    assert checks.wake(NOW + 9.0) == ()
    assert checks.next_wake() is None


def test_a_report_between_does_not_spare_the_reading_that_was_wanted_later() -> None:
    checks = Checks(60.0)
    checks.again(1, NOW + 5.0)
    checks.looked_at(1, NOW + 1.0, whole=True)
    assert checks.wake(NOW + 5.0) == (1,)
    assert checks.due(1, NOW + 5.0)


def test_a_switch_that_is_away_is_not_read() -> None:
    checks = Checks(60.0)
    checks.again(1, NOW)
    checks.disconnected(1)
    assert checks.wake(NOW) == ()


def test_a_clock_set_back_delays_nothing() -> None:
    checks = Checks(60.0)
    checks.looked_at(1, NOW, whole=True)
    checks.again(2, NOW + 5.0)
    checks.clock_set_back(500.0)
    assert checks.next_wake() == NOW - 495.0
    assert checks.due(1, NOW - 440.0)
