"""What ADON claims to reach, measured: ``python -m benchmarks``.

Each benchmark runs the real controller process against real Open vSwitch, with a yardstick in the same run:
absolute times are a property of the machine, the ratio to the yardstick less so.
"""
