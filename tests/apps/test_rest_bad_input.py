"""What nobody should send: answered as a problem document, without a trace, and nothing changes."""

from __future__ import annotations

import json
from http import HTTPStatus

import pytest

from tests.apps.peopled import peopled
from tests.support.web_world import SOYKB, WISH

TRACES = ("Traceback", 'File "', "site-packages", "sqlalchemy", "pydantic", "werkzeug", ".py")


@pytest.fixture(scope="module")
def crowd(tmp_path_factory, empty_state):
    with peopled(tmp_path_factory.mktemp("bad"), empty_state) as built:
        yield built


def refused(answer, *statuses):
    """It is one of our problem documents, and tells nothing of the program."""
    assert answer.status_code in (statuses or (400, 404, 405, 413, 415, 422)), (
        answer.status_code,
        answer.text,
    )
    assert answer.mimetype == "application/problem+json"
    document = answer.json
    assert document["status"] == answer.status_code
    assert {"type", "title", "detail"} <= set(document)
    for trace in TRACES:
        assert trace not in answer.text, answer.text
    return document


@pytest.fixture(autouse=True)
def unchanged(crowd):
    before = crowd.state()
    yield
    assert crowd.state() == before


def raw(crowd, path, data, kind="application/json", method="POST", **headers):
    return crowd.world.ask(method, path, data=data, content_type=kind, headers=headers)


POSTS = [
    "/flows",
    "/templates",
    "/template-checks",
    "/jobs",
    "/reservations",
    "/subscriptions",
    "/maintenance",
]

