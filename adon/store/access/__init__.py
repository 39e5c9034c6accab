"""The access database: users, tokens, sessions and the audit log.

The web process writes it, and so do commands on the machine itself; the state database has another writer,
the controller.  :class:`~adon.store.access.access.Access` opens it.
"""
