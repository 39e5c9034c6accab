"""The controller process: the decision core with its shell around it.

- :mod:`~apps.campus_edge.switchboard`: the os-ken application; switches become events, batches messages;
- :mod:`~apps.campus_edge.loop`: the one decision thread, and the clock;
- :mod:`~apps.campus_edge.executor`: carries out effects;
- :mod:`~apps.campus_edge.commands`: messages of the other processes become events.
"""
