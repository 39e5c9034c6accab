from __future__ import annotations

from typing import Any

import pytest

from adon.config.network import LinkDiscovery
from tests.support.refusals import refused


def test_it_is_off_unless_asked_for() -> None:
    assert not LinkDiscovery().enabled


def test_a_hello_is_believed_until_the_third_was_missed() -> None:
    assert LinkDiscovery().window == 3.5
    assert LinkDiscovery.model_validate({"hello": "2 s", "dead_after": 5}).window == 11.0


@pytest.mark.parametrize(
    ("wrong", "code", "field"),
    [
        ({"hello": "900 ms"}, "out-of-range", "hello"),
        ({"hello": "2"}, "no-unit", "hello"),
        ({"dead_after": 1}, "out-of-range", "dead_after"),
        ({"debounce": "10 ms"}, "out-of-range", "debounce"),
        ({"flap_penalty": "0 s"}, "out-of-range", "flap_penalty"),
        ({"flap_penalty": "20 min"}, "invalid", "flap_penalty_cap"),
        ({"interval": "1 s"}, "unknown-key", "interval"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any], code: str, field: str) -> None:
    with refused(code, field):
        LinkDiscovery.model_validate(wrong)
