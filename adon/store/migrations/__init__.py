"""The migrations of the store, run by :mod:`adon.store.upgrade`."""
