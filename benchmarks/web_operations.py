"""Every GET of the API's own description, as people and programs ask it: with ids that are there.

An operation with a parameter in its address, or one that it cannot be asked without, needs an entry here: a
new one without fails, so that nothing is left unmeasured.  Lists are asked as the dashboard asks them, and
again with the filters and the largest page, which cost most.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

import requests

PREFIX = "/api/v1"
LEFT_OUT = {
    "/events": "never over: benchmarks.dashboards measures it",
}
"""What is not asked, and why."""
PLOTTED = ("throughput", "rtt")
MANY = 12
"""Ids of a kind that are asked about in turns."""
PATIENCE_S = 120.0
PAUSE_S = 0.06
"""Between two questions before the run: slower than one user may ask."""


@dataclass(frozen=True, slots=True)
class Question:
    """One way to ask an operation.

    :param name: what the figures are told under: the operation, and what sets this question apart.
    :param paths: addresses with their queries, asked in turns.
    """

    name: str
    paths: tuple[str, ...]


class Api:
    """The API, asked one question at a time before anything is measured."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"}

    def get(self, path: str) -> Any:
        """The JSON answer.

        :raises RuntimeError: for any answer but a success.
        """
        return self._asked("GET", path).json()

    def check(self, path: str) -> None:
        """Make sure that it is answered, whatever the answer is in."""
        self._asked("GET", path)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON answer to a request that makes something."""
        return self._asked("POST", path, body).json()

    def _asked(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> requests.Response:
        time.sleep(PAUSE_S)
        answer = requests.request(
            method, self._url + PREFIX + path, json=body, headers=self._headers, timeout=PATIENCE_S
        )
        if not answer.ok:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text[:300]!r}")
        return answer


def questions(api: Api, chance: random.Random, backtest: str) -> list[Question]:
    """All of them; every address has answered with a success, or the run ends here.

    :param backtest: the id of one that is done.
    """
    asked = [*each_operation(api, chance, backtest), *_variants(api)]
    for path in (path for one in asked for path in one.paths):
        api.check(path)
    return asked


def each_operation(api: Api, chance: random.Random, backtest: str) -> list[Question]:
    """A question for each operation but those that are left out.

    :raises LookupError: for one that nothing is known of here.
    """
    document = api.get("/openapi.json")
    ids = _ids(api, chance, backtest)
    asked: list[Question] = []
    for path, operations in document["paths"].items():
        name = path.removeprefix(PREFIX)
        if "get" not in operations or name in LEFT_OUT:
            continue
        needs = {one["name"] for one in operations["get"].get("parameters", ()) if one.get("required")}
        if not needs:
            asked.append(Question(name, (name,)))
        elif name in ids:
            asked.append(Question(name, tuple(ids[name])))
        else:
            raise LookupError(f"GET {name}: say here how it is asked (benchmarks/web_operations.py)")
    return asked


def _ids(api: Api, chance: random.Random, backtest: str) -> Mapping[str, Iterable[str]]:
    """Addresses by operation."""

    def of(listing: str, key: str = "id") -> list[str]:
        found = [str(one[key]) for one in api.get(listing)["items"]]
        return chance.sample(found, min(MANY, len(found)))

    ended = of("/flows?state=finished&limit=500")
    running, waiting = of("/flows?state=active&limit=500"), of("/flows?state=queued&limit=500")
    flows, decisions = ended + running, of("/decisions?limit=500")
    templates, sites = of("/templates", "name"), of("/sites", "name")
    now = datetime.now(UTC)
    week = {"since": _text(now - timedelta(days=7)), "until": _text(now)}
    plot = {"path": "mu-osu-0", "source": "mu", "destination": "osu", "metric": "throughput", **week}
    explained = [quote(f) for f in running]
    one_of = {
        "/psconfig/{network}": ["/psconfig/campus"],
        "/templates/{name}": [f"/templates/{t}" for t in templates],
        "/templates/{name}/versions/{version}": [f"/templates/{t}/versions/1" for t in templates],
        "/templates/{name}/versions": [f"/templates/{t}/versions" for t in templates],
        "/templates/{name}/diff": [f"/templates/{t}/diff?from=1&to=1" for t in templates],
        "/template-backtests/{id}": [f"/template-backtests/{backtest}"],
        "/flows/{id}/waiting": [f"/flows/{f}/waiting" for f in waiting],
        "/flows/{id}/outcome": [f"/flows/{f}/outcome" for f in ended],
        "/flows/{id}/advice": [f"/flows/{f}/advice" for f in running],
        "/decisions/{id}": [f"/decisions/{d}" for d in decisions],
        "/decisions/{id}/why-not": [f"/decisions/{d}/why-not" for d in decisions[:2]],
        "/rules/explain": [f"/rules/explain?of={f}" for f in explained],
        "/measurements/plot": [
            f"/measurements/plot?{urlencode({**plot, 'metric': m})}" for m in ("throughput", "rtt")
        ],
        "/sites/{name}": [f"/sites/{s}" for s in sites],
    }
    for part in ("", "/history", "/decisions"):
        one_of[f"/flows/{{id}}{part}"] = [f"/flows/{f}{part}" for f in flows]
    for kind, listing, key in (
        ("alarms", "/alarms", "id"),
        ("subscriptions", "/subscriptions", "id"),
        ("studies", "/studies", "id"),
        ("jobs", "/jobs", "id"),
        ("maintenance", "/maintenance?all=true", "id"),
        ("reservations", "/reservations?all=true", "id"),
        ("tokens", "/tokens", "id"),
        ("sessions", "/sessions", "id"),
    ):
        one_of[f"/{kind}/{{id}}"] = [f"/{kind}/{quote(one, safe='')}" for one in of(listing, key)]
    one_of["/users/{name}"] = [f"/users/{quote(one)}" for one in of("/users", "name")]
    return one_of


def _variants(api: Api) -> list[Question]:
    """Lists as they cost most: text, filters, the largest page, a page far back."""
    now = datetime.now(UTC)
    day = urlencode({"since": _text(now - timedelta(days=1))})
    month = urlencode({"since": _text(now - timedelta(days=30)), "until": _text(now)})
    back = api.get("/decisions?limit=500")["next"]
    asked = {
        "/flows?text=": "/flows?text=run%20123",
        "/flows?text= (nowhere)": "/flows?text=zzzzzz",
        "/flows?limit=500": "/flows?limit=500",
        "/flows?state=&template=": "/flows?state=failed&template=genomics-transfer",
        "/flows?before= (far back)": "/flows?before=f-500",
        "/decisions?limit=500": "/decisions?limit=500",
        "/decisions?before=": f"/decisions?before={quote(back)}",
        "/decisions?outcome=&path=": "/decisions?outcome=move&path=mu-osu-0",
        "/outcomes?limit=500": "/outcomes?limit=500",
        "/measurements?limit=": "/measurements?path=mu-osu-0&limit=500",
        "/measurements/boxes?since=": f"/measurements/boxes?metric=throughput&{month}",
        "/executions?since=": f"/executions?{day}",
        "/alarms?open=": "/alarms?open=true",
        "/audit?actor=": "/audit?actor=researcher07&limit=500",
        "/what-if?failure=": "/what-if?failure=path-down&name=mu-osu-0",
        "/tokens?limit=": "/tokens?limit=500",
    }
    return [Question(name, (path,)) for name, path in asked.items()]


def _text(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
