"""An open page without its browser: it asks as the browser did, with what it was answered last."""

from __future__ import annotations

import json
from typing import Any

import requests

from benchmarks.web_load import Asker
from benchmarks.web_pages import Question


def session(url: str, token: str) -> str:
    """The cookie of somebody who has signed in with a token.

    :raises requests.HTTPError: if they were not let in.
    """
    answer = requests.post(f"{url}/sign-in", data={"token": token}, allow_redirects=False, timeout=30)
    answer.raise_for_status()
    return "; ".join(f"{name}={value}" for name, value in answer.cookies.items())


class OpenPage:
    """One page of one person.

    A browser tells the entity tag of what it shows; and, in what Dash posts, the present contents of the
    page's stores, which earlier answers have set.
    """

    def __init__(self, asker: Asker, cookie: str) -> None:
        self._asker, self._cookie = asker, cookie
        self._tag = ""
        self._stores: dict[str, Any] = {}

    async def ask(self, question: Question) -> int:
        """The status of the answer."""
        if not question.body:
            status, self._tag = await self._asker.look(question.path, self._cookie, self._tag)
            return status
        body = json.loads(question.body)
        for known in (*body.get("inputs", ()), *body.get("state", ())):
            if isinstance(known, dict) and known["property"] == "data":
                known["value"] = self._stores.get(_name(known["id"]), known.get("value"))
        status, answer = await self._asker.post(question.path, json.dumps(body), self._cookie)
        if answer:
            for name, properties in json.loads(answer).get("response", {}).items():
                if "data" in properties:
                    self._stores[name] = properties["data"]
        return status


def _name(known: Any) -> str:
    """An id as Dash's answers name it."""
    return known if isinstance(known, str) else json.dumps(known, sort_keys=True, separators=(",", ":"))
