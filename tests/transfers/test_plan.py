from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from adon.config.transfers import Rclone, Transfers
from adon.errors import AdonError, Forbidden, InvalidInput
from adon.transfers.plan import HERE, ZONE, End, Plan, planned
from adon.transfers.wish import Place, TransferWish

REMOTES = {
    "data": {"at": "mu-dtn", "fs": "/data"},
    "osu": {"at": "osu-dtn", "fs": "osu:"},
    "lab": {"at": "osu-dtn", "fs": "osu:lab"},
}
TOOL = {"url": "http://127.0.0.1:5572", "password_file": "pw", "remotes": REMOTES}
ENDS = ("mu-dtn", "osu-dtn")


def transfers(**tools: dict[str, Any]) -> Transfers:
    return Transfers.model_validate({"rclone": {at.replace("_", "-"): one for at, one in tools.items()}})


def wish(**fields: Any) -> TransferWish:
    return TransferWish.model_validate({"tool": "rclone", **fields})


@pytest.mark.parametrize(
    ("source", "destination", "ends"),
    [
        ("data:run/", "osu:in/", (End("/data/run", ""), End("osu:in", ""))),
        ("data:", "osu:", (End("/data", ""), End("osu:", ""))),
        ("data:run/a.bam", "lab:in/", (End("/data/run", "a.bam"), End("osu:lab/in", "a.bam"))),
        ("data:a.bam", "osu:b.bam", (End("/data", "a.bam"), End("osu:", "b.bam"))),
    ],
)
def test_places_become_what_rclone_is_told(source: str, destination: str, ends: tuple[End, End]) -> None:
    found = planned(wish(source=source, destination=destination), ENDS, (), transfers(mu_dtn=TOOL))
    assert found == Plan("mu-dtn", ends, folder=source.endswith(("/", ":")))


def test_the_end_whose_tool_has_both_remotes_carries_it() -> None:
    configured = transfers(mu_dtn={**TOOL, "remotes": {}}, osu_dtn=TOOL)
    assert planned(wish(source="data:a/", destination="osu:b/"), ENDS, (), configured).at == "osu-dtn"


@pytest.mark.parametrize(
    ("tools", "fields", "field", "cause"),
    [
        ({}, {"source": "data:", "destination": "osu:"}, "transfer.tool", "no rclone"),
        ({"mu_dtn": TOOL}, {"source": "x:", "destination": "osu:"}, "transfer.source", "no remote 'x'"),
        ({"mu_dtn": TOOL}, {"source": "data:", "destination": "data:"}, "transfer.destination", "at mu-dtn"),
        ({"mu_dtn": TOOL}, {"attach": 3, "at": "osu-dtn"}, "transfer.at", "osu-dtn"),
        ({"mu_dtn": {**TOOL, "attach": False}}, {"attach": 3}, "transfer.attach", "configuration"),
        ({"mu_dtn": TOOL, "osu_dtn": TOOL}, {"attach": 3}, "transfer.at", "say whose"),
    ],
)
def test_what_the_configuration_does_not_have_is_refused(
    tools: dict[str, Any], fields: dict[str, Any], field: str, cause: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        planned(wish(**fields), ENDS, (), transfers(**tools))
    assert caught.value.problems[0].field == field
    assert cause in str(caught.value)


def test_a_tool_may_be_for_some_groups_only() -> None:
    configured = transfers(mu_dtn={**TOOL, "groups": ["soy"]})
    asked = wish(source="data:", destination="osu:")
    assert planned(asked, ENDS, ("soy", "x"), configured).at == "mu-dtn"
    with pytest.raises(Forbidden, match="not for your groups"):
        planned(asked, ENDS, ("x",), configured)


@pytest.mark.parametrize(
    "text",
    [
        *("/etc/passwd", "data:/etc", "data:../x", "data:a/../../x", "data:a//b", "data:./a"),
        *(":local:/etc/", "data,x=1:a", "data:a\nb", "data:a\\..\\b", "data:a\x00", "", "data", "a b:c"),
    ],
)
def test_no_way_out_of_a_remote(text: str) -> None:
    with pytest.raises(ValueError, match=r"REMOTE:PATH|the path"):
        Place.of(text)
    with pytest.raises(ValidationError):
        wish(source=text, destination="osu:")


@given(st.text(max_size=30))
def test_whatever_is_asked_stays_below_the_remote(path: str) -> None:
    try:
        found = planned(wish(source=f"data:{path}", destination="osu:in/"), ENDS, (), transfers(mu_dtn=TOOL))
    except (AdonError, ValidationError):
        return
    assert found.ends is not None
    whole = "/".join(part for part in (found.ends[0].fs, found.ends[0].name) if part)
    assert whole == "/data" or whole.startswith("/data/")
    assert ".." not in whole.split("/")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"source": "data:"},
        {"attach": 1, "source": "data:", "destination": "osu:"},
        {"source": "data:a/", "destination": "osu:a"},
        {"tool": "scp", "source": "data:", "destination": "osu:"},
    ],
)
def test_a_wish_is_whole(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        wish(**fields)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"url": "http://dtn.example.edu:5572"}, "http only to this machine"),
        ({"password_env": "PW"}, "not both"),
        ({"password_file": None}, "name a file"),
        ({"remotes": {"a": {"at": "x", "fs": "data"}}}, "relative folder"),
    ],
)
def test_a_tool_that_would_be_unsafe_is_not_configured(change: dict[str, Any], cause: str) -> None:
    with pytest.raises(ValidationError, match=cause):
        Rclone.model_validate({**TOOL, **change})


