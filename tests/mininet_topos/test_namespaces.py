from __future__ import annotations

import pytest

from adon.errors import Unavailable
from mininet_topos import commands, namespaces


def test_a_failing_line_is_named(monkeypatch):
    def fails(argv, text):
        assert (argv, text) == (["ip", "-batch", "-"], "one\ntwo\n")
        raise Unavailable("ip -batch -: RTNETLINK answers: File exists\nCommand failed -:2")

    monkeypatch.setattr(commands, "output", fails)
    with pytest.raises(Unavailable, match=r"File exists[^(]*\(two\)"):
        namespaces.batch("ip", ["one", "two"])


def test_nothing_to_do_starts_nothing(monkeypatch):
    monkeypatch.setattr(commands, "output", lambda *_: pytest.fail("was started"))
    namespaces.batch("tc", ())
