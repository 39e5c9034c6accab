"""The test world: what tests share to be quick must not carry anything from one to the other."""

from __future__ import annotations

from pathlib import Path

from flask import Response, request

from tests.apps.web import World


def test_worlds_share_routes_and_nothing_else(tmp_path: Path, empty_state: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, other = World(tmp_path / "a", empty_state), World(tmp_path / "b", empty_state)
    try:
        one.app.before_request(lambda: Response(status=418) if request.path.endswith("/sites") else None)
        one.submit()
        assert other.ask("GET", "/flows").json["items"] == []
        other.access.tokens.revoke(other.access.tokens.list("auditor")[0].id, 0.0)
        assert one.ask("GET", "/sites").status_code == 418
        assert other.ask("GET", "/sites").status_code == 200
        assert one.ask("GET", "/flows", "auditor").status_code == 200
        assert other.ask("GET", "/flows", "auditor").status_code == 401
    finally:
        one.close()
        other.close()
