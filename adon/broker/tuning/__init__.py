"""Advice on TCP and transfers: what both hosts should have, and what it gains.

[ADON] 4.3 wants hosts tuned until TCP comes near its theoretical maximum Γ_t; 5.3 finds that both ends must
be changed, and that more streams help only up to a point.  The story, module by module:

- :mod:`facts` is what is known about a path and about a host; what is not known is None.  A host's part comes
  from its measurement point, or from text that its administrator pastes (:mod:`reading`).
- :mod:`window`, :mod:`streams`, :mod:`frames`, :mod:`queues`, :mod:`control` and :mod:`pacing` each give one
  piece of advice: a value, the reason, the formula with the numbers in it, and how sure it is.
- :mod:`advice` joins them into settings for both hosts.
- :mod:`prediction` tells what is gained, :mod:`checking` whether both hosts have what was advised.

Pure: no clock, no host is touched.  Facts about Linux are from its documentation (``ip-sysctl``), facts about
tuning from ESnet's fasterdata pages, [23] of the thesis; each is named where it is used.
"""
