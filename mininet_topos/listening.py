"""Whether somebody listens on a TCP port of a process's network, without connecting to it.

As ``/proc/PID/net/tcp`` and ``tcp6`` have it (proc_pid_net(5)): a socket per line, local address and port in
hexadecimal digits, then the remote ones, then the state.
"""

from __future__ import annotations

from pathlib import Path

LISTENING = "0A"
"""``TCP_LISTEN``."""


def listens(port: int, process: int | str = "self") -> bool:
    """Whether anybody listens on this port where a process is; no if the process is gone.

    :param process: its PID.
    """
    return any(listed(_read(Path(f"/proc/{process}/net/{table}")), port) for table in ("tcp", "tcp6"))


def listed(table: str, port: int) -> bool:
    """Whether a table has a socket that listens on this port."""
    sockets = (line.split() for line in table.splitlines()[1:])
    return any(words[3] == LISTENING and int(words[1].rpartition(":")[2], 16) == port for words in sockets)


def _read(table: Path) -> str:
    try:
        return table.read_text()
    except OSError:
        return ""
