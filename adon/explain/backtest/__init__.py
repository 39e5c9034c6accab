"""What a change of a template would have meant: the past, played again through the same broker.

The story, in the order of the modules:

- :mod:`~adon.explain.backtest.past`: what happened, as values: requests, measurements, alarms; and how much
  of a path each test of then shared with the flows of then.
- :mod:`~adon.explain.backtest.switches`: switches that do as they are told, at once, and count.
- :mod:`~adon.explain.backtest.carriage`: how fast transfers go on a path (the model, stated below).
- :mod:`~adon.explain.backtest.replay`: one run: events in their order into a broker
  (:class:`~adon.broker.broker.Broker`), its effects carried out on the stand-ins;
- :mod:`~adon.explain.backtest.run`: what became of each flow.
- :mod:`~adon.explain.backtest.comparison`: two runs, flow by flow.

**The model.**  A throughput test with n streams that measured T beside the k streams of the flows of then had
B = T·(k+n)/n altogether, at most the path's capacity
(:func:`~adon.flowvisor.selection.performance.compute_total_rate`).
Until the next test, B is what the path carries; before the first it carries its capacity.  The transfers of
the replay that are on the path share B evenly by streams, with a test that runs there too; they begin when
their rules are in and go on until all bytes have moved.  A test is told to the broker as it would have been
beside the flows of the replay: T' = B·n/(k'+n).  All other results are told as they were.

**What is not in it.**  Failures of ports and switches (the network is taken as whole), slices and who may
use what (who was a member then is not known), unannounced flows, limits of end hosts and
disks, flows that were asked for before.
A request that was cancelled is cancelled at the same time, if it still runs then.

Nothing is left to chance and no clock is read: the same past and the same templates give the same runs.
"""
