"""Profiles as JSON: what is written is read, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.document import dumps, loads
from measurement.model import to_json
from measurement.profiling.model import Profile
from tests.support.refusals import refused


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    tasks = draw(st.lists(st.text("ab-1", min_size=1, max_size=5), unique=True, min_size=2, max_size=5))
    pairs = [(one, other) for one in tasks for other in tasks if one != other]
    sent = draw(st.dictionaries(st.sampled_from(pairs), st.integers(0, 2**60)))
    errors = {pair: draw(st.floats(0, 10)) for pair in sent if draw(st.booleans())}
    began = draw(st.floats(0, 4e9))
    return Profile(began, began + draw(st.floats(0, 1e6)), tuple(tasks), sent, errors)


@given(profiles())
def test_what_is_written_is_read(profile: Profile) -> None:
    assert loads(Profile, dumps(profile)) == profile


WHOLE = to_json(Profile(0.0, 1.0, ("a", "b"), {("a", "b"): 10}))


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"kind": "snapshot"}, "kind"),
        ({"version": 0}, "version"),
        ({"sent": [[None, 10]]}, "sent"),
        ({"sent": [[None, 10], [1]]}, "sent"),
        ({"sent": [[None, 10], [1, 1]]}, "sent"),
        ({"sent": [[None, 1.5], [1, 0]]}, "sent.0.1"),
        ({"sent": [[None, -1], [1, 0]]}, "sent.0.1"),
        ({"errors": [[None, 0.1]]}, "errors"),
        ({"errors": [[None, None], [0.1, None]]}, "errors"),
        ({"ended": "soon"}, "ended"),
        ({"tasks": ["a", ""]}, "tasks.1"),
    ],
)
def test_what_is_wrong_is_named_with_its_field(changed: dict[str, Any], field: str) -> None:
    with refused(ValueError, field):
        loads(Profile, json.dumps({**WHOLE, **changed}))
