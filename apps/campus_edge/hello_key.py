"""Who sends the hellos that find links: made at start, because chance and files are no matter of the core."""

from __future__ import annotations

import secrets
from pathlib import Path

from adon.config import Configuration
from adon.errors import InvalidInput
from adon.flowvisor.discovery.lldp import CONTROLLER_SIZE, KEY_SIZE, Identity

FIELD = "discovery.key_file"


def identity(configuration: Configuration) -> Identity | None:
    """An identity that no other run has; None where discovery is off.

    :raises InvalidInput: if the key file cannot be read, others can read it, or it holds no key.
    """
    if not configuration.discovery.enabled:
        return None
    file = configuration.discovery.key_file
    key = secrets.token_bytes(KEY_SIZE) if file is None else _read(Path(file))
    return Identity(configuration.network, secrets.token_bytes(CONTROLLER_SIZE), key)


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_mode & 0o077:
            raise InvalidInput.of(FIELD, f"{path}: others can read it; chmod 600 it", "file-mode")
        key = bytes.fromhex(path.read_text().strip())
    except OSError as error:
        raise InvalidInput.of(FIELD, f"{path}: {error.strerror}", "unreadable") from error
    except ValueError as error:
        raise InvalidInput.of(
            FIELD, f"{path}: holds no key of {2 * KEY_SIZE} hex digits", "malformed"
        ) from error
    if len(key) != KEY_SIZE:
        raise InvalidInput.of(
            FIELD, f"{path}: holds a key of {len(key)} bytes, not {KEY_SIZE}", "wrong-length"
        )
    return key
