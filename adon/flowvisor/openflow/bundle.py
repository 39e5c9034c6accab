"""Changes that a switch carries out together or not at all (OpenFlow 1.4.1, 7.3.9; R7).

For 1.3 the same in the ONF's extension EXT-230 ("Bundle Extension for 1.3.x"), which Open vSwitch
understands.  A bundle is :func:`filled`, with a barrier behind; if the switch refused none of its messages it
is committed (:func:`control` with OFPBCT_COMMIT_REQUEST), else discarded.  Both in one go would not do: a
message that is refused while the bundle is filled is not part of it, and the commit carries out the others.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from os_ken.ofproto import ofproto_common
from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_4 as ofp14

from adon.flowvisor.openflow.wire import HEADER, V13, message, with_xid

ATOMIC_ORDERED = ofp14.OFPBF_ATOMIC | ofp14.OFPBF_ORDERED

_CONTROL = struct.Struct("!IHH")
_ADD = struct.Struct("!I2xH")
_EXPERIMENTER = struct.Struct("!II")


def filled(messages: Sequence[bytes], version: int, number: int, xids: Sequence[int]) -> bytes:
    """An atomic, ordered bundle, opened and filled with these messages.

    :param number: of the bundle: one that no open bundle on this connection has.
    :param xids: one more than messages: for the opening and for each message.
    :raises ValueError: if a message is too long to be wrapped.
    """
    first, *others = xids
    wrapped = (add(packed, version, number, xid) for packed, xid in zip(messages, others, strict=True))
    return control(ofp14.OFPBCT_OPEN_REQUEST, version, number, first) + b"".join(wrapped)


def control(kind: int, version: int, number: int, xid: int = 0) -> bytes:
    """OFPT_BUNDLE_CONTROL: open, close, commit or discard."""
    body = _CONTROL.pack(number, kind, ATOMIC_ORDERED)
    return _message(version, ofp14.OFPT_BUNDLE_CONTROL, ofp.ONF_ET_BUNDLE_CONTROL, body, xid)


def add(packed: bytes, version: int, number: int, xid: int) -> bytes:
    """OFPT_BUNDLE_ADD_MESSAGE; message and envelope share the transaction id, as they must."""
    body = _ADD.pack(number, ATOMIC_ORDERED) + with_xid(packed, xid)
    return _message(version, ofp14.OFPT_BUNDLE_ADD_MESSAGE, ofp.ONF_ET_BUNDLE_ADD_MESSAGE, body, xid)


def reply(data: bytes) -> tuple[int, int] | None:
    """Number and kind (OFPBCT_*) of a bundle that the switch answers; None for any other message."""
    kind = data[1]
    start = HEADER.size
    if data[0] == V13 and kind == ofp.OFPT_EXPERIMENTER and len(data) >= start + 16:
        if _EXPERIMENTER.unpack_from(data, start) != _EXTENSION:
            return None
        start += _EXPERIMENTER.size
    elif data[0] == V13 or kind != ofp14.OFPT_BUNDLE_CONTROL or len(data) < start + _CONTROL.size:
        return None
    number, what, _ = _CONTROL.unpack_from(data, start)
    return number, what


_EXTENSION = (ofproto_common.ONF_EXPERIMENTER_ID, ofp.ONF_ET_BUNDLE_CONTROL)


def _message(version: int, kind: int, extension: int, body: bytes, xid: int) -> bytes:
    if version == V13:
        head = _EXPERIMENTER.pack(ofproto_common.ONF_EXPERIMENTER_ID, extension)
        return message(version, ofp.OFPT_EXPERIMENTER, head + body, xid)
    return message(version, kind, body, xid)
