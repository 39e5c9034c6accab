"""A PostgreSQL server of one's own: in a folder, on a socket, gone at the end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DEBIANS = Path("/usr/lib/postgresql")
"""Where Debian keeps the server's programs, which it does not put on the path (one folder per version)."""


def program(name: str) -> str | None:
    """Where a program of the server is; None if it is not installed."""
    found = shutil.which(name)
    if found is not None:
        return found
    versions = sorted(DEBIANS.glob(f"[0-9]*/bin/{name}"), key=lambda path: int(path.parent.parent.name))
    return str(versions[-1]) if versions else None


def installed() -> bool:
    """Whether there is a server to start."""
    return program("initdb") is not None and program("postgres") is not None


@contextmanager
def running(folder: Path, options: Sequence[str] = ()) -> Iterator[str]:
    """A server until the end of the context; the URL of its first database.

    :param folder: an empty one, which everybody may look into; it belongs to the server's user afterwards.
    :param options: further settings, as ``fsync=off``.
    """
    # The server refuses to run as root.
    who: dict[str, Any] = {"user": "postgres"} if os.geteuid() == 0 else {}
    if who:
        shutil.chown(folder, "postgres")
    common = {"cwd": folder, "stdout": subprocess.DEVNULL, **who}
    create = [str(program("initdb")), "-D", str(folder / "data"), "-A", "trust", "-U", "adon"]
    subprocess.run(create, check=True, **common)
    with _serving(folder, options, who) as url:
        yield url


@contextmanager
def again(folder: Path, options: Sequence[str] = ()) -> Iterator[str]:
    """The same server once more, after it was killed."""
    with _serving(folder, options, {"user": "postgres"} if os.geteuid() == 0 else {}) as url:
        yield url


def pid(folder: Path) -> int:
    """The process of the server that was started there last."""
    return int((folder / "data" / "postmaster.pid").read_text().split()[0])


def alive(folder: Path) -> bool:
    """Whether that server still takes connections: its socket's owner is there."""
    return (folder / "data" / "postmaster.pid").exists() and (folder / ".s.PGSQL.5432").exists()


@contextmanager
def _serving(folder: Path, options: Sequence[str], who: dict[str, Any]) -> Iterator[str]:
    settings = ["listen_addresses=", f"unix_socket_directories={folder}", *options]
    chosen = [part for setting in settings for part in ("-c", setting)]
    server = subprocess.Popen(
        [str(program("postgres")), "-D", str(folder / "data"), *chosen],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        **who,
    )
    try:
        assert server.stderr is not None
        assert any("database system is ready" in line for line in server.stderr)
        yield f"postgresql+psycopg://adon@/postgres?host={folder}"
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=30)
