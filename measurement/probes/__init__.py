"""Probes between instances, and what they say about a path ([CHOREO] 3, [HEALTH] 5.1)."""
