"""Who has been there: users of every role, their tokens, and what the audit log says they did."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from adon.access.audit import AuditEntry, Outcome
from adon.access.identity import Actor, create_token
from adon.access.users import check_name
from adon.store.access.access import Access
from adon.store.access.access_tables import ACCESS
from adon.store.schema import make_database
from benchmarks.filled.lives import REQUESTERS

READERS = 40
"""Administrators besides, one token each: who asks in a benchmark, each within the limits of one user."""
AUDITED = 20_000
_ROLES = (("performance_engineer", 6), ("operator", 6), ("auditor", 3))
_DEEDS = (
    ("flow.submit", "POST", "/api/v1/flows", 202),
    ("flow.report", "POST", "/api/v1/flows/f-{n}/reports", 202),
    ("flow.cancel", "DELETE", "/api/v1/flows/f-{n}", 200),
    ("template.write", "POST", "/api/v1/templates", 201),
    ("alarm.acknowledge", "POST", "/api/v1/alarms/a-{n}/acknowledge", 200),
)


def fill(file: Path, began: float, ended: float, chance: random.Random) -> tuple[str, ...]:
    """Make the access database; the tokens of its readers."""
    url = f"sqlite:///{file}"
    make_database(url, ACCESS)
    people = [*((name, "researcher") for name in REQUESTERS)]
    people += [(f"{role.replace('_', '-')}{n}", role) for role, many in _ROLES for n in range(many)]
    people += [(f"reader{n:02}", "admin") for n in range(READERS)]
    tokens = []
    with Access.open(url) as access:
        for name, role in people:
            access.users.add(check_name(name), (role,), began)
            text, kept = create_token(name, began, label="laptop")
            access.tokens.save(kept)
            access.sessions.start(Actor(name, frozenset({role}), via="openid"), "openid", ended)
            if role == "admin":
                tokens.append(text)
        access.audit.append(list(_audited(began, ended, chance)), durable=False)
    return tuple(tokens)


def _audited(began: float, ended: float, chance: random.Random) -> Iterator[AuditEntry]:
    for number in range(AUDITED):
        action, method, path, status = chance.choice(_DEEDS)
        refused = chance.random() < 0.03
        yield AuditEntry(
            at=began + (ended - began) * number / AUDITED,
            actor=chance.choice(REQUESTERS),
            via="token 0123456789ab",
            address=f"10.9.{chance.randint(0, 255)}.{chance.randint(1, 254)}",
            action=action,
            method=method,
            object=path.format(n=chance.randint(1, 10_000)),
            outcome=Outcome.REFUSED if refused else Outcome.DONE,
            status=403 if refused else status,
            detail="the role researcher may not do this" if refused else "",
        )
