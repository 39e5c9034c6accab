"""Documents of the REST API: requests and answers, with their JSON field names.

REST, the client, the command line and the dashboard import them.  Quantities carry their unit in the
field's name (``size_bytes``, ``capacity_bps``, ``age_seconds``), a metric's value has its unit in a field of
its own; times are RFC 3339.  A request is given back with its units written out, so that it can be sent
again.
"""
