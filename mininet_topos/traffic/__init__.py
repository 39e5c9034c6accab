"""Traffic between hosts of a testbed; the receiver counts."""
