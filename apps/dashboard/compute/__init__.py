"""Compute sites, jobs and reservations."""
