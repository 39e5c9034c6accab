"""A browser as far as signing in needs one: cookies, redirects, forms; nothing runs in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

import requests


@dataclass
class Form:
    """A form of a page, with what is filled in already."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Form] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.found.append(Form(given.get("action", ""), given.get("method", "get").lower()))
        elif tag in ("input", "button") and self.found and given.get("name"):
            self.found[-1].fields[given["name"]] = given.get("value", "")


def forms(text: str) -> list[Form]:
    parser = _Forms()
    parser.feed(text)
    return parser.found


class Browser(requests.Session):
    """Fills in the first form of a page that it has got."""

    def __init__(self) -> None:
        super().__init__()
        self.trust_env = False

    def submit(self, page: requests.Response, number: int = 0, /, **typed: Any) -> requests.Response:
        """The page that comes of a form (the first, if not said), sent with what was typed."""
        options = {name: typed.pop(name) for name in ("allow_redirects", "headers") if name in typed}
        form = forms(page.text)[number]
        address = urljoin(page.url, form.action)
        if form.method == "post":
            return self.post(address, data={**form.fields, **typed}, timeout=60, **options)
        return self.get(address, params={**form.fields, **typed}, timeout=60, **options)
