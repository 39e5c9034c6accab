"""Transfers over a simulated network, flow by flow: how good decisions are, and how good they could be.

A simulation answers what no testbed can: hours of a busy network in seconds, the same hours for every way
of deciding, with and without foresight.  The story in the order of the modules:

- :mod:`~adon.simulation.steps`, :mod:`~adon.simulation.network`: links and paths whose capacity, delay,
  loss and contention change over time;
- :mod:`~adon.fluid`, :mod:`~adon.simulation.tcp`: what every TCP stream gets of them;
- :mod:`~adon.simulation.workload`, :mod:`~adon.simulation.drawing`: who asks for what, when; a named
  description and a seed give a workload;
- :mod:`~adon.simulation.measuring`: what perfSONAR's tests would tell of it;
- :mod:`~adon.simulation.engine`: from one event to the next, whoever decides;
- :mod:`~adon.simulation.policy`: who decides, as one protocol, and the simple ways;
  :mod:`~adon.simulation.brokered`: the real decision core before simulated switches
  (:mod:`~adon.simulation.switches`);
- :mod:`~adon.simulation.offline`, :mod:`~adon.simulation.bound`: who knows the future: the best schedule
  found, and what no schedule can beat;
- :mod:`~adon.simulation.measures`: what it all came to.

Everything is a function of values and of a seeded source of chance: no clock, no file, no network.  What is
left out of the model, and how far it is from real TCP, is in docs/simulation.md.
"""
