"""A RabbitMQ of a test's own: Debian's server in a folder, on loopback ports that nobody else has."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pika
from pika.exceptions import AMQPError

from tests.ports import free_port

SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
STARTS_WITHIN = 240.0
_CONFIGURATION = """\
listeners.tcp.1 = 127.0.0.1:{port}
distribution.listener.interface = 127.0.0.1
log.console = true
log.file = false
"""


def available() -> bool:
    """Whether this machine has RabbitMQ."""
    return SERVER.exists() and shutil.which("epmd") is not None


@contextmanager
def rabbitmq(folder: Path) -> Iterator[str]:
    """The AMQP URL of a running server; everything of it is ended and in ``folder``."""
    port, distribution, mapper = (free_port() for _ in range(3))
    (folder / "rabbitmq.conf").write_text(_CONFIGURATION.format(port=port))
    (folder / "plugins").write_text("[].\n")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "RABBITMQ_CONF_ENV_FILE": str(folder / "none"),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_NODENAME": f"adon{port}@localhost",
        "RABBITMQ_DIST_PORT": str(distribution),
        "ERL_EPMD_PORT": str(mapper),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
    }
    url = f"amqp://guest:guest@127.0.0.1:{port}/%2F"
    # Erlang would start a port mapper that outlives it: this one is ours to end.
    with (
        (folder / "output").open("wb") as output,
        _ended(
            subprocess.Popen(["epmd", "-port", str(mapper)], env=environment, stdout=output, stderr=output)
        ),
        _ended(
            subprocess.Popen(
                [str(SERVER)],
                env=environment,
                cwd=folder,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        ) as server,
    ):
        _await(url, server, folder / "output")
        yield url


@contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """The process, ended with its children at last."""
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            # It is the leader of its session, so this ends its children and nobody else.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _await(url: str, server: subprocess.Popen[bytes], output: Path) -> None:
    deadline = time.monotonic() + STARTS_WITHIN
    while server.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(AMQPError, OSError):
            pika.BlockingConnection(pika.URLParameters(url)).close()
            return
        time.sleep(0.2)
    raise AssertionError(f"RabbitMQ did not start: {output.read_text(errors='replace')[-2000:]}")
