"""What is known about the network: pScheduler client, measurement point, archive, poller.

This package knows nothing of ADON's decisions and imports nothing from :mod:`adon`, so that a
measurement point can be installed alone.
"""
