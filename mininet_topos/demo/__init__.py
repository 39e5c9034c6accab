"""The main job on the two-campus testbed: figure 18 of the thesis, with real transfers, and its report.

A scene of our own follows: an alarm moves a flow.

- :mod:`~mininet_topos.demo.scenario`: the story as data: who asks for what when, and what must follow;
- :mod:`~mininet_topos.demo.stage`: testbed, measurement points and ``adon serve``, up and gone again;
- :mod:`~mininet_topos.demo.telling`: what every scene does over ADON's REST API: ask, carry, check;
- :mod:`~mininet_topos.demo.play`: tells figure 18, as a researcher's tools would;
- :mod:`~mininet_topos.demo.alarm`: tells the scene after it;
- :mod:`~mininet_topos.demo.plan`: the plan of the tests against what was executed;
- :mod:`~mininet_topos.demo.record`: what happened, as plain values;
- :mod:`~mininet_topos.demo.charts`: pictures from a record;
- :mod:`~mininet_topos.demo.report`: tables and page from a record;
- :mod:`~mininet_topos.demo.main`: puts these together for ``adon demo``.
"""
