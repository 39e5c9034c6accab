"""Other ways in than asking a measurement point: pushed results, message queues, existing archives.

Whichever the way, a result becomes the same :class:`~measurement.model.Measurement`, with the run's UUID as
its origin, so that the archive recognises what it already has.
"""
