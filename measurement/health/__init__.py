"""How well instances reach each other: scores of pairs, what alarms on a change, and whom to take.

From [HEALTH]: Chard, Bubendorfer and Ng, "Network health and e-Science in commercial clouds".
Values and functions only; what probes, and when, is elsewhere.
"""
