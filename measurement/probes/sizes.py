"""Bytes of payload of the probes that make up health ([HEALTH] 5.1)."""

ICMP_SIZES = (64, 512, 4096)
UDP_SIZES = (64, 1024)
SMALL = 64
"""Of all others."""
