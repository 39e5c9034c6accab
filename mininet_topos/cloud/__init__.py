"""Networks of many instances, as a cloud's customer sees them: limits and delays that differ by path.

Described first (:mod:`~mininet_topos.cloud.description`; ready-made in :mod:`~mininet_topos.cloud.seeded`
and :mod:`~mininet_topos.cloud.choreo`), put into commands (:mod:`~mininet_topos.cloud.plan`), built and
removed by one context manager (:mod:`~mininet_topos.cloud.build`) inside namespaces of one's own.  See
``docs/testbed.md``.
"""
