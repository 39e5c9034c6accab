"""Compute sites as the broker knows them: what they said, how far it can be trusted, and the jobs there.

The collector asks the sites and tells (:mod:`measurement.sites`); nothing here speaks to one.

- :mod:`.standing`: the latest report of each site; T_q of a request for the cost model, with its spread.  A
  site that does not answer costs infinity, and says since when.
- :mod:`.honesty`: what a site said against what came of it: one that lies is corrected, never to its favour.
- :mod:`.rates`: Γ_c, what a worker node really processed, per site and template, with the configured prior.
- :mod:`.offers`: which programs may run where.
- :mod:`.jobs`: a job at a site, and its life as a table.
- :mod:`.working`: what is done about a report, a request for a job, and news of one.

Sources: [ADON] 4.3, table 3 (T_q, Γ_c); spec section 3.
"""
