"""A small client of the REST API (docs/rest-api.md).

Answers are the API's JSON objects; failures are raised as the exceptions they began as
(:mod:`apps.problems`).  The token goes into the Authorization header and nowhere else: redirects are not
followed, and neither ``.netrc`` nor a proxy from the environment is asked.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import requests

from adon.errors import NotAuthenticated, Unavailable
from apps import problems

TIMEOUT = 30.0
"""Seconds to wait for an answer; the web process itself waits 10 for the controller."""

Json = dict[str, Any]


class Client:
    """The API at one address, as one actor."""

    def __init__(self, url: str, token: str | None) -> None:
        self._base = url.rstrip("/") + "/api/v1"
        self._session = requests.Session()
        self._session.trust_env = False
        if token is not None:
            self._session.headers["Authorization"] = f"Bearer {token}"

    def submit(self, request: Mapping[str, Any]) -> Json:
        """Ask for a transfer; returns at once with the flow it became."""
        return self._call("POST", "/flows", body=request, headers={"Idempotency-Key": uuid.uuid4().hex})

    def flow(self, flow: str) -> Json:
        """One flow."""
        return self._call("GET", f"/flows/{_part(flow)}")

    def flows(self, state: str | None = None, requester: str | None = None, limit: int = 50) -> list[Json]:
        """The newest flows, at most ``limit``."""
        found: list[Json] = []
        before: str | None = None
        while len(found) < limit:
            query = {"state": state, "requester": requester, "before": before}
            page = self._call("GET", "/flows", query={**query, "limit": min(500, limit - len(found))})
            found += page["items"]
            before = page["next"]
            if before is None:
                break
        return found

    def history(self, flow: str) -> list[Json]:
        """The steps of a flow's life."""
        return self._items(f"/flows/{_part(flow)}/history")

    def waiting(self, flow: str) -> Json:
        """What a waiting flow waits for, when it may start, what would help."""
        return self._call("GET", f"/flows/{_part(flow)}/waiting")

    def cancel(self, flow: str) -> Json:
        """Cancel a flow; the flow as it is then."""
        return self._call("DELETE", f"/flows/{_part(flow)}")

    def report(self, flow: str, status: str, size: int, detail: str = "") -> Json:
        """Tell how a flow's transfer stands."""
        body = {"status": status, "bytes": size, "detail": detail}
        return self._call("POST", f"/flows/{_part(flow)}/reports", body=body)

    def outcome(self, flow: str) -> Json:
        """What a flow left behind."""
        return self._call("GET", f"/flows/{_part(flow)}/outcome")

    def outcomes(self, template: str | None = None, since: str | None = None, limit: int = 100) -> list[Json]:
        """What flows left behind, those that ended last first."""
        return self._items("/outcomes", {"template": template, "since": since, "limit": limit})

    def decision(self, decision: str) -> Json:
        """One decision."""
        return self._call("GET", f"/decisions/{_part(decision)}")

    def decisions(self, flow: str) -> list[Json]:
        """All decisions about a flow, the oldest first."""
        return self._items(f"/flows/{_part(flow)}/decisions")

    def templates(self) -> list[Json]:
        """The latest version of every template, in short."""
        return self._items("/templates")

    def template(self, name: str, version: str | None = None) -> Json:
        """One template version, the latest if none is named."""
        tail = "" if version is None else f"/versions/{_part(version)}"
        return self._call("GET", f"/templates/{_part(name)}{tail}")

    def add_template(self, template: Mapping[str, Any]) -> Json:
        """Save a template; without a version of its own, as the next one."""
        return self._call("POST", "/templates", body=template)

    def similar(self, template: Mapping[str, Any]) -> Json:
        """The templates that a specification is like, and whether it may be registered by self-service."""
        return self._call("POST", "/template-drafts/similar", body=template)

    def serve_yourself(self, template: Mapping[str, Any]) -> Json:
        """Save a template without a performance engineer, where the policy allows it."""
        return self._call("POST", "/self-service", body=template)

    def learn(self, template: str) -> Json:
        """Have a template's scoring learnt; the proposal that comes of it."""
        return self._call("POST", "/proposals", body={"template": template})

    def proposals(self, template: str | None = None, state: str | None = None) -> list[Json]:
        """Proposals to change the scoring of templates, the newest first."""
        return self._items("/proposals", {"template": template, "state": state})

    def proposal(self, proposal: str) -> Json:
        """One proposal with its evidence."""
        return self._call("GET", f"/proposals/{_part(proposal)}")

    def decide_proposal(self, proposal: str, *, accept: bool, reason: str) -> Json:
        """Accept a proposal, or refuse it; the proposal as it is then."""
        deed = "accept" if accept else "refuse"
        return self._call("POST", f"/proposals/{_part(proposal)}/{deed}", body={"reason": reason})

    def network(self) -> Json:
        """Every directed path (``items``), the edge switches, and how good estimates were."""
        return self._call("GET", "/paths")

    def topology(self) -> Json:
        """What the network is made of: sites, switches, links, circuits."""
        return self._call("GET", "/network")

    def paths(self) -> list[Json]:
        """Every directed path with its latest values."""
        items: list[Json] = self.network()["items"]
        return items

    def measurements(self, **query: str) -> list[Json]:
        """Measurements, the newest first; the query's names are the API's."""
        return self._items("/measurements", query)

    def plot(self, **query: str) -> list[Json]:
        """A series in stretches of time, the oldest first; the query's names are the API's."""
        return self._items("/measurements/plot", query)

    def measure(self, path: str, source: str, destination: str, test: str) -> Json:
        """Have a configured test done now; when it will be."""
        body = {"path": path, "source": source, "destination": destination, "test": test}
        return self._call("POST", "/measurements", body=body)

    def schedule(self) -> Json:
        """The plan of tests and its next runs."""
        return self._call("GET", "/schedule")

    def schedule_page(self) -> str:
        """The plan as a picture (HTML)."""
        return self._text("/schedule/gantt")

    def executions(self, since: str | None = None, limit: int = 200) -> list[Json]:
        """What became of planned runs, the newest first."""
        return self._items("/executions", {"since": since, "limit": limit})

    def points(self) -> list[Json]:
        """The measurement points that have announced themselves."""
        return self._items("/points")

    def alarms(self, *, open_only: bool, **query: str) -> list[Json]:
        """Alarms, the newest first; the query's names are the API's."""
        return self._items("/alarms", {"open": "true" if open_only else "false", **query})

    def acknowledge(self, alarm: str) -> Json:
        """Say that an alarm has been seen."""
        return self._call("POST", f"/alarms/{_part(alarm)}/acknowledge", body={})

    def subscriptions(self) -> list[Json]:
        """Who is told of which alarms."""
        return self._items("/subscriptions")

    def subscribe(self, subscription: Mapping[str, Any]) -> Json:
        """Be told of alarms."""
        return self._call("POST", "/subscriptions", body=subscription)

    def unsubscribe(self, subscription: str) -> Json:
        """Be told no more."""
        return self._call("DELETE", f"/subscriptions/{_part(subscription)}")

    def alarm(self, alarm: str) -> Json:
        """One alarm with its evidence."""
        return self._call("GET", f"/alarms/{_part(alarm)}")

    def events(self, seconds: float, after: str | None = None) -> Iterator[tuple[str, str, Json]]:
        """What happens during the next seconds, as it comes: the event's name, its kind and its content.

        :param after: the name of the last event that was seen; what came since is told first.
        :raises AdonError: as every call.
        """
        try:
            with self._session.get(
                f"{self._base}/events",
                params={"seconds": f"{seconds:g}"},
                headers={} if after is None else {"Last-Event-ID": after},
                timeout=TIMEOUT,
                stream=True,
                allow_redirects=False,
            ) as answer:
                if answer.status_code != 200:
                    _body(answer, self._base)
                fields: dict[str, str] = {}
                for line in answer.iter_lines(chunk_size=1):
                    name, _, value = line.decode().partition(": ")
                    fields[name] = value
                    if name == "data":
                        yield fields["id"], fields["event"], json.loads(value)
        except requests.RequestException as error:
            raise Unavailable(f"{self._base}: {_cause(error)}") from error

    def ready(self) -> bool:
        """Whether all of ADON that this address needs answers."""
        try:
            self._call("GET", "/readyz")
        except Unavailable:
            return False
        return True

    def rules(self, flow: str | None = None, dpid: str | None = None) -> list[Json]:
        """The rules that should be in the switches."""
        return self._items("/rules", {"flow": flow, "dpid": dpid})

    def rules_explained(self, of: str) -> Json:
        """Why some rules are there, in words."""
        return self._call("GET", "/rules/explain", query={"of": of})

    def rules_sent(self, flow: str | None, dpid: str | None, limit: int) -> list[Json]:
        """What was sent to switches, the newest first."""
        return self._items("/rules/sent", {"flow": flow, "dpid": dpid, "limit": limit})

    def traced(self, question: dict[str, Any]) -> Json:
        """Where a packet would go now."""
        return self._call("GET", "/trace", query=question)

    def controllers(self) -> list[Json]:
        """The controller that is active, or was last."""
        return self._items("/controllers")

    def rules_diff(self) -> list[Json]:
        """Per switch how its rules differ from what should be."""
        return self._items("/rules/diff")

    def rules_sync(self) -> list[str]:
        """Have every connected switch compared and repaired now; which they are."""
        switches: list[str] = self._call("POST", "/rules/sync", body={})["switches"]
        return switches

    def add_maintenance(self, window: Mapping[str, Any]) -> Json:
        """Announce a maintenance window."""
        return self._call("POST", "/maintenance", body=window)

    def maintenance(self, *, all_: bool) -> list[Json]:
        """Maintenance windows; those that are over only if all are asked for."""
        return self._items("/maintenance", {"all": "true" if all_ else "false"})

    def cancel_maintenance(self, window: str) -> Json:
        """Cancel a maintenance window."""
        return self._call("DELETE", f"/maintenance/{_part(window)}")

    def what_if(self, failure: str | None, name: str | None) -> list[Json]:
        """What a failure would do, or without one every single failure, the most damage first."""
        return self._items("/what-if", {"failure": failure, "name": name})

    def advice(self, flow: str, path: str | None = None, tool: str | None = None) -> Json:
        """TCP and transfer advice for a flow."""
        return self._call("GET", f"/flows/{_part(flow)}/advice", query={"path": path, "tool": tool})

    def advise(self, question: Mapping[str, Any]) -> Json:
        """Advice for supposed numbers and pasted settings."""
        return self._call("POST", "/advice", body=question)

    def accept_advice(self, wanted: Mapping[str, Any]) -> Json:
        """Keep confirmed advice in a new version of the flow's template, or only propose it."""
        return self._call("POST", "/advice/accept", body=wanted)

    def sites(self) -> list[Json]:
        """The compute sites."""
        return self._items("/sites")

    def site(self, name: str) -> Json:
        """One compute site."""
        return self._call("GET", f"/sites/{_part(name)}")

    def submit_job(self, request: Mapping[str, Any]) -> Json:
        """Have a configured program run at a compute site; returns at once with the job it became."""
        return self._call("POST", "/jobs", body=request, headers={"Idempotency-Key": uuid.uuid4().hex})

    def jobs(self, site: str | None = None, limit: int = 50) -> list[Json]:
        """The newest jobs at compute sites, at most ``limit`` and 500."""
        return self._items("/jobs", {"site": site, "limit": min(500, limit)})

    def job(self, job: str) -> Json:
        """One job."""
        return self._call("GET", f"/jobs/{_part(job)}")

    def cancel_job(self, job: str) -> Json:
        """Have a job ended; the job as it is then."""
        return self._call("DELETE", f"/jobs/{_part(job)}")

    def reserve(self, reservation: Mapping[str, Any]) -> Json:
        """Have resources of one place kept for oneself."""
        key = {"Idempotency-Key": uuid.uuid4().hex}
        return self._call("POST", "/reservations", body=reservation, headers=key)

    def reservations(self, *, all_: bool) -> list[Json]:
        """Reservations; those that are over only if all are asked for."""
        return self._items("/reservations", {"all": "true" if all_ else "false"})

    def release(self, reservation: str) -> Json:
        """Release a reservation."""
        return self._call("DELETE", f"/reservations/{_part(reservation)}")

    def resources(self) -> list[Json]:
        """Every compute site, and what is free of it."""
        return self._items("/resources")

    def forecast_calibration(self, template: str | None, limit: int) -> list[Json]:
        """How well forecasts of completion held."""
        return self._items("/forecasts/calibration", {"template": template, "limit": limit})

    def forecast_plot(self, template: str | None, limit: int) -> str:
        """The same as a picture (SVG)."""
        chosen = "" if template is None else f"&template={_part(template)}"
        return self._text(f"/forecasts/calibration/plot?limit={limit}{chosen}")

    def _text(self, path: str) -> str:
        """What is no JSON.

        :raises AdonError: as every call.
        """
        try:
            answer = self._session.get(self._base + path, timeout=TIMEOUT, allow_redirects=False)
        except requests.RequestException as error:
            raise Unavailable(f"{self._base}: {_cause(error)}") from error
        if answer.status_code != 200:
            _body(answer, self._base)
        return answer.text

    def _items(self, path: str, query: Mapping[str, Any] | None = None) -> list[Json]:
        items: list[Json] = self._call("GET", path, query=query)["items"]
        return items

    def _call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        """One request.

        :raises AdonError: what the API answered with, or :class:`Unavailable` if nothing of it answers.
        """
        try:
            answer = self._session.request(
                method,
                self._base + path,
                json=body,
                params=query,
                headers=headers,
                timeout=TIMEOUT,
                allow_redirects=False,
            )
        except requests.ConnectionError as error:
            raise Unavailable(f"nothing answers at {self._base}; is 'adon serve' running?") from error
        except requests.RequestException as error:
            raise Unavailable(f"{self._base}: {_cause(error)}") from error
        return _body(answer, self._base)


def _part(text: str) -> str:
    # "." and ".." would be taken out of the address by whoever normalises it.
    return quote(text, safe="") if text.strip(".") else "-"


def _cause(error: requests.RequestException) -> str:
    return "does not answer in time" if isinstance(error, requests.Timeout) else type(error).__name__


def _body(answer: requests.Response, base: str) -> Json:
    try:
        body = answer.json()
    except ValueError:
        body = None
    if answer.status_code < 300 and isinstance(body, dict):
        return body
    if isinstance(body, dict) and "detail" in body:
        raise problems.from_document({**body, "status": answer.status_code})
    if answer.status_code == 401:
        raise NotAuthenticated("the token is not accepted")
    if answer.status_code < 400:
        raise Unavailable(f"{base} is not ADON's REST API: it answered {answer.status_code}")
    raise problems.of_status(answer.status_code, f"{base} answered {answer.status_code}")


def changes(
    fetch: Callable[[], Json], pause: Callable[[], object], key: Callable[[Json], object]
) -> Iterator[Json]:
    """A flow each time it has changed, until it is final; ``pause`` is called between two looks."""
    last: object = None
    while True:
        flow = fetch()
        if (now := key(flow)) != last:
            last = now
            yield flow
        if flow["final"]:
            return
        pause()
