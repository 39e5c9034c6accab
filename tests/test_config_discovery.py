from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from adon.config.discovery import LinkDiscovery


def test_it_is_off_unless_asked_for() -> None:
    assert not LinkDiscovery().enabled


def test_a_hello_is_believed_until_the_third_was_missed() -> None:
    assert LinkDiscovery().window == 3.5
    assert LinkDiscovery.model_validate({"hello": "2 s", "dead_after": 5}).window == 11.0


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"hello": "900 ms"}, "greater than or equal to 1"),
        ({"hello": "2"}, "no unit"),
        ({"dead_after": 1}, "greater than or equal to 2"),
        ({"debounce": "10 ms"}, "greater than or equal to 0.1"),
        ({"flap_penalty": "0 s"}, "above zero"),
        ({"flap_penalty": "20 min"}, "flap_penalty_cap: is shorter than flap_penalty"),
        ({"interval": "1 s"}, "Extra inputs"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        LinkDiscovery.model_validate(wrong)
