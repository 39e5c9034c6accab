"""A real rclone on loopback, and files for it to move."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from typing import Any

import requests

from tests.apps.edge import eventually, free_port

USER, PASSWORD = "adon", "not a secret here"
SIZE = 4_000_000


class Rclone:
    """``rclone rcd`` on loopback; a folder of its own for each end."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.here, self.there = folder / "here", folder / "there"
        self.here.mkdir()
        self.there.mkdir()
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        command = ["rclone", "rcd", "--rc-addr", f"127.0.0.1:{self.port}", "--cache-dir", str(self.folder)]
        secrets = {"RCLONE_RC_USER": USER, "RCLONE_RC_PASS": PASSWORD}
        environment = os.environ | secrets | {"RCLONE_CONFIG": str(self.folder / "rclone.conf")}
        self.process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        eventually(self.answers)

    def answers(self) -> bool:
        try:
            return "rate" in self.ask("core/bwlimit")
        except requests.ConnectionError:
            return False

    def ask(self, command: str, **body: Any) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self.port}/{command}"
        answer: dict[str, Any] = requests.post(url, json=body, auth=(USER, PASSWORD), timeout=10).json()
        return answer

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def put(path: Path, size: int = SIZE) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = os.urandom(size)
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
