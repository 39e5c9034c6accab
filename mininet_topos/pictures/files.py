"""A picture as a file: SVG as it is, PNG by resvg (no browser needed)."""

from __future__ import annotations

from pathlib import Path

from adon.errors import InvalidInput, Unavailable

SHARPNESS = 2.0
"""Pixels of a PNG per pixel of the drawing."""


def encoded(svg: str, file: Path) -> bytes:
    """The bytes of a file of this name.

    :raises InvalidInput: for a suffix other than ``.svg`` and ``.png``.
    :raises Unavailable: for a PNG, if the library that renders it is not installed.
    """
    suffix = file.suffix.lower()
    if suffix == ".svg":
        return svg.encode()
    if suffix != ".png":
        raise InvalidInput.of("file", f"{file.name!r} ends neither with .svg nor with .png")
    try:
        from resvg_py import svg_to_bytes
    except ImportError as error:
        raise Unavailable("a PNG needs resvg_py (pip install 'adon[report]'); an SVG does not") from error
    return bytes(svg_to_bytes(svg_string=svg, zoom=SHARPNESS))