BODIES = {
    "nothing": b"",
    "no object": b"[]",
    "a text": b'"x"',
    "null": b"null",
    "cut off": b'{"source": "mu-d',
    "two": b"{} {}",
    "not a number": b'{"size": NaN}',
    "a name twice": b'{"source": "a", "source": "b"}',
    "deep lists": b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "a huge number": b'{"size": ' + b"9" * 10_000 + b"}",
    "a huge exponent": b'{"size": 1e999999}',
    "not UTF-8": b'{"source": "\xff\xfe"}',
    "UTF-16": '{"source": "mu-dtn"}'.encode("utf-16"),
    "UTF-7": b'{"source": "+ADw-script+AD4-"}',
    "a lone surrogate": b'{"source": "\\ud800"}',
    "a NUL": b'{"source": "mu\\u0000dtn"}',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "an attack on prototypes": b'{"__proto__": {"admin": true}}',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("path", POSTS)
def test_a_body_that_is_none(crowd, path, body):
    refused(raw(crowd, path, body), 400, 422)


NOT_JSON = ("nothing", "cut off", "two", "not a number", "a name twice", "deep lists", "not UTF-8")


@pytest.mark.parametrize("body", [BODIES[name] for name in NOT_JSON], ids=NOT_JSON)
@pytest.mark.parametrize("path", POSTS)
def test_a_body_that_is_no_json_is_read_by_nothing_behind(crowd, path, body):
    assert refused(raw(crowd, path, body), 400)["problems"][0]["field"] == "body"


@pytest.mark.parametrize("path", POSTS)
def test_a_body_above_the_limit(crowd, path):
    refused(raw(crowd, path, b'{"text": "' + b"x" * 1_000_001 + b'"}'), 413)
    refused(crowd.world.ask("POST", path, data=b"{}", headers={"Content-Length": "99999999999"}), 413, 415)


@pytest.mark.parametrize("body", [b"x", b"[]", b'{"a": 1'])
def test_a_body_where_none_is_taken_is_a_json_object_or_absent(crowd, body):
    refused(raw(crowd, "/rules/sync", body, ""), 415)
    refused(raw(crowd, "/rules/sync", body), 400)
    refused(raw(crowd, "/flows", b"", ""), 415)


@pytest.mark.parametrize(
    "kind",
    [
        "",
        "text/plain",
        "application/xml",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        "application/json, text/html",
        "application/jsonp",
        "x" * 5000,
    ],
)
@pytest.mark.parametrize("path", POSTS)
def test_a_body_of_another_kind(crowd, path, kind):
    refused(raw(crowd, path, json.dumps(WISH).encode(), kind), 415)


@pytest.mark.parametrize("charset", ["utf-7", "utf-16", "idna", "rot13", "zip", "unicode_escape", "nonsense"])
def test_a_charset_that_is_named_changes_nothing(crowd, charset):
    text = json.dumps({"text": "name: x\nweights: {rtt: 1}\n", "form": "yaml"}).encode()
    answer = raw(crowd, "/template-checks", text, f"application/json; charset={charset}")
    assert answer.status_code == 200  # JSON is UTF-8, whatever is said of it (RFC 8259)
    assert answer.json["ok"]


NAMES = {
    "NUL": "mu\x00dtn",
    "bidi": "mu‮ntd",
    "isolate": "⁦mu⁩",
    "zero width": "mu​dtn",
    "homoglyph": "mu-dtп",
    "combining": "m" + "̈" * 500,
    "newline": "mu\r\nSet-Cookie: a=b",
    "escape": "mu\x1b[2J",
    "very long": "m" * 200_000,
    "formula": "=cmd|' /C calc'!A0",
    "markup": "<script>alert(1)</script>",
    "SQL": "mu'; DROP TABLE flows; --",
    "path": "../../etc/passwd",
    "percent": "%2e%2e%2f",
    "format": "{0.__class__}%s%n",
    "surrogate": "\ud83d",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_name_that_nothing_has(crowd, name):
    for path, body in (
        ("/flows", {**WISH, "source": name}),
        ("/flows", {**WISH, "template": name}),
        ("/templates", {**SOYKB, "name": name}),
        ("/jobs", {"site": name, "job": "align"}),
        (
            "/maintenance",
            {"scope": "path", "name": name, "begins": "2099-01-01T00:00:00Z", "ends": "2100-01-01T00:00:00Z"},
        ),
    ):
        refused(raw(crowd, path, json.dumps(body).encode()), 400, 404, 422)


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_text_that_looks_like_something_else_comes_back_as_it_was(crowd, name):
    """What a person may write freely is kept as data: JSON escapes it, and no header carries it."""
    body = {"text": f"name: x\nweights: {{rtt: 1}}\ntitle: {json.dumps(name)}\n"}
    answer = raw(crowd, "/template-checks", json.dumps(body).encode())
    assert answer.status_code in (200, 400, 422)
    if answer.status_code != 200:
        refused(answer)
    assert "Set-Cookie" not in answer.headers


PATHS = [
    "/templates/..%2f..%2fetc%2fpasswd",
    "/templates/%2e%2e",
    "/templates/..",
    "/templates/.",
    "/templates/%00",
    "/templates/soykb%00.yaml",
    "/templates/soykb%0d%0aSet-Cookie:a=b",
    "/templates/%ff%fe",
    "/templates/" + "a" * 20_000,
    "/templates/soykb/versions/1e3",
    "/templates/soykb/versions/-1",
    "/templates/soykb/versions/99999999999999999999999",
    "/templates/soykb/versions/١",
    "/flows/f-0",
    "/flows/f-01",
    "/flows/f-9999999999999999999999",
    "/flows/f-1%00",
    "/flows/F-1",
    "/flows/f-١",
    "/flows/%2e%2e%2fflows",
    "/decisions/' OR 1=1 --",
    "/jobs/j-1/../../flows",
    "/alarms/%00",
    "/sites/..%2f",
    "/template-backtests/..%2f..%2f",
    "//flows",
]


@pytest.mark.parametrize("path", PATHS, ids=range(len(PATHS)))
def test_an_address_that_leads_nowhere(crowd, path):
    answer = crowd.world.ask("GET", path)
    if answer.status_code == 308:  # "//flows" is "/flows", on this host
        assert answer.headers["Location"].startswith("http://localhost/api/v1/")
        return
    refused(answer, 404, 422)
    assert "Set-Cookie" not in answer.headers


QUERIES = [
    "/flows?limit=1e9",
    "/flows?limit=" + "9" * 5000,
    "/flows?limit=-1",
    "/flows?limit=١",
    "/flows?limit=1&limit=2",
    "/flows?state=",
    "/flows?before=%00",
    "/flows?since=yesterday",
    "/flows?since=2025-10-09",
    "/flows?since=9999-99-99T99:99:99Z",
    "/flows?text=" + "a" * 9000,
    "/flows?" + "&".join(f"a{n}=1" for n in range(1000)),
    "/flows?__proto__=1",
    "/flows?text=%ff",
    "/measurements?metric=beauty",
    "/measurements/boxes?since=2025-10-09T00:00:00Z&until=2024-10-09T00:00:00Z",
    "/measurements/boxes?since=1900-10-09T00:00:00Z",
    "/measurements/plot?source=mu&metric=x&since=NaN&until=Infinity",
    "/rules?dpid=zzzz",
    "/rules/explain?of=0x",
    "/what-if?failure=path-down",
    "/templates/soykb/diff?from=0",
    "/events?seconds=nan",
    "/events?seconds=inf",
    "/decisions?before=WzFlOTksICJ4Il0",
    "/version?" + "a" * 100_000,
]


@pytest.mark.parametrize("path", QUERIES, ids=range(len(QUERIES)))
def test_a_query_that_means_nothing(crowd, path):
    if path in ("/flows?text=%ff",):
        assert crowd.world.ask("GET", path).status_code == 200  # a text like any other that nothing has
        return
    refused(crowd.world.ask("GET", path), 404, 422)


CHECKS = {
    "a bomb of aliases": ("yaml", "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nname: *c\n"),
    "a merge": ("yaml", "a: &a {x: 1}\n<<: *a\n"),
    "a tag that calls": ("yaml", "name: !!python/object/apply:os.system ['true']\n"),
    "a tag": ("yaml", "name: !!binary aGk=\n"),
    "very deep": ("yaml", "[" * 60_000),
    "deep by indentation": ("yaml", "\n".join(" " * n + f"a{n}:" for n in range(1300))),
    "two documents": ("yaml", "name: a\n---\nname: b\n"),
    "a key twice": ("yaml", "name: a\nname: b\n"),
    "a key that is a list": ("yaml", "? [a]\n: b\n"),
    "control characters": ("yaml", "name: \x07\n"),
    "a number without end": ("yaml", "priority: " + "9" * 100_000),
    "a list": ("yaml", "- a\n- b\n"),
    "a scalar": ("yaml", "hello"),
    "nothing": ("yaml", ""),
    "only a comment": ("yaml", "# name: x"),
    "no JSON": ("json", "{'name': 'x'}"),
    "JSON, cut off": ("json", '{"name": '),
    "NaN": ("json", '{"priority": NaN}'),
    "deep JSON": ("json", "[" * 100_000),
    "a JSON number without end": ("json", '{"priority": ' + "9" * 10_000 + "}"),
    "an external entity": (
        "rspec",
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><rspec>&x;</rspec>',
    ),
    "a billion laughs": ("rspec", '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><rspec>&b;</rspec>'),
    "a parameter entity": ("rspec", '<!DOCTYPE r [<!ENTITY % p SYSTEM "http://127.0.0.1:1/"> %p;]><rspec/>'),
    "deep XML": ("rspec", "<a>" * 5000 + "</a>" * 5000),
    "another element": ("rspec", "<html/>"),
    "no XML": ("rspec", "hello"),
}


@pytest.mark.parametrize(("form", "text"), CHECKS.values(), ids=CHECKS)
def test_a_template_s_text_that_is_none_is_told_what_is_wrong(crowd, form, text):
    answer = raw(crowd, "/template-checks", json.dumps({"text": text, "form": form}).encode())
    assert answer.status_code == 200, answer.text
    found = answer.json
    assert not found["ok"]
    assert found["problems"]
    assert found["template"] is None
    assert all(problem["cause"] for problem in found["problems"])
    for trace in TRACES:
        assert trace not in answer.text
    assert "root:" not in answer.text


def test_headers_cannot_be_put_in(crowd):
    for name in ("Idempotency-Key", "If-Match", "Last-Event-ID", "Accept", "Authorization"):
        answer = crowd.world.client.get(
            "/api/v1/flows",
            headers={"Authorization": f"Bearer {crowd.world.tokens['admin']}", name: "x\x7f" * 3000},
        )
        assert answer.status_code in (200, 401, 412, 422)
        assert "x\x7f" not in str(answer.headers)


@pytest.mark.parametrize("method", ["PUT", "PATCH", "TRACE", "PROPFIND", "CONNECT", "get"])
def test_a_method_that_is_not_there(crowd, method):
    answer = crowd.world.ask(method, "/flows")
    if answer.status_code == HTTPStatus.OK:
        assert method == "get"  # the client writes it in capitals
        return
    assert refused(answer, 405)
    assert "GET" in answer.headers["Allow"]


def test_no_answer_is_a_table_that_a_spreadsheet_would_run(crowd):
    """CSV of the audit log is written by the client (tests/access); nothing is guessed at."""
    document = crowd.world.ask("GET", "/openapi.json").json
    tables = {
        path
        for path, item in document["paths"].items()
        for operation in item.values()
        for response in operation["responses"].values()
        for kind in response.get("content", {})
        if "csv" in kind
    }
    assert tables == set()
    assert crowd.world.ask("GET", "/flows").headers["X-Content-Type-Options"] == "nosniff"