MU, OSU = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"
GLOBUS = {
    "client_id": MU,
    "client_secret_env": "SECRET",
    "remotes": {
        "data": {"at": "mu-dtn", "collection": MU, "folder": "/data"},
        "osu": {"at": "osu-dtn", "collection": OSU},
    },
}
IRODS = {
    "host": "irods.example.edu",
    "zone": "lab",
    "user": "adon",
    "password_file": "pw",
    "remotes": {
        "data": {"at": "mu-dtn", "folder": "/data"},
        "home": {"at": "osu-dtn", "collection": "/lab/home/adon"},
        "near": {"at": "mu-dtn", "collection": "/lab/near"},
    },
}
OTHERS = Transfers.model_validate({"globus": {"campus": GLOBUS, "other": GLOBUS}, "irods": {"lab": IRODS}})


@pytest.mark.parametrize(
    ("fields", "plan"),
    [
        (
            {"tool": "globus", "source": "data:run/", "destination": "osu:"},
            Plan("globus:campus", (End(MU, "/data/run/"), End(OSU, "/")), folder=True),
        ),
        (
            {"tool": "globus", "source": "data:run/a", "destination": "osu:in/", "credentials": "other"},
            Plan("globus:other", (End(MU, "/data/run/a"), End(OSU, "/in/a"))),
        ),
        (
            {"tool": "globus", "attach": OSU, "credentials": "other"},
            Plan("globus:other", attach=OSU),
        ),
        (
            {"tool": "irods", "source": "data:run/", "destination": "home:in/"},
            Plan("irods:lab", (End(HERE, "/data/run", "/data"), End(ZONE, "/lab/home/adon/in")), folder=True),
        ),
    ],
)
def test_places_become_what_globus_and_irods_are_told(fields: dict[str, Any], plan: Plan) -> None:
    assert planned(TransferWish.model_validate(fields), ENDS, (), OTHERS) == plan


@pytest.mark.parametrize(
    ("fields", "field", "cause"),
    [
        ({"tool": "globus", "attach": OSU}, "transfer.credentials", "say whose job"),
        ({"tool": "globus", "source": "x:", "destination": "osu:"}, "transfer.source", "no remote 'x'"),
        (
            {"tool": "irods", "source": "data:", "destination": "home:", "credentials": "no"},
            "transfer.credentials",
            "no credentials 'no'; it has lab",
        ),
        ({"tool": "irods", "source": "near:", "destination": "home:"}, "transfer.destination", "not both"),
    ],
)
def test_what_globus_and_irods_do_not_have_is_refused(fields: dict[str, Any], field: str, cause: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        planned(TransferWish.model_validate(fields), ENDS, (), OTHERS)
    assert caught.value.problems[0].field == field
    assert cause in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"tool": "globus", "attach": 4}, "not the id of a Globus task"),
        ({"tool": "rclone", "attach": OSU}, "not the number"),
        ({"tool": "irods", "attach": 4}, "no jobs of others"),
        ({"tool": "globus", "at": "mu-dtn", "attach": OSU}, "name its credentials"),
        ({"tool": "rclone", "credentials": "x", "attach": 4}, "name the DTN"),
        ({"tool": "globus", "attach": OSU, "options": {"files": 4}}, "decides itself"),
    ],
)
def test_what_does_not_fit_the_tool_is_refused(fields: dict[str, Any], cause: str) -> None:
    with pytest.raises(ValidationError, match=cause):
        TransferWish.model_validate(fields)


@pytest.mark.parametrize(
    ("section", "cause"),
    [
        ({"globus": {"a": {**GLOBUS, "refresh_token_file": "x"}}}, "not both"),
        ({"globus": {"a": {**GLOBUS, "client_id": "x"}}}, "not a UUID"),
        ({"globus": {"a": {**GLOBUS, "transfer_url": "http://globus.example"}}}, "http only to this machine"),
        ({"irods": {"a": {**IRODS, "tls": False}}}, "only to this machine"),
        (
            {"irods": {"a": {**IRODS, "remotes": {"x": {"at": "mu-dtn", "collection": "/other/home"}}}}},
            "not in the zone lab",
        ),
        ({"irods": {"a": {**IRODS, "remotes": {"x": {"at": "mu-dtn"}}}}}, "not both"),
        ({"irods": {"a": {**IRODS, "remotes": {"x": {"at": "mu-dtn", "folder": "/a/../b"}}}}}, "in it"),
    ],
)
def test_an_identity_that_would_be_unsafe_is_not_configured(section: dict[str, Any], cause: str) -> None:
    with pytest.raises(ValidationError, match=cause):
        Transfers.model_validate(section)
