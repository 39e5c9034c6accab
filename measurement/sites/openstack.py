"""OpenStack through its own SDK: quota, hypervisors, flavours, and servers as jobs.

What the numbers mean is :mod:`measurement.sites.cloud`'s business.  Credentials are in a ``clouds.yaml``
that only openstacksdk reads.  Its errors may quote URLs and answers, so of them only the kind and the HTTP
status are told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measurement.custom.batch.model import Job, JobState, JobStatus
from measurement.custom.errors import BatchFailed
from measurement.sites import cloud
from measurement.sites.cloud import Flavour, Hosts, Quota, Server
from measurement.sites.model import Shape, SiteState

if TYPE_CHECKING:
    from openstack.connection import Connection

STATISTICS = "2.53"
"""A microversion that still sums all hypervisors up (os-hypervisors/statistics; gone since 2.88)."""
CONSOLE_LINES = 200
_NAMED = 64 * 1024


@dataclass(frozen=True, slots=True)
class Launch:
    """How a job's server is made.

    :param image: id of an image with cloud-init.
    :param network: id; None: the project's only one.
    :param start: seconds from asking for a server to its script's first line.
    """

    image: str
    network: str | None = None
    start: float = 60.0


def connect(name: str, clouds: Path | None, timeout: float) -> Connection:
    """A connection to a cloud of a ``clouds.yaml``; nothing is sent yet.

    :param clouds: that file; None: where openstacksdk looks for it.
    :param timeout: seconds for one request.
    :raises BatchFailed: if openstacksdk is not installed, or the file has no such cloud.
    """
    try:
        from openstack.config import OpenStackConfig
        from openstack.connection import Connection
    except ImportError:
        raise BatchFailed("openstacksdk is not installed: pip install 'adon[openstack]'") from None
    with _translated():
        files = None if clouds is None else [str(clouds)]
        region = OpenStackConfig(config_files=files, load_envvars=clouds is None).get_one(
            cloud=name, api_timeout=timeout
        )
        return Connection(config=region, app_name="adon")


@dataclass(frozen=True, slots=True)
class OpenStackSite:
    """One project of one cloud."""

    connection: Connection
    launch: Launch

    def state(self, shapes: Sequence[Shape]) -> SiteState:
        """Quota and hypervisors, and what they leave for these shapes."""
        with _translated():
            there = cloud.capacity(self._quota(), self._hosts())
            flavours = self._flavours()
        return SiteState(there, tuple(cloud.wait(one, flavours, there, self.launch.start) for one in shapes))

    def submit(self, job: Job) -> str:
        """Make a server of the smallest flavour that fits."""
        if job.nodes > 1:
            raise BatchFailed(f"a job is one server there, {job.nodes} nodes are needed")
        with _translated():
            flavour = cloud.fitting(self._flavours(), job.cores, job.memory)
            if flavour is None:
                raise BatchFailed("no flavour is large enough")
            made = self.connection.compute.create_server(**self._wish(job, flavour))
            return str(made.id)

    def _wish(self, job: Job, flavour: Flavour) -> dict[str, Any]:
        return {
            "name": job.name,
            "flavor_id": flavour.id,
            "image_id": self.launch.image,
            "networks": "auto" if self.launch.network is None else [{"uuid": self.launch.network}],
            "user_data": cloud.user_data(job),
            "metadata": {"adon": job.name},
        }

    def find(self, name: str) -> str | None:
        """The server of this name."""
        with _translated():
            found = self._server(name)
        return None if found is None else str(found.id)

    def follow(self, job_id: str) -> JobStatus:
        """The server's state, and what its console says of the script."""
        compute = self.connection.compute
        with _translated():
            found = self._server(job_id)
            if found is None:
                return JobStatus(job_id, JobState.CANCELED, reason="there is no such server any more")
            told = None
            if found.status in ("ACTIVE", "SHUTOFF"):
                output = compute.get_server_console_output(found, length=CONSOLE_LINES)
                told = cloud.ended(str(output.get("output", ""))[-_NAMED:], str(found.name))
        return cloud.status(_told(found), told)

    def cancel(self, job_id: str) -> None:
        """Delete the server; one that is gone is gone."""
        with _translated():
            self.connection.compute.delete_server(job_id, ignore_missing=True)

    def _server(self, name: str) -> Any | None:
        # By name or id; the exception is what newer versions of the SDK want to be used.
        from openstack.exceptions import NotFoundException

        try:
            return self.connection.compute.find_server(name, ignore_missing=False)
        except NotFoundException:
            return None

    def _quota(self) -> Quota:
        limits = self.connection.compute.get_limits().absolute
        return Quota(
            int(limits.total_cores),
            int(limits.total_cores_used),
            int(limits.total_ram),
            int(limits.total_ram_used),
            int(limits.instances),
            int(limits.instances_used),
        )

    def _hosts(self) -> Hosts | None:
        # For administrators, and gone in newer clouds: where it is refused the quota alone counts.
        answer = self.connection.compute.get("/os-hypervisors/statistics", microversion=STATISTICS)
        if answer.status_code != 200:
            return None
        told = answer.json()["hypervisor_statistics"]
        return Hosts(
            int(told["vcpus"]), int(told["vcpus_used"]), int(told["memory_mb"]), int(told["memory_mb_used"])
        )

    def _flavours(self) -> list[Flavour]:
        there = self.connection.compute.flavors(details=True)
        return [Flavour(int(one.vcpus), int(one.ram), str(one.id)) for one in there if not one.is_disabled]


def _told(found: Any) -> Server:
    fault = getattr(found, "fault", None)
    words = str(fault.get("message", "")) if isinstance(fault, dict) else ""
    times = (found.created_at, found.launched_at, found.updated_at)
    return Server(str(found.id), str(found.status), *times, words[:200])


@contextmanager
def _translated() -> Iterator[None]:
    """Foreign errors become ours, without their texts."""
    from keystoneauth1.exceptions import ClientException
    from openstack.exceptions import SDKException
    from requests.exceptions import RequestException

    try:
        yield
    except BatchFailed:
        raise
    except (SDKException, ClientException, RequestException) as error:
        status = getattr(error, "http_status", getattr(error, "status_code", None))
        told = f" (HTTP {status})" if isinstance(status, int) else ""
        raise BatchFailed(f"OpenStack: {type(error).__name__}{told}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BatchFailed(
            f"OpenStack answered what is not as it should be ({type(error).__name__})"
        ) from None
