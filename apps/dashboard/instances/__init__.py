"""Health of instances, placements and evaluations."""
