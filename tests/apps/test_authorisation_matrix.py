"""Every operation of the API, for every role, on what is one's own and on what is another's.

The operations come from the API's description, what is expected from ``authorisation_matrix.txt``: a new
operation without a line there fails.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.apps.peopled import OTHER, PREFIX, Peopled, owned, peopled
from tests.support.authorisation_table import EXPECTED
from tests.support.web_world import ROLES

REPEATED = 409
"""What was done by somebody before in the same world cannot be done again: it may be, and is a conflict."""


LISTS = [
    path
    for method, path in EXPECTED
    if method == "GET" and "{" not in path and "own" in EXPECTED[method, path].values()
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory, empty_state):
    """A world in which nothing is changed."""
    with peopled(tmp_path_factory.mktemp("matrix"), empty_state) as built:
        yield built


def operations(whole: Peopled) -> dict[tuple[str, str], Any]:
    document = whole.world.ask("GET", "/openapi.json", None).json
    return {
        (method.upper(), path.removeprefix(PREFIX)): operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }


def test_every_operation_has_its_line_in_the_table(shared):
    assert set(operations(shared)) == set(EXPECTED)
    assert all(set(ROLES) | {"anonymous"} == set(line) for line in EXPECTED.values())


def test_the_description_says_who_needs_a_token(shared):
    for name, operation in operations(shared).items():
        open_ = EXPECTED[name]["anonymous"] == "any"
        assert bool(operation["security"]) is not open_, name
        assert ("401" in operation["responses"]) is not open_, name


def test_whoever_may_not_is_refused_and_nothing_changes(shared):
    before, wrong = shared.state(), []
    for (method, path), line in EXPECTED.items():
        for role in (*ROLES, "unknown"):
            if line.get(role, line["anonymous"]) == "none":
                for owner in (role, OTHER):
                    answer = shared.call(method, path, role, owner)
                    if answer.status_code != 403 or answer.mimetype != "application/problem+json":
                        wrong.append((method, path, role, owner, answer.status_code))
        if line["anonymous"] == "none":
            for token in (None, shared.world.revoked, shared.world.expired, "adon_wrong"):
                answer = shared.call(method, path, token, OTHER)
                if answer.status_code != 401 or not answer.headers["WWW-Authenticate"].startswith("Bearer"):
                    wrong.append((method, path, "anonymous", token, answer.status_code))
    assert wrong == []
    assert shared.state() == before


def test_what_is_another_s_is_as_if_it_were_not_there(shared):
    before, wrong = shared.state(), []
    for (method, path), line in EXPECTED.items():
        for role in ROLES:
            if line[role] != "own" or not owned(path, method):
                continue
            answer = shared.call(method, path, role, OTHER)
            if _may_see(path, role):
                if answer.status_code != 403:
                    wrong.append((method, path, role, answer.status_code))
            elif (answer.status_code, answer.json) != _absent(shared, method, path, role):
                wrong.append((method, path, role, answer.status_code, answer.json))
    assert wrong == []
    assert shared.state() == before


def _may_see(path: str, role: str) -> bool:
    kind = path.split("/")[1]
    return EXPECTED["GET", f"/{kind}/{{id}}"][role] == "any" if "{id}" in path else False


def _absent(whole: Peopled, method: str, path: str, role: str) -> tuple[int, Any]:
    """The answer about an object that never was, with the name of the one that is another's."""
    never = {"flows": "f-999", "decisions": "d-999", "jobs": "j-999", "reservations": "r-999"}
    never |= {"subscriptions": "s-999", "tokens": "t-999", "users": "u-999", "sessions": "s0-999"}
    never["outcomes"] = "f-998"
    whole.ids["nobody"] = never
    answer = whole.call(method, path, role, "nobody")
    text = answer.text
    for kind, name in never.items():
        text = text.replace(name, whole.ids[OTHER][kind])
    return answer.status_code, whole.world.app.json.loads(text)


@pytest.mark.parametrize("path", [path for path in LISTS if path not in ("/rules/explain", "/users/me")])
def test_a_list_of_one_s_own_shows_nobody_else_s(shared, path):
    mine: dict[str, str] = {}
    for owner, ids in shared.ids.items():
        mine |= dict.fromkeys(ids.values(), owner)
    for role in ROLES:
        answer = shared.call("GET", path, role, role)
        assert answer.status_code == 200, answer.text
        owners = {_owner(item, mine) for item in answer.json["items"]}
        if EXPECTED["GET", path][role] == "own":
            assert owners <= {role}, (role, owners)
        elif path not in ("/rules", "/rules/explain", "/queue"):
            assert OTHER in owners


def _owner(item: dict[str, Any], mine: dict[str, str]) -> str:
    for name in ("requester", "owner"):
        if name in item:
            return mine.get(item[name], str(item[name]))
    if "roles" in item:
        return str(item["name"])
    flow = item.get("flow") or item.get("id") or item.get("owner")
    return mine[str(flow)]


READS = [name for name in EXPECTED if name[0] == "GET"]
CHANGES = [name for name in EXPECTED if name[0] != "GET"]


@pytest.mark.parametrize("operation", READS, ids=" ".join)
def test_whoever_may_read_reads(shared, operation):
    _allowed(shared, *operation)


def test_no_answer_is_for_a_shared_cache_or_another_sites_page(shared):
    for method, path in READS:
        headers = shared.call(method, path, "admin", OTHER).headers
        assert "private" in headers["Cache-Control"] or "no-store" in headers["Cache-Control"], path
        assert headers["X-Content-Type-Options"] == "nosniff", path
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin", path
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin", path
        assert "default-src 'none'" in headers["Content-Security-Policy"], path
        assert "Access-Control-Allow-Origin" not in headers, path


@pytest.mark.parametrize("operation", CHANGES, ids=" ".join)
def test_whoever_may_change_changes(tmp_path, empty_state, operation):
    with peopled(tmp_path, empty_state) as built:
        _allowed(built, *operation)


def _allowed(whole: Peopled, method: str, path: str) -> None:
    line = EXPECTED[method, path]
    if line["anonymous"] == "any":
        assert whole.call(method, path, None, OTHER).status_code == 200
    for role in ROLES:
        owners = {"any": [role, OTHER], "own": [role], "none": []}[line[role]]
        for owner in owners if owned(path, method) else owners[:1]:
            answer = whole.call(method, path, role, owner)
            again = answer.status_code == REPEATED or (
                method == "DELETE" and owner == OTHER and answer.status_code == 404
            )
            # What a decision saw is not kept here: that is told only to whoever may know the decision.
            unseen = answer.status_code == 404 and answer.json["kind"] == "snapshot of decision"
            assert answer.status_code < 300 or again or unseen, (role, owner, answer.text)
