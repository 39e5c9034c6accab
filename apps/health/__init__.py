"""Rounds of health probes as pictures and pages."""
