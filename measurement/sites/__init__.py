"""Compute sites: what is free, how long a job would wait (T_q), and jobs to run there.

One small protocol (:class:`~measurement.sites.model.ComputeSite`: ``state``, ``submit``, ``find``,
``follow``, ``cancel``) and an adapter for each kind of site: :mod:`.static` tells configured numbers,
:mod:`.batch` puts a batch system of :mod:`measurement.custom.batch` behind it (Slurm, HTCondor).  Reports,
orders and news are plain values (:mod:`.model`) with a form that travels (:mod:`.codec`).

The controller has no connection to a site: the collector polls it and reports.  [ADON] 4.3 (T_q, Γ_c);
docs/compute-sites.md.
"""
