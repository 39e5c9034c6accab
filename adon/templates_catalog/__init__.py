"""Application templates, their scoring tables, and the catalog with its built-in entries."""
