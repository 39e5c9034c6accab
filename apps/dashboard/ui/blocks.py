"""Blocks of a page.

Tables become cards on a narrow screen, so each cell has the name of its column. A badge has a word in
addition to its colour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import plotly.graph_objects as go
from dash import Input, Output, dcc, html
from dash.development.base_component import Component

from adon.errors import AdonError, Forbidden, InvalidInput, NotFound, Unavailable

Tone = Literal["good", "bad", "wait", "plain"]


@dataclass(frozen=True, slots=True)
class Column:
    """Column of a table: its heading, and the function from a row to its cell.

    :param numeric: figures one below the other.
    :param whole: never broken into lines where there is room for a table: names and ids that are short.
    """

    name: str
    cell: Callable[[Any], Any]
    numeric: bool = False
    whole: bool = False

    @property
    def style(self) -> str:
        """Its classes."""
        return " ".join([*(["number"] if self.numeric else []), *(["whole"] if self.whole else [])])


def head(title: str, lead: Any = None, *deeds: Component) -> Component:
    """Return the heading of a page, a sentence about it, and its actions."""
    return html.Div(
        [
            html.Div([html.H1(title), *([] if lead is None else [html.P(lead, className="lead")])]),
            html.Div(list(deeds), className="deeds"),
        ],
        className="head",
    )


def card(title: Any, *content: Any, id: str | None = None, wide: bool = False) -> Component:  # noqa: A002
    """Return a section with its heading."""
    named = {} if id is None else {"id": id}
    heading = [] if title is None else [html.H2(title)]
    return html.Section([*heading, *content], className="card wide" if wide else "card", **named)


def columns(*cards: Any) -> Component:
    """Return sections beside each other where there is room."""
    return html.Div(list(cards), className="columns")


def table(
    shown: Sequence[Column],
    rows: Iterable[Any],
    empty_says: Any,
    caption: str,
    marked: Callable[[Any], bool] | None = None,
    most: int | None = None,
) -> Component:
    """Return a table; without rows, a text or component in its place.

    :param caption: its content, for screen readers.
    :param marked: which rows stand out.
    :param most: rows that are shown; a note counts the others.
    """
    found = list(rows)
    if not found:
        return empty_says if isinstance(empty_says, Component) else empty(str(empty_says))
    rows_shown = [
        html.Tr(
            [
                html.Td(
                    column.cell(row),
                    className=column.style,
                    **{"data-label": column.name},
                )
                for column in shown
            ],
            className="marked" if marked is not None and marked(row) else "",
        )
        for row in found[:most]
    ]
    names = [html.Th(column.name, scope="col", className=column.style) for column in shown]
    body = [html.Table([html.Caption(caption), html.Thead(html.Tr(names)), html.Tbody(rows_shown)])]
    if most is not None and len(found) > most:
        body.append(html.Small(f"The first {most:,} of {len(found):,}."))
    # A keyboard must be able to scroll it.
    return html.Div(body, className="table", tabIndex=0, role="region", **{"aria-label": caption})


def facts(*pairs: tuple[str, Any]) -> Component:
    """Return names and values; a missing value is a dash."""
    return html.Dl(
        [html.Div([html.Dt(name), html.Dd("–" if value in (None, "") else value)]) for name, value in pairs],
        className="facts",
    )


def badge(text: str, tone: Tone = "plain") -> Component:
    """Return a highlighted word."""
    return html.Span(text, className=f"badge {tone}")


def bar(part: float, text: str, tone: Tone = "plain") -> Component:
    """Return a bar with a text beside it.

    :param part: filled part, 0 to 1.
    """
    width = 100 * min(max(part, 0.0), 1.0)
    filled = html.Span(className=f"filled {tone}", style={"width": f"{width:.1f}%"})
    drawn = html.Span(filled, className="bar", **{"aria-hidden": "true"})
    return html.Span([drawn, html.Span(text)], className="level")


def details(summary: Any, *content: Any, opened: bool = False) -> Component:
    """Return a part that a reader can open."""
    return html.Details([html.Summary(summary), *content], open=opened)


def link(text: Any, to: str, *, button: bool = False) -> Component:
    """Return a link to another page of the dashboard."""
    return dcc.Link(text, href=to, className="button" if button else "")


def empty(says: str, *ways: Component) -> Component:
    """Return an empty state with the next action; a text between backticks is a command."""
    parts = [html.Code(part) if number % 2 else part for number, part in enumerate(says.split("`"))]
    return html.Div([html.P(parts), *ways], className="empty")


def notice(text: Any, tone: Tone = "plain") -> Component:
    """Return a message, which screen readers announce."""
    return html.Div(text, className=f"notice {tone}", role="alert" if tone == "bad" else "status")


def failure(error: AdonError) -> Component:
    """Return the error of a request to the API."""
    match error:
        case Unavailable():
            title, tone = "Not available now", "wait"
        case Forbidden():
            title, tone = "No permission", "wait"
        case NotFound():
            title, tone = "Not found", "plain"
        case _:
            title, tone = "The request failed", "bad"
    causes = (
        [html.Li(f"{one.field}: {one.cause}") for one in error.problems]
        if isinstance(error, InvalidInput)
        else []
    )
    said = [html.Ul(causes)] if causes else [html.P(str(error))]
    return html.Div([html.H2(title), *said], className=f"notice {tone}", role="alert")


def not_found(path: str) -> Component:
    """Return the page of an unknown address."""
    return html.Div(
        [head("Not found"), empty(f"There is no page at {path[:100]}.", link("To the overview", "/"))],
    )


def chart(name: str, drawn: go.Figure, says: str, height: int = 300) -> Component:
    """Return a figure on a page.

    :param name: its id.
    :param says: what it shows, in a sentence, for screen readers; a table nearby has its data.
    """
    graph = dcc.Graph(
        id=name,
        figure=drawn,
        responsive=True,
        style={"height": f"{height}px"},
        config={"displaylogo": False, "displayModeBar": False, "doubleClick": "reset", "scrollZoom": False},
    )
    return html.Figure([html.Div(graph, **{"aria-hidden": "true"}), html.Figcaption(says)], className="chart")


def folded(name: str, summary: Any) -> Component:
    """Return a closed part that a callback fills when a reader opens it; a long table takes a second.

    :param name: the callback has the output :func:`inside` and the input :func:`opening`.
    """
    shut = html.Summary(summary, id=_fold_id("summary", name), n_clicks=0)
    return html.Details([shut, html.Div(id=_fold_id("inside", name))])


def opening(name: str) -> Input:
    """Return the input of the callback: the number of clicks."""
    return Input(_fold_id("summary", name), "n_clicks")


def inside(name: str) -> Output:
    """Return the output of the callback."""
    return Output(_fold_id("inside", name), "children")


def _fold_id(part: str, name: str) -> dict[str, str]:
    return {"type": f"folded-{part}", "of": name}
