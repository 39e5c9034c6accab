"""The same transfers without ADON: every flow on one path, whatever happens there.

What is compared.  Each transfer of ADON's run begins at the same time after the start, moves the same bytes
over as many streams, and is not queued: a network without admission has no queue.  Static rules pin all
traffic between the two DTNs to the path, as an operator would write them once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from adon.errors import AdonError, Unavailable
from mininet_topos.demo.record import Check, Record, Transfer
from mininet_topos.demo.scenario import DESTINATION, L2, L3, SOURCE, seeded
from mininet_topos.demo.telling import Carry
from mininet_topos.openvswitch import OpenVSwitch
from mininet_topos.platforms.bed import Bed
from mininet_topos.static_rules import Traffic, pin

PATHS = (L2, L3)
LONGEST_S = 1800.0


def run(bed: Bed, path: str, record: Record, carry: Carry, tell: Callable[[str], None]) -> list[Transfer]:
    """Carry the transfers of a record again, all on one path; what the receivers counted.

    What a transfer lacks becomes a failed check of the record.

    :raises Unavailable: if one does not end.
    """
    requests = seeded(record.seed)
    pin(OpenVSwitch(bed.folder / "ovs").ofctl, bed.network, path, Traffic(SOURCE, DESTINATION))
    planned = sorted(record.transfers, key=lambda transfer: transfer.began)
    if not planned:
        return []
    start = time.time() - planned[0].began
    done: list[Transfer] = []

    def one(like: Transfer) -> None:
        time.sleep(max(0.0, start + like.began - time.time()))
        began = time.time()
        moved = carry(like.size, like.streams, requests[like.flow].port)
        ended = time.time()
        whole = moved.received == like.size
        text = f"always {path}: {like.flow}: all {like.size} bytes counted at the receiver"
        record.checks.append(Check(text, whole, f"{moved.received} bytes"))
        tell(f"  {like.flow}: {ended - began:.1f} s")
        times = (began - start, ended - start)
        sizes = (like.size, like.streams, moved.received)
        done.append(Transfer(like.flow, "", path, *sizes, *times, moved.series))

    def guarded(like: Transfer) -> None:
        try:
            one(like)
        except Exception as error:  # noqa: BLE001 - a thread's outermost guard: it becomes a failed check
            found = str(error) if isinstance(error, AdonError) else repr(error)
            record.checks.append(Check(f"always {path}: {like.flow} is carried", False, found))

    threads = [
        threading.Thread(target=guarded, args=(like,), name=like.flow, daemon=True) for like in planned
    ]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + LONGEST_S
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
        if thread.is_alive():
            raise Unavailable(f"always {path}: {thread.name} is not carried within {LONGEST_S:g} s")
    return sorted(done, key=lambda transfer: transfer.began)
