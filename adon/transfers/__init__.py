"""Transfers that ADON moves itself, or follows: what may be asked for, and how one goes on.

============  ===================================================================================
``wish``      what a request says about it; pure
``plan``      which tool carries it, from where to where, by the configuration; pure
``pace``      how fast it is, and whether that is slow; pure
``news``      what its owner is to hear of it; ``post`` the letters; pure
``machine``   its life, from what happens to what is to be done next; pure
============  ===================================================================================

The process that does it is :mod:`apps.movers`; docs/transfers.md tells how to use it.
"""
