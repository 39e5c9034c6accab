"""Where the API is, which token is used, and how a login is kept."""

from __future__ import annotations

import stat

import pytest

from adon.client import Client, credentials
from adon.client.credentials import Stored
from adon.errors import InvalidInput, NotAuthenticated

SERVER = "https://adon.example.org"


@pytest.fixture
def home(tmp_path):
    return {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}


@pytest.mark.parametrize(
    ("environment", "where"),
    [
        ({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}, "/x/adon/credentials.json"),
        ({"HOME": "/h"}, "/h/.config/adon/credentials.json"),
        ({"XDG_CONFIG_HOME": "relative", "HOME": "/h"}, "/h/.config/adon/credentials.json"),
        ({"XDG_CONFIG_HOME": "", "HOME": "/h"}, "/h/.config/adon/credentials.json"),
    ],
)
def test_the_file_is_where_the_specification_says(environment, where):
    assert str(credentials.file(environment)) == where


def test_a_login_is_kept_for_its_owner_only_and_by_address(home):
    written = credentials.store(home, Stored().with_token(SERVER + "/", "adon_secret"))
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert stat.S_IMODE(written.parent.stat().st_mode) == 0o700
    assert [one.name for one in written.parent.iterdir()] == ["credentials.json"]
    assert credentials.url(home) == SERVER
    assert credentials.token(home, SERVER) == "adon_secret"
    assert credentials.token(home, "https://other.example.org") is None
    credentials.store(home, credentials.stored(home).without(SERVER))
    assert credentials.token(home, SERVER) is None
    assert credentials.url(home) == credentials.URL


def test_the_environment_goes_before_what_is_stored(home, tmp_path):
    credentials.store(home, Stored().with_token(SERVER, "stored"))
    file = tmp_path / "token"
    file.write_text("of-the-file\n")
    for more, url, token in (
        ({}, SERVER, "stored"),
        ({"ADON_URL": "http://a/"}, "http://a", None),
        ({"ADON_TOKEN_FILE": str(file)}, SERVER, "of-the-file"),
        ({"ADON_TOKEN_FILE": str(file), "ADON_TOKEN": " mine "}, SERVER, "mine"),
    ):
        told = {**home, **more}
        assert credentials.url(told) == url
        assert credentials.token(told, credentials.url(told)) == token
    assert credentials.url({**home, "ADON_URL": "http://a"}, "http://b/") == "http://b"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_file_that_others_may_read_is_refused(home, mode):
    credentials.store(home, Stored().with_token(SERVER, "secret")).chmod(mode)
    with pytest.raises(InvalidInput) as refusal:
        credentials.stored(home)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"current": 1}', '{"current": null, "tokens": 3}'])
def test_a_file_that_is_not_ours_is_told(home, text):
    credentials.store(home, Stored()).write_text(text)
    with pytest.raises(InvalidInput):
        credentials.stored(home)


def test_what_cannot_be_written_leaves_nothing_behind(home, tmp_path):
    (tmp_path / "config").write_text("a file, where a folder must be")
    with pytest.raises(InvalidInput):
        credentials.store(home, Stored().with_token(SERVER, "secret"))


def test_a_client_of_the_environment(home):
    with pytest.raises(NotAuthenticated):
        Client.from_environment(home)
    with pytest.raises(InvalidInput, match="ADON_TOKEN_FILE"):
        Client.from_environment({**home, "ADON_TOKEN_FILE": "/nonexistent"})
    assert isinstance(Client.from_environment({**home, "ADON_TOKEN": "t"}), Client)
