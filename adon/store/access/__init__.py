"""The access database: users, tokens, sessions, the audit log, answers kept for repeated requests.

Written by the web process (and by commands on the machine itself); the state database has another writer,
the controller.  :class:`~adon.store.access.database.AccessStore` is the way in.
"""
