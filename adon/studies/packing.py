"""Documents of studies, packed: JSON in gzip (RFC 1952) in base64, as they travel and are kept.

Tables of measurements pack to a tenth or so.  How large a document may be once unpacked is bounded before
anything of it is kept in memory: a small body must not become a large one.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import zlib
from collections.abc import Mapping
from typing import Any, NoReturn

LARGEST = 32 * 2**20
"""Bytes of a document's JSON: nine times a round of a hundred instances in short."""
_GZIP = 16 + zlib.MAX_WBITS


def written(document: Mapping[str, Any]) -> bytes:
    """A document as the JSON that is packed, in one form for equal documents.

    :raises ValueError: for what is no JSON (NaN, an object that is none).
    """
    return json.dumps(document, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()


def packed(document: Mapping[str, Any]) -> str:
    """A document, packed; equal documents are packed alike.

    :raises ValueError: as :func:`written`.
    """
    return base64.b64encode(gzip.compress(written(document), mtime=0)).decode()


def unpacked(text: str, largest: int = LARGEST) -> dict[str, Any]:
    """The inverse of :func:`packed`.

    :raises ValueError: for what is not packed like this, too large, or no JSON object.
    """
    return read(_inflated(text, largest))


def read(body: bytes) -> dict[str, Any]:
    """A document from its JSON.

    :raises ValueError: for what is no JSON object, or holds what is no JSON number (NaN).
    """
    try:
        found = json.loads(body, parse_constant=_constant)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"holds no JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError("holds no JSON object")
    return found


def _inflated(text: str, largest: int) -> bytes:
    stream = zlib.decompressobj(wbits=_GZIP)
    try:
        body = stream.decompress(base64.b64decode(text, validate=True), largest + 1)
    except binascii.Error:
        raise ValueError("is not base64") from None
    except zlib.error:
        raise ValueError("is not gzip") from None
    if len(body) > largest:
        raise ValueError(f"holds more than {largest} bytes")
    if not stream.eof or stream.unused_data:
        raise ValueError("is not one whole gzip stream")
    return body


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")
