"""What packet loss lets a TCP stream have, whatever the path could carry."""

from __future__ import annotations

import math

C = math.sqrt(3 / 2)


def mathis(rtt: float, loss: float, mss: int) -> float:
    """``8·MSS·C / (RTT·√loss)`` with C = √(3/2), in bits/s; infinite without delay or loss.

    Mathis et al., "The macroscopic behavior of the TCP congestion avoidance algorithm", CCR 1997; for
    controls that take loss for congestion, and rare losses.

    :param rtt: seconds; :param loss: the share of packets lost; :param mss: bytes of data in a segment.
    """
    damping = rtt * math.sqrt(loss)
    # The product of two tiny numbers can be 0: then nothing limits the stream, as without loss.
    return 8 * mss / damping * C if damping > 0 else math.inf
