"""Backups of a data folder: made while it serves, and put back complete or not at all (docs/backup.md)."""
