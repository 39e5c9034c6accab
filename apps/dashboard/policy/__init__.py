"""Templates, decisions, the queue and outcomes."""
