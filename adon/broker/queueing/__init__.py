"""Those who wait: in which order they are tried, what keeps them, and what is promised to them.

The story, module by module (spec section 4; docs/flows-queue-and-reservations.md):

- :mod:`~adon.broker.queueing.turns`: the order: priority, age, deadline; and its bound;
- :mod:`~adon.broker.queueing.line`: the order kept as flows come and go: no event sorts the queue;
- :mod:`~adon.broker.queueing.line_updates`: from a flow to its place in the line;
- :mod:`~adon.broker.queueing.trial`: would this flow be admitted now?  The one function that says so;
- :mod:`~adon.broker.queueing.ground`: what a refusal rests on, so that flows that are alike need not be
  tried each;
- :mod:`~adon.broker.queueing.claims`: flows that waited so long that later flows may not overtake them;
- :mod:`~adon.broker.queueing.queue_round`: the line is tried, some at a time;
- :mod:`~adon.broker.queueing.booking`, :mod:`~adon.broker.queueing.bookings`,
  :mod:`~adon.broker.queueing.calendar`, :mod:`~adon.broker.queueing.window_search`: bandwidth on a path,
  reserved for a time to come;
- :mod:`~adon.broker.queueing.queue_reasons`: what it waits for.
"""
