"""Flow-level simulation of transfers over a network: how good decisions are.

Hours of a busy network take seconds, and every policy decides about the same hours.  Everything is a function
of values and a seed: no clock, no files, no network.  docs/simulator.md states the model, what it leaves
out, and its distance from real TCP.
"""
