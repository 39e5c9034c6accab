"""The audit log as a whole: read by a process of its own, which comes and goes as it is needed."""

import csv
import io
import json
import os
import signal
import sqlite3
import threading
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from adon.access.audit import COLUMNS, Entry, Outcome
from adon.errors import Unavailable
from adon.store.access.access import Access
from adon.store.access.audit import Wanted
from adon.store.access.upgrade import upgrade
from apps.rest import whole_log, whole_log_aside
from apps.rest.whole_log import WholeLog
from tests.apps.edge import eventually

ENTRY = Entry(1000.0, "ann", "token:1", "10.0.0.1", "flow.read", "GET", "/flows", Outcome.REFUSED, 403, "=no")


@pytest.fixture
def url(tmp_path):
    found = f"sqlite:///{tmp_path / 'access.db'}"
    upgrade(found)
    with Access.open(found) as access:
        access.audit.append([ENTRY] * 2500)
    return found


@pytest.fixture
def log(url):
    found = WholeLog(url)
    yield found
    found.close()


def process_of(log):
    assert log._process is not None
    return log._process.pid


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def stop(pid: int) -> None:
    """Stop a process: it may still answer until it has."""
    os.kill(pid, signal.SIGSTOP)
    eventually(lambda: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T", "it runs")


def test_all_of_it_is_verified_and_exported(log, url):
    found = log.verified()
    assert (found.lines, found.problem) == (2500, None)
    rows = list(csv.reader(io.StringIO(log.exported("csv", Wanted()).decode())))
    assert tuple(rows[0]) == COLUMNS
    assert (len(rows), rows[1][10]) == (2501, "'=no")
    some = log.exported("jsonl", Wanted(outcome=Outcome.REFUSED, before=11)).decode().splitlines()
    assert [json.loads(line)["number"] for line in some] == list(range(1, 11))
    assert log.exported("jsonl", Wanted(actor="bob")) == b""


def test_what_is_written_meanwhile_is_seen(log, url):
    assert log.verified().lines == 2500
    with Access.open(url) as access:
        access.audit.append([ENTRY])
    assert log.verified().lines == 2501


def test_one_process_does_it_all_and_a_new_one_takes_over_when_it_is_gone(log):
    log.verified()
    first = process_of(log)
    log.verified()
    assert process_of(log) == first
    os.kill(first, signal.SIGKILL)
    assert log.verified().lines == 2500
    assert process_of(log) != first


def test_it_ends_when_nobody_asks_and_comes_back(url, monkeypatch):
    monkeypatch.setenv("ADON_ACCESS_URL", url)
    read, write = os.pipe()
    monkeypatch.setattr("sys.stdin", os.fdopen(read))
    monkeypatch.setattr(whole_log_aside, "IDLE_S", 0.01)
    monkeypatch.setattr(os, "nice", lambda _: 0)
    handler = signal.getsignal(signal.SIGINT)
    try:
        assert whole_log_aside.main() == 0
    finally:
        signal.signal(signal.SIGINT, handler)
        os.close(write)


def test_it_ends_with_the_process_that_asked(log):
    log.verified()
    pid, process = process_of(log), log._process
    process.stdin.close()  # as the end of this process would
    eventually(lambda: process.poll() == 0, "it outlives who asked")
    assert gone(pid)
    assert log.verified().lines == 2500


def test_nothing_is_left_at_the_end(log):
    log.verified()
    pid = process_of(log)
    log.close()
    assert gone(pid)
    log.close()


def test_a_log_that_cannot_be_read_is_no_whole_log(tmp_path):
    log = WholeLog(f"sqlite:///{tmp_path / 'nothing.db'}")
    with pytest.raises(Unavailable, match="could not be read"):
        log.verified()
    assert log._process is None


def test_a_log_that_broke_meanwhile_is_told_and_the_next_question_is_answered(log, tmp_path):
    log.verified()
    process = process_of(log)
    with closing(sqlite3.connect(tmp_path / "access.db")) as database:
        database.execute("ALTER TABLE access_audit RENAME TO elsewhere")
        with pytest.raises(Unavailable):
            log.exported("csv", Wanted())
        database.execute("ALTER TABLE elsewhere RENAME TO access_audit")
    assert log.verified().lines == 2500
    assert process_of(log) == process


def test_who_waits_too_long_for_others_is_told_so(log, monkeypatch):
    monkeypatch.setattr(whole_log, "WAITED_S", 0.01)
    with log._one_at_a_time, pytest.raises(Unavailable, match="for others"):
        log.verified()


def test_only_so_many_wait_the_others_are_told_at_once(log, monkeypatch):
    monkeypatch.setattr(whole_log, "WAITED_S", 60.0)
    with ExitStack() as held:
        for _ in range(whole_log.MOST_AT_ONCE):
            held.enter_context(log._places)
        with pytest.raises(Unavailable, match="for others"):
            log.verified()
    assert log.verified().lines == 2500


def test_the_end_waits_for_nobody_and_nothing_begins_anew(log):
    log.verified()
    pid, found = process_of(log), []
    stop(pid)

    def ask():
        with pytest.raises(Unavailable):
            log.verified()
        found.append(True)

    asking = threading.Thread(target=ask)
    asking.start()
    eventually(log._one_at_a_time.locked, "nobody asks")
    log.close()
    asking.join(20)
    assert found == [True]
    assert gone(pid)
    assert log._process is None


def test_what_begins_while_the_end_comes_does_not_answer(log, monkeypatch):
    begun, closing = whole_log._begun, threading.Thread(target=log.close)

    def ended_meanwhile(url):
        closing.start()
        eventually(lambda: log._closed, "it is not closed")
        return begun(url)

    monkeypatch.setattr(whole_log, "_begun", ended_meanwhile)
    with pytest.raises(Unavailable):
        log.verified()
    closing.join(20)
    assert not closing.is_alive()
    assert log._process is None


def test_what_takes_too_long_is_given_up(log, monkeypatch):
    log.verified()
    stop(process_of(log))
    with monkeypatch.context() as patched:
        patched.setattr(whole_log, "GIVEN_UP_AFTER_S", 0.05)
        with pytest.raises(Unavailable, match="in time"):
            log.verified()
    assert log.verified().lines == 2500
