"""Pages about instances: their health, tasks placed among them, evaluations of their network."""
