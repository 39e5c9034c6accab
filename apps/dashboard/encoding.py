"""Components as the JSON that Dash's part in the browser takes, made once and quickly.

Dash's own encoder asks each component for each property that it could have; that took half of the time of an
answer.  A component holds what was given to it as plain attributes, and its own as names with an underscore.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from dash import no_update
from dash.development.base_component import Component
from plotly.utils import PlotlyJSONEncoder

_OURS_NOT = frozenset({"available_properties", "available_wildcard_properties"})
"""What every component holds about its kind."""


def encoded(content: Any) -> bytes:
    """The JSON of components, lists of them, and what is in them; the same value has the same bytes."""
    return json.dumps(plain(content), cls=PlotlyJSONEncoder, separators=(",", ":")).encode()


def tag_of(content: bytes) -> str:
    """A tag that changes exactly when this does."""
    return hashlib.sha256(content).hexdigest()[:32]


def changed(content: Any, before: str | None) -> tuple[object, object]:
    """For a callback: the components and their tag, or nothing new for both if the tag was that already.

    What is put on a page again is drawn again, and the callbacks of what is in it are called.
    """
    written = encoded(content)
    tag = tag_of(written)
    return (no_update, no_update) if tag == before else (json.loads(written), tag)


def plain(content: Any) -> Any:
    """Components as JSON objects; what is none (figures, numbers) stays what it is."""
    if isinstance(content, str):
        return content
    if isinstance(content, Component):
        held = vars(content)
        props = {
            name: plain(value) for name, value in held.items() if name[0] != "_" and name not in _OURS_NOT
        }
        return {"props": props, "type": content._type, "namespace": content._namespace}
    if isinstance(content, list | tuple):
        return [plain(one) for one in content]
    if isinstance(content, dict):
        return {name: plain(value) for name, value in content.items()}
    return content
