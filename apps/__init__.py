"""What runs: the controller, the collector, the web side and the command line; all input and output.

Three processes, started by one ``adon serve`` (:mod:`apps.serve`): :mod:`apps.campus_edge` decides and
is the only writer of state, :mod:`apps.collector` measures, :mod:`apps.rest` answers people.  They talk
over :mod:`apps.link`, so that nothing but deciding runs beside the decision thread.
"""
