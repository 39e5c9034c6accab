"""Studies kept in the archive: each in short, to be listed, and its document apart, to be opened.

For one thread, the collector's.  What somebody handed in stays until somebody deletes it; what the collector
made itself goes when it is too old, as alarms do.
"""

from __future__ import annotations

from adon.errors import InvalidInput, NotFound
from adon.studies.model import DOCUMENT, PACKED, Study, StudyKind, is_id, short_of
from measurement.archive import Archive
from measurement.model import to_json

MOST = 500
"""Studies of one kind that people may hand in."""
KEPT = 30 * 86_400.0
"""Seconds for which a study of the collector's own is kept."""


RETENTION = {DOCUMENT: KEPT, **{short_of(kind): KEPT for kind in StudyKind}}
"""For the archive: what is not to stay goes after so many seconds."""


class Studies:
    """See the module."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def put(self, study: Study, packed: str, *, stays: bool) -> Study:
        """Keep a study, in place of the same one from before, which had perhaps another title.

        :param packed: its document (:mod:`adon.studies.packing`).
        :param stays: until it is deleted.
        :returns: the study as it is kept.
        :raises InvalidInput: if there are too many of its kind that stay.
        """
        kind = short_of(study.kind)
        if stays:
            # One more than asked for, so that the same study again is no reason to refuse it.
            kept = self._archive.documents(kind, open_only=True, limit=MOST + 1)
            if len(kept) >= MOST and study.id not in {one["id"] for one in kept}:
                raise InvalidInput.of("kind", f"there are {MOST} of {study.kind} already; delete some")
        # The document first: a study that is listed can be opened.
        body = {PACKED: packed}
        self._archive.put_document(DOCUMENT, study.id, study.at, None, body, is_open=stays)
        self._archive.put_document(kind, study.id, study.at, None, to_json(study), is_open=stays)
        return study

    def delete(self, name: str) -> None:
        """Forget a study.

        :raises NotFound: if there is none of this id.
        """
        gone = [is_id(name) and self._archive.delete_document(short_of(kind), name) for kind in StudyKind]
        if not any(gone):
            raise NotFound("study", name)
        self._archive.delete_document(DOCUMENT, name)
