from __future__ import annotations

import pytest

from adon.errors import Unavailable
from mininet_topos import namespaces


def test_a_failing_line_is_named(monkeypatch):
    def fails(argv, text):
        assert (argv, text) == (["ip", "-batch", "-"], "one\ntwo\n")
        raise Unavailable("ip -batch -: RTNETLINK answers: File exists\nCommand failed -:2")

    monkeypatch.setattr(namespaces, "run", fails)
    with pytest.raises(Unavailable, match=r"File exists[^(]*\(two\)"):
        namespaces.batch("ip", ["one", "two"])


def test_nothing_to_do_starts_nothing(monkeypatch):
    monkeypatch.setattr(namespaces, "run", lambda *_: pytest.fail("was started"))
    namespaces.batch("tc", ())


def test_a_program_that_is_not_there_is_named():
    with pytest.raises(Unavailable, match="no-such-program"):
        namespaces.run(["no-such-program"])


def test_a_failing_programs_own_words_are_told():
    with pytest.raises(Unavailable, match=r"^mu: sh -c .*: it is so$"):
        namespaces.run(["sh", "-c", "echo it is so >&2; exit 3"], prefix="mu: ")
