"""A machine of its own for a test network: a User-Mode-Linux kernel with netem, as an ordinary process.

Needs no privileges, touches nothing of the host: its root is the host's file tree, read-only.
"""
