"""Who uses the demo's ADON: one person per role, each with a token that is kept in a file of the run folder.

Flows are submitted by a researcher and templates registered by a performance engineer, so that whoever looks
at the dashboard as one of them sees what that person would, and the audit log names somebody.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from adon.access.policy import Role
from adon.client import Client
from mininet_topos.demo.stage import World

NAMES: Mapping[Role, str] = {
    Role.RESEARCHER: "researcher",
    Role.PERFORMANCE_ENGINEER: "engineer",
    Role.OPERATOR: "operator",
    Role.AUDITOR: "auditor",
}
LABEL = "demo"


def people(world: World) -> dict[Role, Client]:
    """Everybody's client; who is new to this ADON becomes known to it, by its administrator.

    :raises AdonError: if ADON refuses one.
    """
    return {role: Client.at(world.url, _token(world, role, name)) for role, name in NAMES.items()}


def token_file(world: World, role: Role) -> Path:
    """Where the token of this role's person is; the administrator's too."""
    return world.folder / f"{NAMES.get(role, role)}.token"


def _token(world: World, role: Role, name: str) -> str:
    path = token_file(world, role)
    if path.exists():
        return path.read_text().strip()
    world.client.add_user(name, [role])
    made = world.client.add_token({"owner": name, "label": LABEL, "expires": "1 day"})
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{made['secret']}\n")
    return str(made["secret"])
