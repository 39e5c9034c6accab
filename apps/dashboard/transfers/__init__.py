"""What a researcher does: ask for a transfer, watch it, see what came of it."""
