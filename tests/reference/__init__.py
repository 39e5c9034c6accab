"""Comparison algorithms that only tests use."""
