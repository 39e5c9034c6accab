"""One person per role, each with a token in a file, to look at the dashboard as each of them sees it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from adon.client import Client
from adon.values import Role

NAMES: Mapping[Role, str] = {
    Role.RESEARCHER: "researcher",
    Role.PERFORMANCE_ENGINEER: "engineer",
    Role.OPERATOR: "operator",
    Role.AUDITOR: "auditor",
}
LABEL = "testbed"
EXPIRES = "30 days"


def introduced(administrator: Client, folder: Path) -> dict[Role, Path]:
    """Make everybody known; the files with their tokens, the administrator's too.

    :param folder: the administrator's is there already.
    :raises AdonError: if ADON refuses one.
    """
    files = {role: folder / f"{name}.token" for role, name in NAMES.items()}
    for role, file in files.items():
        if file.exists():
            continue
        administrator.add_user(NAMES[role], [role])
        made = administrator.add_token({"owner": NAMES[role], "label": LABEL, "expires": EXPIRES})
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as written:
            written.write(f"{made.secret}\n")
    return {Role.ADMIN: folder / "admin.token", **files}


def people(administrator: Client, url: str, folder: Path) -> dict[Role, Client]:
    """Everybody's client but the administrator's; who is new to this ADON becomes known to it.

    :param folder: as :func:`introduced`.
    :raises AdonError: if ADON refuses one.
    """
    files = introduced(administrator, folder)
    return {role: Client.at(url, files[role].read_text().strip()) for role in NAMES}
