"""Depth of random tests: ``ADON_TEST_DEPTH=20 pytest ...`` tries twenty times as many examples.

The default is 25 examples for a property and 15 histories of 25 steps for a state machine (``conftest.py``).
"""

from __future__ import annotations

import os

DEPTH = int(os.environ.get("ADON_TEST_DEPTH", "1"))
