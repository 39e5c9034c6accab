"""Studies of instances: rounds of health, snapshots, placements, evaluations."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Mapping
from typing import Any

from adon.api import routes
from adon.api.base import Deleted
from adon.api.studies import StudyDetail, StudyView
from adon.client.calling import Caller

UNPACKED = 250_000
"""Bytes of a document's JSON above which it is packed on its way."""


class StudyCalls(Caller):
    """What was found out about networks of instances (docs/instances.md)."""

    def studies(self, kind: str | None = None, limit: int | None = None) -> list[StudyView]:
        """Studies in short, those of the latest looks at a network first."""
        return list(self.each_study(kind, limit))

    def each_study(self, kind: str | None = None, limit: int | None = None) -> Iterator[StudyView]:
        """Studies in short, asked for page by page as they are wanted."""
        return self.each(routes.LIST_STUDIES, {"kind": kind}, limit)

    def study(self, study: str) -> StudyDetail:
        """One study with its document."""
        return self.call(routes.GET_STUDY, id=study)

    def add_study(self, kind: str, document: Mapping[str, Any], title: str = "") -> StudyView:
        """Have a study kept; its document is packed where it is large.

        :param kind: ``health-round``, ``snapshot``, ``placement`` or ``evaluation``.
        :param title: what the document says if empty.
        :raises ValueError: for a document that is no JSON.
        """
        body: dict[str, Any] = {"kind": kind, "title": title}
        text = json.dumps(document, allow_nan=False).encode()
        if len(text) > UNPACKED:
            return self.call(routes.ADD_STUDY, body={**body, "packed": _packed(text)})
        return self.call(routes.ADD_STUDY, body={**body, "document": document})

    def delete_study(self, study: str) -> Deleted:
        """Have a study forgotten."""
        return self.call(routes.DELETE_STUDY, id=study)


def _packed(text: bytes) -> str:
    return base64.b64encode(gzip.compress(text, mtime=0)).decode()
