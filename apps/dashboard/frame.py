"""The frame around every page: brand, navigation by role, who is signed in, light or dark."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dash import ClientsideFunction, Dash, Input, Output, dcc, html
from dash.development.base_component import Component

from adon.access.identity import Actor
from apps.dashboard import router
from apps.dashboard.page import Group, Page

BURGER = "burger"

INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
{%metas%}
<title>{%title%}</title>
{%favicon%}
{%css%}
</head>
<body>
{%app_entry%}
<footer>{%config%}{%scripts%}{%renderer%}</footer>
</body>
</html>"""


def layout(pages: Sequence[Page], actor: Callable[[], Actor | None]) -> Callable[[], Component]:
    """Layout that Dash requests once per page load: the frame for the signed-in user.

    Dash also asks at the first request of all, which may come from a client without an identity.
    """

    def framed() -> Component:
        who = actor()
        if who is None:
            return html.Div()
        return html.Div(
            [
                *router.skeleton(),
                html.A("Skip to the content", href="#main", className="skip"),
                html.Header(
                    [
                        dcc.Link("ADON", href="/", className="brand", title="Overview"),
                        html.Button(
                            "Menu", id=BURGER, className="burger quiet", **{"aria-controls": router.NAV}
                        ),
                        html.Nav(_groups(pages, who), id=router.NAV, **{"aria-label": "Pages"}),
                        html.Div(
                            [
                                html.Button("Light / dark", id="theme", className="quiet small"),
                                dcc.Link(who.name, href="/account", className="who-name"),
                                html.A("Sign out", href="/sign-out", className="who-out"),
                            ],
                            className="who",
                        ),
                    ]
                ),
                html.Main(id=router.MAIN, tabIndex=-1),
            ],
            className="frame",
        )

    return framed


def install(app: Dash) -> None:
    """What the frame itself does."""
    app.clientside_callback(
        ClientsideFunction("adon", "theme"), Output("theme", "title"), Input("theme", "n_clicks")
    )
    app.clientside_callback(
        ClientsideFunction("adon", "menu"), Output(BURGER, "aria-expanded"), Input(BURGER, "n_clicks")
    )


def _groups(pages: Sequence[Page], actor: Actor) -> list[Component]:
    found: list[Component] = []
    for group in Group:
        offered = [page for page in pages if page.group is group and page.offered_to(actor)]
        if offered:
            links = [html.Li(dcc.Link(page.title, href=page.path)) for page in offered]
            found.append(html.Div([html.H2(group.value), html.Ul(links)], className="group"))
    return found
