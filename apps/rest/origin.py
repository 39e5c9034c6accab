"""Whether a browser's request that changes something was sent by a page of another site.  Pure.

A browser says by itself where a request comes from, and a page cannot change what it says: Fetch Metadata
(W3C, ``Sec-Fetch-Site``), in older browsers the header Origin (RFC 6454).  What comes without either comes
from no browser that sends our cookies, which are SameSite, at another site's wish.
"""

from __future__ import annotations

from urllib.parse import urlsplit


def foreign(fetch_site: str | None, origin: str | None, host: str, *, typed: bool = False) -> bool:
    """Whether another site sent it.

    :param fetch_site, origin: the headers ``Sec-Fetch-Site`` and ``Origin``, None for one that is not there.
    :param host: what the browser calls us, with the port.
    :param typed: whether it may come from no page at all (``none``: a bookmark, a form sent again).
    """
    if fetch_site is not None:
        return fetch_site != "same-origin" and not (typed and fetch_site == "none")
    if origin is None:
        return False
    try:
        return urlsplit(origin).netloc != host
    except ValueError:
        return True
