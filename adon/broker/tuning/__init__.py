"""Advice on TCP and transfers: what both hosts should have, what it gains, and whether it held.

[ADON] 4.3 wants hosts tuned until TCP comes near its theoretical maximum Γ_t; 5.3 finds that both ends must
be changed, that more streams help only up to a point, and that what was found belongs into the template.  The
story, module by module:

- :mod:`facts` is what is known about a path and about a host; what is not known is None.  A host's part comes
  from its measurement point, or from text that its administrator pastes (:mod:`reading`).
- :mod:`window`, :mod:`streams`, :mod:`frames`, :mod:`queues`, :mod:`control` and :mod:`pacing` each give one
  piece of advice: a value, the reason, the formula with the numbers in it, and how sure it is.
- :mod:`advice` joins them into settings for both hosts; :mod:`tools` writes them as options of transfer
  tools,
  :mod:`script` as a file for sysctl.d.
- :mod:`prediction` tells what is gained, :mod:`checking` whether both hosts have what was advised.
- :mod:`confirmation` holds transfers before and after against each other (:mod:`ranks`), and :mod:`practice`
  turns what was confirmed into a best practice of the template.

Pure: no clock, no host is touched.  Facts about Linux are from its documentation (``ip-sysctl``), facts about
tuning from ESnet's fasterdata pages, [23] of the thesis; each is named where it is used.
"""
