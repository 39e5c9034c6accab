"""Advice on TCP settings: what both hosts of a transfer should have, and the expected gain.

[ADON] 4.3 requires hosts that are tuned until TCP comes near its theoretical maximum Γ_t; 5.3 finds that both
ends must be changed, and that more streams help only up to a point.

:mod:`facts` holds what is known about a path and a host, None where it is unknown.  The facts of a host come
from its measurement point or from the output of its own commands (:mod:`host_output`).  :mod:`buffers`,
:mod:`streams`, :mod:`congestion_control` and :mod:`interface_settings` each compute one part of the advice,
:mod:`advice` joins the parts, :mod:`prediction` computes the gain, and :mod:`host_check` compares a host with
its advice.  No function reads a clock or a host.

Facts about Linux are from its documentation (``ip-sysctl``), facts about tuning from ESnet's fasterdata
pages, [23] of the thesis.
"""
