"""Triggers of templates, acted on while their flows run ([ADON] 3.1, 3.3; spec section 10).

Values come in with events: a measurement of a path, an observation of a host, counters of rules
(:mod:`.watching` says which flows each concerns).  :mod:`.evaluation` says whether a trigger fires: its
condition held for long enough, it was over since it fired last, and its hold is.  :mod:`.acting` does what
the trigger says; a *knob* (the priority) that would be turned back is only turned back after a rest
that doubles each time, so that no two triggers can play ping-pong with it.  What has fired is part of the
flow (:mod:`.record`): it is saved with it, and after a restart nothing fires again that has just fired.
:mod:`.monitoring` says what is to be watched at the ends of the flows that run.
"""
