"""Where a browser is sent after signing in: a path of ours, never somebody else's site.  Pure."""

from __future__ import annotations

from urllib.parse import urlsplit

HOME = "/"
LONGEST = 2000
_NOT_AGAIN = ("/sign-in", "/sign-out")


def local_path(wanted: str | None) -> str:
    r"""The path with its query, if it is one that can only lead here; else the first page.

    Browsers take ``//host``, ``/\host`` and what hides behind tabs and line ends for other sites.
    """
    if wanted is None or len(wanted) > LONGEST or not wanted.startswith("/") or wanted.startswith("//"):
        return HOME
    if "\\" in wanted or not all("!" <= character <= "~" for character in wanted):
        return HOME
    try:
        url = urlsplit(wanted)
    except ValueError:
        return HOME
    again = any(url.path == path or url.path.startswith(f"{path}/") for path in _NOT_AGAIN)
    return HOME if url.scheme or url.netloc or again else wanted
