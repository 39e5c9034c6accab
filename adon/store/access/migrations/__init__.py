"""The migrations of the access database."""
