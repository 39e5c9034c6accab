"""The main job on the two-campus testbed: figure 18 of the thesis, with real transfers, and its report.

- :mod:`~mininet_topos.demo.scenario`: the story as data: who asks for what when, and what must follow;
- :mod:`~mininet_topos.demo.stage`: testbed, measurement points and ``adon serve``, up and gone again;
- :mod:`~mininet_topos.demo.play`: tells the story to ADON over its REST API, as a researcher would;
- :mod:`~mininet_topos.demo.baseline`: the same transfers on one path always, without ADON;
- :mod:`~mininet_topos.demo.record`: what happened, as plain values;
- :mod:`~mininet_topos.demo.report`: figure, tables and page from a record;
- :mod:`~mininet_topos.demo.main`: puts these together for ``adon demo``.
"""
