"""The real SDK against a stand-in for a cloud."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from measurement.custom.batch.model import Job, JobState
from measurement.custom.errors import BatchFailed
from measurement.sites import openstack
from measurement.sites.model import Shape
from measurement.sites.openstack import Launch, OpenStackSite, connect
from tests.measurement.sites.nova import PASSWORD, Cloud, running

pytest.importorskip("openstack", reason="openstacksdk is not installed: pip install 'adon[openstack]'")

JOB = Job("adon-j1-e1", "#!/bin/sh\nexec /opt/align chr1\n", 2, 1, 3600.0, memory=3 * 2**30)


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[tuple[Cloud, Path]]:
    with running(tmp_path) as found:
        yield found


def site(clouds: Path, **launch: str) -> OpenStackSite:
    return OpenStackSite(connect("test", clouds, 5.0), Launch("70a599e0", **launch))


def test_capacity_and_waits_by_quota_hypervisors_and_flavours(cloud: tuple[Cloud, Path]) -> None:
    there, clouds = cloud
    state = site(clouds).state((Shape(), Shape(1, 2), Shape(1, 64)))
    # The quota allows 20 cores and 51200 MiB; the hypervisors of the reference's sample have 2 and 7680 MiB.
    assert (state.capacity.cores, state.capacity.free) == (2, 2)
    assert state.capacity.memory_free == 7680 * 2**20
    assert (state.capacity.nodes, state.capacity.nodes_free) == (10, 10)
    assert [one.seconds for one in state.waits] == [60.0, 60.0, None]
    assert "no flavour has 64 cores" in state.waits[2].why
    there.limits["limits"]["absolute"]["totalCoresUsed"] = 19
    assert site(clouds).state((Shape(1, 2),)).waits[0].why == "1 of 20 cores are free, 2 are needed"


def test_who_may_not_see_the_hypervisors_goes_by_the_quota(cloud: tuple[Cloud, Path]) -> None:
    there, clouds = cloud
    there.hypervisors = None
    assert site(clouds).state(()).capacity.free == 20


def test_a_job_from_submit_to_its_end(cloud: tuple[Cloud, Path]) -> None:
    there, clouds = cloud
    there.hypervisors = None
    on = site(clouds, network="net-1")
    assert on.find(JOB.name) is None
    job = on.submit(JOB)
    (wish,) = there.made
    assert (wish["name"], wish["flavorRef"], wish["imageRef"]) == ("adon-j1-e1", "3", "70a599e0")
    assert wish["networks"] == [{"uuid": "net-1"}]
    assert base64.b64encode(JOB.script.encode()) in base64.b64decode(wish["user_data"])
    assert on.find(JOB.name) == job
    assert on.follow(job).state is JobState.PENDING

    there.servers[job] |= {"status": "ACTIVE", "OS-SRV-USG:launched_at": "2013-09-03T04:02:00.000000"}
    running_ = on.follow(job)
    assert (running_.state, running_.waited) == (JobState.RUNNING, 28.0)
    there.servers[job]["status"] = "SHUTOFF"
    there.consoles[job] = "cloud-init\nADON adon-j1-e1 ended 0 1378181000\n"
    done = on.follow(job)
    assert (done.state, done.exit_status, done.ended) == (JobState.SUCCEEDED, 0, 1378181000.0)

    on.cancel(job)
    assert there.servers == {}
    assert on.follow(job).state is JobState.CANCELED
    on.cancel(job)  # it is gone: nothing happens


def test_what_no_server_can_do_is_refused_unsent(cloud: tuple[Cloud, Path]) -> None:
    there, clouds = cloud
    with pytest.raises(BatchFailed, match="one server there, 2 nodes"):
        site(clouds).submit(Job("j", "#!/bin/sh\n", 2, 2, 60.0))
    with pytest.raises(BatchFailed, match="no flavour"):
        site(clouds).submit(Job("j", "#!/bin/sh\n", 64, 1, 60.0))
    assert there.made == []


@pytest.mark.parametrize("status", [400, 401, 403, 500, 503])
def test_a_cloud_that_fails_is_told_by_kind_and_status_only(cloud: tuple[Cloud, Path], status: int) -> None:
    there, clouds = cloud
    there.break_with = status
    with pytest.raises(BatchFailed) as caught:
        site(clouds).state((Shape(),))
    assert str(caught.value).startswith("OpenStack: ")
    assert PASSWORD not in f"{caught.value} {caught.value.detail}"
    assert there.url not in str(caught.value)


def test_a_wrong_password_is_told_and_not_shown(cloud: tuple[Cloud, Path]) -> None:
    there, clouds = cloud
    there.password = "another"  # noqa: S105
    with pytest.raises(BatchFailed, match="OpenStack: Unauthorized"):
        site(clouds).state((Shape(),))


@pytest.mark.parametrize("said", [b"", b"<html>", b"[]", b'{"limits": {}}', b'{"limits": {"absolute": []}}'])
def test_answers_that_make_no_sense(cloud: tuple[Cloud, Path], said: bytes) -> None:
    there, clouds = cloud
    on = site(clouds)
    on.state(())
    there.said = said
    with pytest.raises(BatchFailed, match="OpenStack"):
        on.state((Shape(),))


def test_a_cloud_that_is_away(tmp_path: Path) -> None:
    with running(tmp_path) as (_, clouds):
        on = site(clouds)
    with pytest.raises(BatchFailed, match="OpenStack: "):
        on.state((Shape(),))


def test_a_cloud_that_nobody_configured(tmp_path: Path) -> None:
    clouds = tmp_path / "clouds.yaml"
    clouds.write_text('{"clouds": {}}')
    with pytest.raises(BatchFailed, match="OpenStack"):
        connect("test", clouds, 5.0)


def test_without_the_sdk_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openstack.config", None)
    with pytest.raises(BatchFailed, match="openstacksdk is not installed"):
        openstack.connect("test", None, 5.0)
