"""The state that survives a restart, in SQLite or PostgreSQL."""
