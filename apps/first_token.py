"""The local administrator's token, made at the first start and never again."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from adon.access.audit import AuditEntry, Outcome
from adon.access.identity import create_token
from adon.errors import InvalidInput, Unavailable
from adon.store.access.access import Access
from adon.values import Role

ADMIN = "admin"
"""The local administrator, who is there from the first start."""


def first_token(url: str, to_file: Path | None, pages: str) -> None:
    """Give the local administrator a token at the first start; only its hash is kept.

    :param url: of the access database.
    :param to_file: where to write it instead of printing it.
    :param pages: where the pages are, to be told with it.
    """
    with Access.open(url) as access:
        if access.tokens.count():
            return
        now = time.time()
        access.users.ensure(ADMIN, (Role.ADMIN,), now)
        text, token = create_token(ADMIN, now, label="made at the first start")
        # Where it goes comes first: a token that is saved and shown to nobody could never be had again.
        if to_file is not None:
            _write_secret(to_file, text)
        try:
            access.tokens.save(token)
        except Unavailable:
            if to_file is not None:
                to_file.unlink()  # another attempt writes it again
            raise
        detail = f"token {token.id} for {ADMIN}, scope all: the first start"
        first = AuditEntry(
            now, ADMIN, "local", "", "token.create", "", f"/tokens/{token.id}", Outcome.DONE, 0, detail
        )
        access.audit.append([first])
    if to_file is None:
        sys.stderr.write(
            f"\n  First start.  Admin token (shown only now): {text}\n"
            f"  Sign in with it at {pages}/sign-in, or by: adon --url {pages} login\n\n"
        )
        sys.stderr.flush()


def _write_secret(path: Path, text: str) -> None:
    """Write a file that only we can read, from its first moment.

    :raises InvalidInput: if it cannot be written, or is there already.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidInput.of("admin_token_file", f"{path}: {error.strerror}") from error
    with os.fdopen(descriptor, "w") as file:
        file.write(text + "\n")
