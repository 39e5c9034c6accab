from __future__ import annotations

import threading

import pytest

from measurement.crew import Crew
from measurement.errors import Stopped


def test_everything_is_done_by_few_and_taken_as_it_comes() -> None:
    names: set[str] = set()

    def work(item: int) -> int:
        names.add(threading.current_thread().name)
        return item * item

    crew = Crew(work, 3, "test")
    for item in range(20):
        crew.start(item)
    found = [crew.take(5) for _ in range(20)]
    assert {(done.item, done.result) for done in found if done is not None} == {(n, n * n) for n in range(20)}
    assert names == {"test"}
    assert crew.take(0) is None


def test_no_more_than_its_threads_work_at_once_and_none_stays() -> None:
    at_once, most, going = [0], [0], threading.Event()
    lock = threading.Lock()

    def work(_: int) -> None:
        with lock:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        going.wait(5)
        with lock:
            at_once[0] -= 1

    crew = Crew(work, 2, "bounded")
    for item in range(6):
        crew.start(item)
    going.set()
    assert [crew.take(5) is not None for _ in range(6)] == [True] * 6
    assert most[0] <= 2
    for thread in threading.enumerate():
        if thread.name == "bounded":
            thread.join(5)
            assert not thread.is_alive()


def test_what_is_raised_is_raised_where_it_is_taken_and_the_crew_goes_on() -> None:
    def work(item: int) -> int:
        if item == 0:
            raise Stopped
        return item

    crew = Crew(work, 1, "test")
    crew.start(0)
    crew.start(1)
    done = crew.take(5)
    assert done is not None
    assert done.item == 0
    with pytest.raises(Stopped):
        _ = done.result
    done = crew.take(5)
    assert done is not None
    assert done.result == 1


def test_its_threads_do_not_hold_a_process_that_ends() -> None:
    going, daemon = threading.Event(), list[bool]()

    def work(_: int) -> None:
        daemon.append(threading.current_thread().daemon)
        going.set()

    Crew(work, 1, "test").start(1)
    assert going.wait(5)
    assert daemon == [True]
