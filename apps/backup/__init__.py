"""Backup and restore of a data folder (docs/availability-backup-upgrade.md)."""
