"""What applications need: templates, their scoring tables, the catalog and its built-in entries."""
