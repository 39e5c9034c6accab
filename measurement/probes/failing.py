"""What is said of a probe that failed."""

from __future__ import annotations

import errno
import logging

from measurement.instances import Instance
from measurement.probes.findings import Failed, Failure, ProbeError
from measurement.probes.orders import Probe

LOG = logging.getLogger(__name__)


def named(error: OSError, what: str) -> ProbeError:
    """What an error of the system's means for a probe."""
    if error.errno == errno.EMSGSIZE:
        return ProbeError(Failure.TOO_LARGE, f"{what}: the path's MTU is smaller")
    if error.errno == errno.ECONNREFUSED:
        return ProbeError(Failure.VANISHED, f"{what}: its agent listens no more")
    if error.errno in (errno.EPERM, errno.EACCES):
        return ProbeError(Failure.NOT_PERMITTED, f"{what}: {error.strerror}")
    return ProbeError(Failure.UNREACHABLE, f"{what}: {error.strerror or error}")


def failed(error: Exception, probe: Probe, target: Instance) -> Failed:
    """The finding of a probe that ended with this; an unexpected error is logged with its traceback."""
    if isinstance(error, ProbeError):
        return Failed(error.why, str(error))
    if isinstance(error, OSError):
        return failed(named(error, target.name), probe, target)
    LOG.error("event=fault probe=%s target=%s", probe.kind, target.name, exc_info=error)
    return Failed(Failure.FAULT, "the probe failed unexpectedly; the log of the agent has the cause")
