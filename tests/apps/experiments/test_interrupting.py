from __future__ import annotations

import signal
from contextlib import contextmanager

import pytest

from apps.experiments.interrupting import Interruption


def press(number: int = signal.SIGINT) -> None:
    signal.raise_signal(number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_one_interrupts_and_the_second_says_why_it_does_not(number):
    said = []
    interruption = Interruption(said.append)
    with interruption.watched():
        with pytest.raises(KeyboardInterrupt):
            press(number)
        press(number)
    assert interruption.came
    assert len(said) == 1


def test_what_must_not_be_interrupted_is_not_but_what_follows_is():
    interruption = Interruption(lambda _text: None)
    done = []

    def clean() -> None:
        with interruption.deferred():
            with interruption.deferred():
                press()
                done.append("inner")
            done.append("outer")

    with interruption.watched(), pytest.raises(KeyboardInterrupt):
        clean()
    assert done == ["inner", "outer"]


@pytest.mark.parametrize("fails", [True, False])
def test_a_context_is_left_whole(fails):
    interruption = Interruption(lambda _text: None)
    done = []

    @contextmanager
    def built():
        try:
            yield "it"
        finally:
            press()
            done.append("removed")

    def use() -> None:
        with interruption.left_whole(built()) as it:
            assert it == "it"
            if fails:
                raise ValueError("broken")

    with interruption.watched(), pytest.raises(KeyboardInterrupt):
        use()
    assert done == ["removed"]


def test_afterwards_signals_do_what_they_did():
    before = signal.getsignal(signal.SIGINT)
    with Interruption(lambda _text: None).watched():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
