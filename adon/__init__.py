"""ADON: application-driven path and site selection for data-intensive science.

The packages, in the direction the data flows:

- :mod:`measurement` -- what is known about the network (no knowledge of ADON);
- :mod:`adon.templates_catalog` -- what applications need;
- :mod:`adon.flowvisor` -- the network as values: candidate paths, scores, rules, differences;
- :mod:`adon.broker` -- the decision core: events in, effects out;
- :mod:`adon.access` and :mod:`adon.store` -- who may do what, and what survives a restart;
- :mod:`apps` -- the processes that do input and output.

Nothing below ``apps`` reads a clock, opens a socket or holds a lock: time is an argument.
"""

__version__ = "0.1.0"
