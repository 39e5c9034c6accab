"""Metrics of a host that are not of the network: commands, the host itself, workflows, batch queues.

Section 4.2 of [ADON]: any program that prints a number is a metric of the measurement point on its host;
a workflow's state is sampled every five seconds until it is done or failed, or at once on demand; accounts
and passwords never leave the host.  What leaves it are :class:`measurement.model.Observation` values and
one-line causes, in which there are no arguments, no environment, no paths of users, no error output.
"""
