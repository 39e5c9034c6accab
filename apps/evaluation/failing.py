"""What a test that comes to no value is told by."""

from __future__ import annotations


class TestFailedError(Exception):
    """A test that came to no value; its text says why in one line."""

    __test__ = False  # pytest: it is no test of ours
