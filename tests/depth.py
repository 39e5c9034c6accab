"""How long random tests go on looking: ``ADON_TEST_DEPTH=50 pytest …`` tries fifty times as many examples."""

from __future__ import annotations

import os

DEPTH = int(os.environ.get("ADON_TEST_DEPTH", "1"))
