"""ADON: application-driven path and site selection for data-intensive science.

The packages, in the direction of the data flow:

- :mod:`measurement` -- measurements of the network; it does not depend on ADON;
- :mod:`adon.templates_catalog` -- needs of applications;
- :mod:`adon.flowvisor` -- the network as values: candidate paths, scores, rules, differences;
- :mod:`adon.broker` -- the decision core: events in, effects out;
- :mod:`adon.access` and :mod:`adon.store` -- permissions, and the state that survives a restart;
- :mod:`apps` -- the processes with all input and output.

No other package reads a clock, opens a socket or holds a lock: time is an argument.
"""

__version__ = "0.1.0"
