"""The tools of the configuration, ready to be asked; secrets are read here and nowhere else."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from adon.config.transfers import Globus, Irods, Kind, Rclone, Transfers, key_of
from adon.errors import InvalidInput
from apps.collector.contacts import secret
from apps.movers.rclone import RemoteControl
from apps.movers.tool import Tool


def tools_of(configured: Transfers, folder: Path) -> dict[str, Tool]:
    """By what each is called (:func:`~adon.config.transfers.key_of`).

    :param folder: of the files that the configuration names.
    :raises InvalidInput: naming the field, for a secret that is not there or a library that is not installed.
    """
    return {
        key_of(kind, name): _tool(kind, name, tool, configured.timeout, folder)
        for kind, name, tool in configured.tools()
    }


def _tool(kind: Kind, name: str, wanted: Rclone | Globus | Irods, timeout: float, folder: Path) -> Tool:
    where = f"transfers.{kind}.{name}"
    match wanted:
        case Rclone():
            password = _secret(wanted, "password", where, folder)
            trust = _trust(wanted.ca_file, where, folder)
            return RemoteControl(wanted.url, wanted.user, password, trust or True, timeout)
        case Globus():
            token = wanted.refresh_token_file is not None or wanted.refresh_token_env is not None
            held = _secret(wanted, "refresh_token" if token else "client_secret", where, folder)
            return _globus(wanted, held, timeout, where)
        case Irods():
            password = _secret(wanted, "password", where, folder)
            return _irods(wanted, password, _trust(wanted.ca_file, where, folder), timeout, where)


def _globus(wanted: Globus, held: str, timeout: float, where: str) -> Tool:
    try:
        from apps.movers.globus import GlobusTasks
        from apps.movers.globus_login import login
    except ModuleNotFoundError as error:
        raise _missing(where, "globus", error) from None
    return GlobusTasks(login(wanted, held, timeout))


def _irods(wanted: Irods, password: str, trust: str | None, timeout: float, where: str) -> Tool:
    try:
        from apps.movers.irods import IrodsRuns
        from apps.movers.irods_zone import connected
    except ModuleNotFoundError as error:
        raise _missing(where, "irods", error) from None
    return IrodsRuns(partial(connected, wanted, password, trust, timeout))


def _missing(where: str, extra: str, error: ModuleNotFoundError) -> InvalidInput:
    return InvalidInput.of(where, f"{error.name} is not installed: pip install 'adon[{extra}]'")


def _secret(wanted: Rclone | Globus | Irods, name: str, where: str, folder: Path) -> str:
    file: str | None = getattr(wanted, f"{name}_file")
    if file is not None:
        return secret(folder / file, f"{where}.{name}_file")
    variable = str(getattr(wanted, f"{name}_env"))
    found = os.environ.get(variable, "")
    if not found:
        raise InvalidInput.of(f"{where}.{name}_env", f"{variable} is not set")
    return found


def _trust(file: str | None, where: str, folder: Path) -> str | None:
    """A file of certificate authorities; None for the system's."""
    if file is None:
        return None
    if not (folder / file).is_file():
        raise InvalidInput.of(f"{where}.ca_file", f"{file} is not there")
    return str(folder / file)
