from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.measurement.standin import StandIn, stand_in


@pytest.fixture
def server() -> Iterator[StandIn]:
    """A pScheduler server of its own."""
    with stand_in() as running:
        yield running
