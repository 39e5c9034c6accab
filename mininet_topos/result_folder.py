"""A folder for results is looked at before the minutes in which they come about, not after."""

from __future__ import annotations

import os
from pathlib import Path

from adon.errors import InvalidInput


def require_folder(folder: Path, field: str) -> None:
    """Make the folder, if it is not there, and find out whether it can be written to.

    :param field: what the folder was asked for as.
    :raises InvalidInput: if it cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput.of(field, f"{folder}: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidInput.of(field, f"{folder} cannot be written to")
