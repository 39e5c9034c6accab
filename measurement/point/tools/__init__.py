"""One module per tool: its argument list, and the pure reading of what it prints."""
