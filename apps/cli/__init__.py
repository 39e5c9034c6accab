"""The ``adon`` command."""
