"""What is there to open, and is made only when somebody opens it.

Most never do, and a table of two hundred rows keeps a browser busy for a second.
"""

from __future__ import annotations

from typing import Any

from dash import Input, Output, html
from dash.development.base_component import Component


def folded(name: str, summary: Any) -> Component:
    """The place, shut.

    :param name: a callback with the output :func:`inside` fills it when :func:`opening` tells of a click.
    """
    shut = html.Summary(summary, id=_of("summary", name), n_clicks=0)
    return html.Details([shut, html.Div(id=_of("inside", name))])


def opening(name: str) -> Input:
    """How often somebody has opened or shut it."""
    return Input(_of("summary", name), "n_clicks")


def inside(name: str) -> Output:
    """What is shown while it is open."""
    return Output(_of("inside", name), "children")


def _of(part: str, name: str) -> dict[str, str]:
    return {"type": f"folded-{part}", "of": name}
