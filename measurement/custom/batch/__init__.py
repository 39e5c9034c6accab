"""Batch systems of compute sites: how long a job would wait (T_q), what is free, and jobs to run.

One small protocol (:mod:`measurement.custom.batch.model`), and one adapter for each system, over its own
command line tools.  The computation location of a flow is chosen by T_q among other terms ([ADON] 4.3).
"""
