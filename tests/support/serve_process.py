"""A whole `adon serve` as a process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

from adon.config import load
from tests.apps.edge import ROOT, eventually, free_port, write_configuration

SERVE_PROGRAM = """
import sys
from pathlib import Path
from adon.errors import AdonError
from apps.serve import run
try:
    sys.exit(run(Path(sys.argv[1]), Path(sys.argv[2])))
except AdonError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
"""


class Service:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "serve.log"
        self.config = write_configuration(folder, free_port())
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [
                    "setpriv",
                    "--pdeathsig",
                    "KILL",
                    sys.executable,
                    "-c",
                    SERVE_PROGRAM,
                    str(self.config),
                    str(folder / "data"),
                ],
                cwd=ROOT,
                env={**os.environ, "NO_PROXY": "*"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    def children(self) -> set[int]:
        """The processes it started; looked up by what the kernel says, not by name."""
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return {int(pid) for pid in listed.split()}

    def ready(self) -> None:
        text = "event=ready network=mu-osu"
        eventually(lambda: self.log.exists() and text in self.log.read_text(), "the controller is not up")
        eventually(lambda: len(self.children()) == 3, "there are not three processes")
        port = load(self.config).controller.web_port
        eventually(lambda: answers(port), "the web side does not answer")


def answers(port: int) -> bool:
    """Return whether something listens on a port of this machine."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            return connection.recv(5) == b"HTTP/"
    except OSError:
        return False
